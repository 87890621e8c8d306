/* The flags of the benchmarks, axes among them. */
#ifndef GTMARK_BENCH_FLAGS_H
#define GTMARK_BENCH_FLAGS_H

#include "bench/cli/options.h"
#include "bench/cli/syntax.h"

/* In the order of --help. */
enum flag_group { AXES_LISTED, WHERE, WHAT, SAMPLES, OUTPUT, LIMITS, GATES, ABOUT, FLAG_GROUPS };

/* Every flag, of which the fields are those of struct options; the name is null past the last. */
void flags_all(const struct bench *b, struct flag all[FLAGS_MAX]);

#endif
