/* A probe of the machine's state: how far its processors are apart, and how fast. */
#ifndef GTMARK_BENCH_PROBE_H
#define GTMARK_BENCH_PROBE_H

#include "analysis/statistics/states.h"
#include "kernels/peak.h"

/*
 * Probes the machine with the threads that measure, for at most about a millisecond. Call it while no other
 * thread of this program is running. peak: null measures no arithmetic. Ping and sharing are NAN for one
 * thread, and for more threads than processors, which cannot all wait at once; sharing also without
 * memory. Where the ping is given up, either is PROBE_LIMIT.
 */
struct probe probe_take(const struct peak *peak, int threads);

#endif
