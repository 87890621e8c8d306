/*
 * Energy of a program on a GPU, in a pass of its own after the samples: the program runs back to back while
 * the GPU's energy counter ticks. Between samples the GPU waits, and all of them can be over within a tick.
 */
#ifndef GTMARK_BENCH_ENERGY_H
#define GTMARK_BENCH_ENERGY_H

#include "bench/machine/nvml.h"
#include "models/tape/tape.h"

/* How long the pass takes, at least. */
#define ENERGY_SECONDS 3.0

struct energy {
    const char *missing;      /* why there are no joules; null: there are */
    double joules;            /* of the GPU, for one run */
    double watts;             /* mean */
    double seconds;           /* over which both were measured */
    const char *busy_missing; /* likewise */
    double busy, memory_busy; /* shares of the time, as nvml_busy tells them at the end */
};

/* Runs a tape that is laid out and initialised, on whose GPU nothing else runs, for so many seconds or once
 * or twice. */
struct energy energy_measure(struct tape *t, const struct nvml *n, double seconds);

/* How the counter was read: `looks` after its first tick, at `ticks` of which it had changed. */
struct ticks {
    int looks, ticks;
    double seconds; /* from the first tick to the last */
};

/*
 * Why these say nothing about energy; null: they do. The first tick and the last are each missed by up to a
 * look, so there must be 20; or the counter must have changed at every look, which is then coarser than it.
 */
const char *energy_doubt(const struct ticks *t);

#endif
