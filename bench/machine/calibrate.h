/* The measurement of the machine's ceilings. */
#ifndef GTMARK_BENCH_CALIBRATE_H
#define GTMARK_BENCH_CALIBRATE_H

#include "bench/machine/calibration.h"

/* Seconds that a calibration is given, besides allocating its memory. */
#define CALIBRATION_SECONDS 2.0

/*
 * Measures the peak of arithmetic and, at a working set well inside each level of the memory hierarchy, the
 * bandwidths. Each figure is the best of several repetitions (at least five, within its share of `seconds`),
 * each by the wall time from the first thread's start to the last one's end. False with a message if there is
 * no memory.
 */
bool calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
               struct message *error);

#endif
