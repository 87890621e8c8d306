/* The arguments of --peaks: a file with calibrations, or rates; or those of the link between ranks. */
#ifndef GTMARK_BENCH_PEAKS_PARSE_H
#define GTMARK_BENCH_PEAKS_PARSE_H

#include "bench/base/message.h"
#include "bench/machine/ceilings.h"
#include "bench/machine/link.h"

/*
 * Reads the calibrations of a result file, or "peak=60GFLOP/s,dram=20GB/s". False with a message. What it has
 * read before is freed; to be freed by given_ceilings_free.
 */
bool peaks_parse(const char *text, struct given_ceilings *g, struct message *error);

/* Reads what follows link=: "400Gb/s,2us", or the links of a result file, in the place of those read before.
 * False with a message. */
bool link_parse(const char *text, struct links *all, struct message *error);

/* Keeps only the last with the most threads. */
void given_ceilings_keep_largest(struct given_ceilings *g);

bool given_ceilings_have(const struct given_ceilings *g, int threads);

void given_ceilings_free(struct given_ceilings *g);

#endif
