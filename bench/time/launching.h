/*
 * Launch overhead: the host launches a program entry by entry, or as one graph, and normally finishes long
 * before the device; if it does not, the device waits for the host.
 */
#ifndef GTMARK_BENCH_LAUNCHING_H
#define GTMARK_BENCH_LAUNCHING_H

#include "models/tape/tape.h"

struct launching {
    int n, entries; /* replays timed; entries of the program */
    double median;  /* seconds of the host for a replay */
};

/* For a tape on a device, which has run before. */
struct launching launching_measure(struct tape *t);

#endif
