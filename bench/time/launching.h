/*
 * Launch overhead: the host launches a program entry by entry, or as one graph, and normally finishes long
 * before the device; if it does not, the device waits for the host.
 */
#ifndef GTMARK_BENCH_LAUNCHING_H
#define GTMARK_BENCH_LAUNCHING_H

#include "analysis/record/row_struct.h"
#include "models/tape/tape.h"

/* Sets to->launch by replays of a tape on a device, which has run before. */
void launching_measure(struct tape *t, struct row_program *to);

#endif
