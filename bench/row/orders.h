/*
 * What ranks tell one another about programs. Rank 0 measures as if it were alone; the others wait for its
 * orders (group.h).
 */
#ifndef GTMARK_BENCH_ORDERS_H
#define GTMARK_BENCH_ORDERS_H

#include "bench/cli/options.h"
#include "graphs/partition.h"

/* A rank's part of a program. */
struct rank_facts {
    bool good;             /* so far */
    bool oom;              /* it is not, for want of memory */
    struct message reason; /* if it is not */
    int64_t nodes, edges, arena;
    int64_t ghosts, cut; /* of nodes that are divided (graphs/halo.h) */
    struct cost cost[PHASES];
    int64_t convention[CONVENTIONS]; /* FLOPs as other counters count them */
};

struct group_order {
    enum { GROUP_PARTITION, GROUP_PROGRAM, GROUP_CLOSE, GROUP_LINK, GROUP_END } kind;
    int64_t index; /* of the configuration; for GROUP_LINK the number of ranks */
    enum program_kind program;
};

/* On rank 0: tells all other ranks. Does nothing where there are none. */
void orders_tell(const struct options *o, struct group_order order);

/* On all ranks: whether all are good; the same answer on all. facts: on rank 0, receives those of all. */
bool orders_all_good(const struct ranks *r, struct rank_facts *facts, const struct rank_facts *own);

/* On all ranks: all get the partition of rank 0. False, on all, if one has no memory for it. */
bool orders_share(const struct ranks *r, struct rank_facts *facts, struct partition *p);

#endif
