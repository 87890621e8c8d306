/* A sweep: every configuration that the options ask for, within one budget of time. */
#ifndef GTMARK_BENCH_SWEEP_H
#define GTMARK_BENCH_SWEEP_H

#include "bench/ceilings.h"
#include "bench/report.h"

/*
 * Measures all rows and reports each as it is finished. all_good: whether every row was ok. False with a
 * message if a row could not be reported.
 */
bool sweep(const struct options *o, const struct ceilings *ceilings, struct report *r, bool *all_good,
           struct message *error);

#endif
