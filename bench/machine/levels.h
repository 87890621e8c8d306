/* Levels of the memory hierarchy, found in the bandwidths of working sets of increasing size. */
#ifndef GTMARK_BENCH_LEVELS_H
#define GTMARK_BENCH_LEVELS_H

#include <stdint.h>

/* From the processor outwards. */
enum memory_level { MEMORY_L2, MEMORY_LLC, MEMORY_DRAM, MEMORY_LEVELS };

/* "L2", "LLC" (the last-level cache), "DRAM". */
const char *memory_level_name(enum memory_level level);

/* Bytes are those that the loop accesses: reading a cache line because it will be written is not counted. */
struct bandwidth {
    int64_t capacity;                  /* of a level: bytes that it and those within it hold for all threads;
                                          0: no such level, and no rates */
    int64_t working_set;               /* bytes that the measurement went over */
    double read, write, update, triad; /* GB/s of all threads */
};

enum { SWEEP_MOST = 24 };

/* The highest of the rates: reading and writing together. */
double bandwidth_highest(const struct bandwidth *b);

void bandwidth_raise(struct bandwidth *b, const struct bandwidth *other);

/*
 * The levels in sweep[n], 0 < n <= SWEEP_MOST, whose working sets increase. l2: the size of the second level
 * according to the system, 0 if unknown: it only names a single level of cache. memory: the capacity of DRAM.
 */
void levels_find(struct bandwidth level[MEMORY_LEVELS], const struct bandwidth *sweep, int n, int64_t l2,
                 int64_t memory);

/* Bytes that a program moves, over a working set of distinct ones. updated: the written that are also read.
 */
struct traffic {
    double read, written, updated, working_set;
};

/* Seconds for the traffic at the rates of sweep[n], n > 0, between two working sets in proportion. */
double sweep_seconds(const struct bandwidth *sweep, int n, const struct traffic *t);

/*
 * The least seconds for the traffic, and the level that limits it. The levels within a level serve at most
 * the share of the bytes that they hold of the working set; the rest comes from this level or beyond.
 */
double levels_seconds(const struct bandwidth level[MEMORY_LEVELS], const struct traffic *t,
                      enum memory_level *limit);

#endif
