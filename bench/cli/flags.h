/* The flags of the benchmarks, axes included. */
#ifndef GTMARK_BENCH_FLAGS_H
#define GTMARK_BENCH_FLAGS_H

#include "bench/cli/options.h"
#include "bench/cli/syntax.h"

/* In the order of --help. */
enum flag_group { MAIN, AXES_LISTED, WHERE, WHAT, SAMPLES, OUTPUT, LIMITS, GATES, ABOUT, FLAG_GROUPS };

/* The values of --count, in the order of enum count_mode; null past the last. */
extern const char *const count_modes[];

/* All flags, for fields of struct options; terminated by a null name. */
void flags_all(const struct bench *b, struct flag all[FLAGS_MAX]);

/* --- the flag --find: the largest size within a limit, or where one variant overtakes another */

/* The number of variants of a crossover: from two to CROSSOVER_VARIANTS_MAX. */
enum { CROSSOVER_VARIANTS_MAX = 6 };
int crossover_variants(const struct options *o);

/* Reads "nodes=memory:4GiB" or "batch=latency:100ms" into o->largest, or "attention=dense,sparse",
 * "op=attention,sparse_attention" or "encoding=step" into o->crossover. False with a message. */
bool find_read(const struct argument *a, struct message *error);

/* The axis that --find gives values to; AXES: none. */
enum axis find_axis(const struct options *o);

/* Begins at the smallest size, or makes the variants values of an axis, or ops. False with a message. */
bool find_choose(struct options *o, struct message *error);

/* After kernels_choose: chooses the axis of the search for a crossover, AXES if there is not exactly one; of
 * each op keeps its default kernel, or that of --impl. */
void find_over(struct options *o);

/* --- the kernels timed by a benchmark of ops: one row per op and variant on the device's backend */

/* Reads a comma list of ops, each with its options: attention+mask (--op). */
bool kernels_read(const struct argument *a, struct message *error);

/*
 * Fills o->kernels for a benchmark of ops: the forms of --op, or all with at most one option, in the order of
 * ops.def; for each the variants of the backend and of those below it, or the one of --impl. Notes omitted
 * ops on stderr. False with a message if the flags do not fit the benchmark. The caller frees o->kernels.
 */
bool kernels_choose(struct options *o, struct message *error);

#endif
