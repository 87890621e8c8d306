/*
 * What launching costs: on a device the host hands over a program entry by entry, or as one graph, and is
 * done long before the device is; where it is not, the device waits for the host.
 */
#ifndef GTMARK_BENCH_LAUNCHING_H
#define GTMARK_BENCH_LAUNCHING_H

#include "models/tape/tape.h"

struct launching {
    int n, entries; /* replays timed; entries of the program */
    double median;  /* seconds of the host's time for a replay */
};

/* Of a tape on a device that has run before. */
struct launching launching_measure(struct tape *t);

#endif
