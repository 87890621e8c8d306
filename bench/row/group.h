/*
 * The ranks that follow rank 0: each makes its own part of the batch, records and lays out the same programs,
 * and follows rank 0's tapes (models/tape/follow.c).
 */
#ifndef GTMARK_BENCH_GROUP_H
#define GTMARK_BENCH_GROUP_H

#include "bench/row/workload.h"

/*
 * On all ranks, once each has read its command line: whether all could, and have the same one, the same
 * build and kernels of the same instruction set. If not, one of them has the message why; it is empty on the
 * others.
 */
bool group_agrees(const struct ranks *world, const char *program, int argc, char **argv, bool parsed,
                  struct message *error);

/* On all ranks, with the same options, before anything else: forms the groups of the sweep. */
void group_form(const struct options *o);

/* On rank 0: measures between the ranks of each group what exchanges take, for predictions. */
void group_calibrate(struct options *o);

/* On the other ranks: until rank 0 says that it is the end. */
void group_serve(const struct options *o);

#endif
