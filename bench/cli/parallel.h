/* How several ranks share the work: the graphs of a batch, or the nodes (models/layers/layers.h). */
#ifndef GTMARK_BENCH_PARALLEL_H
#define GTMARK_BENCH_PARALLEL_H

enum parallel { PARALLEL_DATA, PARALLEL_HALO, PARALLEL_ULYSSES, PARALLEL_RING, PARALLELS };

/* "data"; null if there is no such way. */
const char *parallel_name(int way);

#endif
