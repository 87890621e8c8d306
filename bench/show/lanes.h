/*
 * When each OpenMP thread was at work: the times at which it entered and left a parallel region.
 *
 * Kept by standing before GCC's GOMP_parallel, which every `#pragma omp parallel` calls: a region outside the
 * kernels, so that nothing in them is instrumented. While nothing is kept it costs a call and a test per
 * region, some nanoseconds of its microsecond. What a thread waits for inside a region (barriers, loops that
 * share out their chunks) counts as work; the wait for the others at its end does not.
 */
#ifndef GTMARK_BENCH_LANES_H
#define GTMARK_BENCH_LANES_H

#include <stdbool.h>

struct lane_span {
    double begin, end; /* of clock_now */
};

/* A thread's: padded, since each counts its own. */
struct lane {
    _Alignas(64) int count;
    int lost; /* regions beyond the capacity */
    struct lane_span *spans;
};

struct lanes {
    int threads, capacity;
    struct lane *lane; /* threads */
};

/* Whether this program's OpenMP runtime is one that can be watched: GCC's, not LLVM's. */
bool lanes_available(void);

/* For so many threads, with room for so many regions each; free with lanes_close. */
struct lanes lanes_open(int threads, int capacity);
void lanes_close(struct lanes *l);

/* Between the two calls regions are kept, by one `lanes` at a time. */
void lanes_start(struct lanes *l);
void lanes_stop(void);

#endif
