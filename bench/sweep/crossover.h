/*
 * --find AXIS=A,B: the axis value at which one variant overtakes another, for each two of them. By FLOPs, by
 * planned memory and by the ceilings it is computed; by time it is found by quick runs, and rows on both
 * sides of it are then measured as any others, to be judged by analysis/compare/crossing.h.
 */
#ifndef GTMARK_BENCH_CROSSOVER_H
#define GTMARK_BENCH_CROSSOVER_H

#include "bench/cli/options.h"

/* Prints on `out` where each two variants cross by what is known without running them. */
void crossover_predict(const struct options *o, FILE *out);

/*
 * The same on stderr; then searches, and makes the values of the rows those of the axis: for each program
 * and each two variants some on either side of the crossing, or, if none has one, the ends. With --device
 * meta the axis stays as it is. False after a signal.
 */
bool crossover_find(struct options *o);

#endif
