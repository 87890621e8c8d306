/*
 * Where a measurement stands under the roofline (Williams, Waterman and Patterson, "Roofline: an insightful
 * visual performance model for multicore architectures", CACM 52(4), 2009): at an intensity of I FLOP/B
 * nothing runs faster than min(peak, I x bandwidth).
 */
#ifndef GTMARK_BENCH_ROOFLINE_H
#define GTMARK_BENCH_ROOFLINE_H

#include "bench/machine/calibration.h"

enum bound { BOUND_COMPUTE, BOUND_MEMORY };

/* "compute", "memory". */
const char *bound_name(enum bound bound);

struct roofline {
    enum memory_level level; /* the innermost that holds the working set */
    enum bound bound;        /* which of the two ceilings is the lower one */
    double attainable;       /* GFLOP/s; 0 without FLOPs */
    double percent;          /* of what is attainable; of the bandwidth where there are no FLOPs */
};

/*
 * Places `flops` FLOPs that moved `bytes` bytes in `seconds` > 0 with a working set of so many bytes. The
 * level's bandwidth is the highest of its three: no mix of reading and writing may lie above the ceiling.
 */
struct roofline roofline_place(const struct calibration *c, int64_t flops, int64_t bytes, double seconds,
                               int64_t working_set);

/* Whether more was reached than is attainable: then `text` says so, and what to do; else it is empty. */
bool roofline_fault(const struct roofline *r, const struct calibration *c, struct message *text);

#endif
