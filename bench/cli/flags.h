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

#endif
