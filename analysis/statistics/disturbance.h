/*
 * How much disturbance of a measurement deserves a warning: from about here on the median of ten samples may
 * move by a percent. And how much makes its time noisy, no basis for a verdict, a fit or a finding.
 */
#ifndef GTMARK_ANALYSIS_DISTURBANCE_H
#define GTMARK_ANALYSIS_DISTURBANCE_H

#define DISTURBANCE_LOST     0.01 /* share of the time in which threads that only read the clock did not run */
#define DISTURBANCE_GAP      1e-3 /* seconds: the largest gap */
#define DISTURBANCE_FAULTS   100  /* page faults per run */
#define DISTURBANCE_SWITCHES 50   /* preemptions per second, if there were more than ... */
#define DISTURBANCE_FEWEST   10   /* ... */

#define NOISY_LOST  0.02 /* share of the turns' time */
#define NOISY_WIDTH 0.1  /* of the median's interval, end to end, over the median */

#endif
