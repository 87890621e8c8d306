/*
 * How much disturbance of a measurement deserves a warning: from about here on the median of ten samples may
 * move by a percent. And from where on a range is called wide, and the time disturbed.
 */
#ifndef GTMARK_ANALYSIS_DISTURBANCE_H
#define GTMARK_ANALYSIS_DISTURBANCE_H

#define DISTURBANCE_LOST     0.01 /* share of the time in which threads that only read the clock did not run */
#define DISTURBANCE_GAP      1e-3 /* seconds: the largest gap */
#define DISTURBANCE_FAULTS   100  /* page faults per run */
#define DISTURBANCE_SWITCHES 50   /* preemptions per second, if there were more than ... */
#define DISTURBANCE_FEWEST   10   /* ... */

#define RANGE_WIDE 0.1 /* from end to end, over the median */
#define DISTURBANCE_HEAVY                                                                                    \
    0.05 /* share of the time lost to other programs: no statistic tells the quiet time */

#endif
