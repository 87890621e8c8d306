/*
 * Looking at a GPU between samples: what its clocks are, why they are low, and which samples that spoils.
 *
 * Samples wait for the next look, with which they stand or fall.
 */
#ifndef GTMARK_BENCH_WATCH_H
#define GTMARK_BENCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/machine/nvml.h"

/* What was seen while a program was sampled. */
struct seen {
    int64_t discarded;  /* samples, which are taken again */
    int64_t throttled;  /* samples kept though the GPU throttled, after too many were discarded */
    bool told;          /* reasons, at every look */
    uint64_t reasons;   /* all of all looks */
    double temperature; /* degrees Celsius, the highest; NAN: not told */
};

struct watch {
    const struct nvml *nvml; /* null: there is nothing to look at */
    double interval;         /* seconds between looks, at least */
    double looked;           /* when, by the clock */
    int standing;            /* samples that stand */
    int discards;            /* looks that discarded samples */
    struct seen seen;
};

struct watch watch_start(const struct nvml *nvml, double interval);

/*
 * After a sample, the n-th: looks, if an interval has passed or this is the last one, and returns how many
 * samples there are now. clock, n entries: of a sample that stands, the multiprocessors' clock then (Hz; NAN:
 * not told). After discarding it sleeps for a tenth of a second, in which the GPU can recover.
 */
int watch_sample(struct watch *w, int n, bool last, bool time_left, double *clock);

/* Both, one after the other. */
struct seen seen_join(const struct seen *a, const struct seen *b);

#endif
