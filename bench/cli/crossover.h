/* The flag --find-crossover. */
#ifndef GTMARK_BENCH_CROSSOVER_FLAG_H
#define GTMARK_BENCH_CROSSOVER_FLAG_H

#include "bench/cli/options.h"
#include "bench/cli/syntax.h"

/* The number of variants; after crossover_check, from two to CROSSOVER_VARIANTS_MAX. */
enum { CROSSOVER_VARIANTS_MAX = 6 };
int crossover_variants(const struct options *o);

/* Reads "attention=dense,sparse", "op=attention,sparse_attention" or "encoding=step". */
bool crossover_read(const struct argument *a, struct message *error);

/* Makes the variants values of their axis, or the chosen ops, before kernels_choose. False with a message. */
bool crossover_choose(struct options *o, struct message *error);

/* After kernels_choose: chooses the axis of the search; of each op keeps its default kernel, or that of
 * --impl. False with a message if there is not exactly one such axis, or if other flags do not fit. */
bool crossover_check(struct options *o, struct message *error);

#endif
