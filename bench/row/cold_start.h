/* The way from nothing to the first answer: what a service pays for a graph that it has not seen. */
#ifndef GTMARK_BENCH_FIRST_ANSWER_H
#define GTMARK_BENCH_FIRST_ANSWER_H

#include <jansson.h>

#include "bench/cli/config.h"

/*
 * Runs the way a few times, alone, and writes its medians into the row's group "first_answer": the graph is
 * drawn or read and its structure built; its encoding, if there is one, is computed; `forward` is recorded
 * and planned; memory is taken, parameters and inputs are made and uploaded; it runs once. Null where it does
 * not fit. Where the way is long it is gone fewer times, at least once.
 */
void cold_start_measure(json_t *row, const struct options *o, const struct config *c);

/* Prints what the row says of it, as lines of a table. */
void cold_start_print(const json_t *row, FILE *out);

#endif
