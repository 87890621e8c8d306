/* One row to measure: its configuration, its share of the budget, and what all rows of a sweep have in
 * common. */
#ifndef GTMARK_BENCH_JOB_H
#define GTMARK_BENCH_JOB_H

#include "analysis/record/value.h"
#include "bench/base/progress.h"
#include "bench/cli/config.h"
#include "bench/machine/ceilings.h"
#include "bench/row/encode.h"
#include "bench/time/flush.h"
#include "bench/time/sample.h"

struct job {
    const struct options *options;
    int64_t row; /* index of the configuration */
    struct config config;
    const struct counters *counters; /* of executed FLOPs; null: there are none, for the reason no_counters */
    const char *no_counters;
    const struct ceilings *ceilings;
    double share[PROGRAMS]; /* seconds of the budget */
    double share_encoding;
    struct encoded *encoded; /* computed in the first visit */
    struct samples *samples; /* per program; each visit adds its turn's */
    struct flush *flush;     /* of the caches, for --cold: all rows on a device share it */
    struct progress *progress;
    struct value *trace;  /* filled by --trace; null without it */
    const char *timeline; /* prefix of the charts of memory over a program; null: none */
    FILE *profile;        /* where --profile prints; null without it */
};

#endif
