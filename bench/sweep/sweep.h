/* A sweep: every configuration of the command line, on each of its devices, within one time budget. */
#ifndef GTMARK_BENCH_SWEEP_H
#define GTMARK_BENCH_SWEEP_H

#include "bench/machine/ceilings.h"
#include "bench/sweep/report.h"

/*
 * Measures all rows and reports each as it is finished, device after device; the options' device is the one
 * in use. all_good: whether every row was ok. Ends early after a signal (bench/base/interrupt.h). False with
 * a message if a row could not be reported, or a device not be opened.
 */
bool sweep(struct options *o, struct ceilings *ceilings, struct report *r, bool *all_good,
           struct message *error);

#endif
