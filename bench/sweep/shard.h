/*
 * --shard I/N: a part of the rows of a sweep, the same on every machine. It depends on the rows and their
 * analytic FLOPs alone: not on the device, what is free of the memory, or ceilings.
 */
#ifndef GTMARK_BENCH_SHARD_H
#define GTMARK_BENCH_SHARD_H

#include "analysis/record/value.h"
#include "bench/cli/options.h"

/*
 * Divides rows with these costs into `of` parts: the costliest row that is left goes to the part that has the
 * least, of equal parts to the one with the fewest rows, of these to the first; of equal rows the first goes
 * first. Costs that are not known (NAN) count as the mean of those that are. part[i]: of row i, from 0. False
 * without memory.
 */
bool shard_divide(const double *cost, int64_t count, int of, int *part);

/* The cost of every row of the sweep: FLOPs of a run of each of its programs, and likely ones of its
 * encoding; NAN if the graph cannot be planned. To be freed; null without memory. */
double *shard_costs(const struct options *o);

/* With --shard: keeps the rows of the part in the plan. False with a message if there are fewer rows than
 * parts. */
bool shard_choose(struct options *o, struct message *error);

/* The shard in the head of a result file. */
struct value *shard_value(const struct options *o);

#endif
