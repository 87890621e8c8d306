/* The verdict of a gate on a comparison of this run (B) with a baseline or another build (A). */
#ifndef GTMARK_BENCH_GATE_PAIRS_H
#define GTMARK_BENCH_GATE_PAIRS_H

#include <stdio.h>

#include "analysis/compare/comparison.h"
#include "bench/cli/options.h"

/*
 * Prints the comparison and what misses the gate: programs that are slower; rows and programs that could not
 * be judged, unless they are allowed; if strict, also programs that may be slower by more than the margin,
 * but the noise does not tell. Returns the number of misses; at least 1 if nothing was judged.
 */
int gate_pairs(FILE *out, const struct comparison *c, struct lenience how);

#endif
