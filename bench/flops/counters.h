/*
 * The processor's own counters of floating-point operations, by Linux' perf events: FP_ARITH_INST_RETIRED of
 * Intel's processors, the retired SSE and AVX FLOPs of AMD's Zen. Virtual machines seldom have them.
 */
#ifndef GTMARK_BENCH_COUNTERS_H
#define GTMARK_BENCH_COUNTERS_H

#include "bench/base/message.h"

enum { COUNTERS_MAX = 5 };

struct counters {
    int count;
    int file[COUNTERS_MAX];
    int flops[COUNTERS_MAX]; /* that one event stands for */
};

/*
 * Opens the counters for the calling thread and all threads that it will start: call it before OpenMP's
 * threads exist. False with a message where this machine has none.
 */
bool counters_open(struct counters *c, struct message *error);
void counters_close(struct counters *c);

/*
 * The FLOPs that run(context) does in all those threads, counted only after loops of known FLOPs, run by as
 * many OpenMP threads as given, have read within 1 %. False with a message.
 */
bool counters_measure(const struct counters *c, int threads, void (*run)(void *context), void *context,
                      int64_t *flops, struct message *error);

#endif
