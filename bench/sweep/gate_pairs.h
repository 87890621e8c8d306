/* The verdict of a gate on a comparison of this run (B) with a baseline or another build (A). */
#ifndef GTMARK_BENCH_GATE_PAIRS_H
#define GTMARK_BENCH_GATE_PAIRS_H

#include <stdio.h>

#include "analysis/compare/exact.h"
#include "bench/cli/gates_parse.h"

/*
 * Prints the comparison and what misses the gate: programs that are slower; rows and programs that were
 * not compared, unless that is allowed; if strict, also programs of which it is inconclusive whether they are
 * slower by more than the margin. Returns the number of misses; at least 1 if nothing was judged.
 */
int gate_pairs(FILE *out, const struct comparison *c, struct lenience how);

/*
 * The same of what is planned: prints what misses the gate, figures that are more than in the baseline, rows
 * that are no longer ok and what was not compared, and notes what is less.
 */
int gate_exact(FILE *out, const struct exact *found, struct lenience how);

#endif
