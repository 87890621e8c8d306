/* The check of a row's encoding, after it was timed. */
#ifndef GTMARK_BENCH_ENCODE_CHECK_H
#define GTMARK_BENCH_ENCODE_CHECK_H

#include "bench/row/encode.h"

/*
 * Whether LapPE's check is known to find skipped pairs in graphs of this name: in tests/test_lappe_check.c it
 * finds 20 of 20 in each family with its default parameters, and in each shape.
 */
bool encode_check_is_proven(const char *family);

/* Fills e->check and e->checked, once; later calls do nothing. */
void encode_check(struct encoded *e, const struct config *c, const struct batch *b, const struct options *o,
                  struct cancel cancel);

#endif
