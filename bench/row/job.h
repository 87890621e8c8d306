/* A row to measure: its configuration, its share of the budget, and what all rows of a sweep share. */
#ifndef GTMARK_BENCH_JOB_H
#define GTMARK_BENCH_JOB_H

#include "analysis/record/row.h"
#include "analysis/record/value.h"
#include "bench/base/progress.h"
#include "bench/base/warnings.h"
#include "bench/cli/config.h"
#include "bench/machine/peaks.h"
#include "bench/row/encode.h"
#include "bench/time/apart.h"
#include "bench/time/sample.h"

/* partial: ok, but with fewer turns than asked for */
enum row_state { ROW_MISSING, ROW_REDONE, ROW_PARTIAL, ROW_KEPT };

/* The times of a program or encoding of a row. */
struct timing {
    bool is_wanted;
    double share;  /* seconds of the budget, as planned */
    double block;  /* of it for the next turn, as time is left */
    double earned; /* for all turns so far */
    double call;   /* of a run, seconds: measured, or a lower bound; 0: unknown */
    double spent;  /* seconds of all turns, without warm-up */
    int turns, reported;
};

struct job {
    const struct options *options;
    int64_t row; /* index of the configuration */
    const struct config *config;
    const struct counters *counters; /* for executed FLOPs; null: none, see no_counters */
    const char *no_counters;
    struct counted_entries *entries; /* whose executed FLOPs are known */
    const struct peaks *peaks;
    double deadline;           /* by the clock: what can be left out does not begin later */
    double energy;             /* seconds for that of each program; 0: it is not measured */
    bool probed;               /* whether the machine is probed around every turn */
    const struct peak *peak;   /* multiply-adds of the probe; null: without */
    struct states states;      /* of the machine, in the turns so far */
    struct flush *flush;       /* for --cold; shared by all rows on a device */
    struct warnings *warnings; /* printed below the table */
    struct progress *progress;
    struct value *trace; /* --trace; null without it */
    FILE *profile;       /* output of --profile and --flop-convention; null without them */

    /* The sweep's account of it. */
    enum row_state state;
    double cost[PROGRAMS], check[PROGRAMS]; /* predicted seconds; of checks, at most */
    struct timing timing[TIMED];
    struct measurement *m; /* null: not begun, kept or skipped */
    double held;           /* bytes of its graphs */
    char *profile_text;
    size_t profile_size;
};

#endif
