/* The flag --find: the largest size within a limit, or where one variant overtakes another. */
#ifndef GTMARK_BENCH_FIND_H
#define GTMARK_BENCH_FIND_H

#include "bench/cli/options.h"
#include "bench/cli/syntax.h"

/* The number of variants of a crossover: from two to CROSSOVER_VARIANTS_MAX. */
enum { CROSSOVER_VARIANTS_MAX = 6 };
int crossover_variants(const struct options *o);

/* Reads "nodes=memory:4GiB" or "batch=latency:100ms" into o->largest, or "attention=dense,sparse",
 * "op=attention,sparse_attention" or "encoding=step" into o->crossover. False with a message. */
bool find_read(const struct argument *a, struct message *error);

/* The axis that --find gives values to; AXES: none. */
enum axis find_axis(const struct options *o);

/* Begins at the smallest size, or makes the variants values of their axis, or the chosen ops. False with a
 * message. */
bool find_choose(struct options *o, struct message *error);

/* After kernels_choose: chooses the axis of the search for a crossover, AXES if there is not exactly one; of
 * each op keeps its default kernel, or that of --impl. */
void find_over(struct options *o);

#endif
