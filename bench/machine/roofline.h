/*
 * The position of a measurement in the roofline model (Williams, Waterman and Patterson, "Roofline: an
 * insightful visual performance model for multicore architectures", CACM 52(4), 2009): at an intensity of I
 * FLOP/B nothing runs faster than min(peak, I x bandwidth).
 */
#ifndef GTMARK_BENCH_ROOFLINE_H
#define GTMARK_BENCH_ROOFLINE_H

#include "bench/machine/calibration.h"
#include "models/tape/tape.h"

enum bound { BOUND_COMPUTE, BOUND_MEMORY };

/* "compute", "memory". */
const char *bound_name(enum bound bound);

struct roofline {
    enum memory_level level; /* that limits the traffic: levels_seconds */
    enum bound bound;        /* which of the two peak rates is the lower one */
    double attainable;       /* GFLOP/s; 0 without FLOPs */
    double percent;          /* of what is attainable; of the bandwidth if there are no FLOPs */
};

/* For this cost, within 63 bits, in `seconds` > 0, with a working set of so many bytes. */
struct roofline roofline_place(const struct calibration *c, const struct cost *cost, double seconds,
                               int64_t working_set);

/*
 * Seconds that good kernels take for an op of this cost, within 63 bits: its FLOPs at BOUND_ARITHMETIC of the
 * peak or its bytes at BOUND_BANDWIDTH of the bandwidth in a working set of that size, whichever is longer,
 * and each exp, tanh and erf as many FLOPs at the peak as the shortest exponential of kernels/cpu takes
 * slots: eight multiply-adds (vm_exp2_normal).
 */
#define BOUND_ARITHMETIC 0.9
#define BOUND_BANDWIDTH  0.8
#define BOUND_EXP        16
double roofline_bound(const struct calibration *c, const struct cost *cost);

/* Whether the rate is above what is attainable; `text` then says so and why, otherwise it is empty. */
bool roofline_fault(const struct roofline *r, const struct calibration *c, struct message *text);

#endif
