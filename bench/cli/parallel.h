/* How several ranks share the work: the graphs of a batch, or the nodes (models/layers/layers.h). */
#ifndef GTMARK_BENCH_PARALLEL_H
#define GTMARK_BENCH_PARALLEL_H

enum parallel { PARALLEL_DATA, PARALLEL_HALO, PARALLEL_ULYSSES, PARALLEL_RING, PARALLELS };

/* Which nodes a rank has if ranks divide them: consecutive ones, or as METIS divides the graph. */
enum node_partition { PARTITION_RANGE, PARTITION_METIS, NODE_PARTITIONS };

/* "data"; null if there is no such way. */
const char *parallel_name(int way);

/* "range"; null if there is no such partition. */
const char *partition_name(int partition);

#endif
