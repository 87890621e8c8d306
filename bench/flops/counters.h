/* The processor's counters of floating-point operations, through Linux perf events: FP_ARITH_INST_RETIRED of
 * Intel, the retired SSE and AVX FLOPs of AMD Zen. Virtual machines seldom have them. */
#ifndef GTMARK_BENCH_COUNTERS_H
#define GTMARK_BENCH_COUNTERS_H

#include "bench/base/message.h"

enum { COUNTERS_MAX = 5 };

struct counters {
    int count;
    int file[COUNTERS_MAX];
    int flops[COUNTERS_MAX]; /* per event */
};

/* Opens the counters for the calling thread and all threads that it starts later: call it before the OpenMP
 * threads exist. False with a message if the machine has no counters. */
bool counters_open(struct counters *c, struct message *error);
void counters_close(struct counters *c);

/* The FLOPs that run(context) executes in all those threads. First loops with a known number of FLOPs, run by
 * `threads` OpenMP threads, must be counted within 1 %. False with a message. */
bool counters_measure(const struct counters *c, int threads, void (*run)(void *context), void *context,
                      int64_t *flops, struct message *error);

#endif
