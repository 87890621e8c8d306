/* Watching a GPU between samples: its clocks, why they are low, and which samples that spoils. The samples
 * since the last look are accepted or discarded together. */
#ifndef GTMARK_BENCH_WATCH_H
#define GTMARK_BENCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/machine/nvml.h"

/* What was observed while a program was sampled. */
struct seen {
    int64_t discarded;  /* samples that were taken again */
    int64_t throttled;  /* samples kept although the GPU throttled, after too many were discarded */
    bool told;          /* the reasons were known at every look */
    uint64_t reasons;   /* of all looks together */
    double temperature; /* highest, in degrees Celsius; NAN: unknown */
};

struct watch {
    const struct nvml *nvml; /* null: nothing to watch */
    double interval;         /* least seconds between looks */
    double looked;           /* time of the last look, by the clock */
    int standing;            /* accepted samples */
    int discards;            /* looks that discarded samples */
    struct seen seen;
};

struct watch watch_start(const struct nvml *nvml, double interval);

/*
 * After the n-th sample: looks if the interval has passed or this is the last sample, and returns the number
 * of samples that remain. clock[n] is the clock of the multiprocessors at the look that accepted the sample
 * (Hz; NAN: unknown). After discarding, sleeps for a tenth of a second so that the GPU can recover.
 */
int watch_sample(struct watch *w, int n, bool last, bool time_left, double *clock);

struct seen seen_join(const struct seen *a, const struct seen *b);

#endif
