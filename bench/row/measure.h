/* One row: record, plan, allocate, warm up, sample, and write down what was found. */
#ifndef GTMARK_BENCH_MEASURE_H
#define GTMARK_BENCH_MEASURE_H

#include <jansson.h>

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
    const struct counters *counters; /* of executed FLOPs; null where there are none, as no_counters says */
    const char *no_counters;
    const struct ceilings *ceilings;
    double share[PROGRAMS]; /* seconds of the budget */
    double share_encoding;
    struct flush *flush;     /* of the caches, for --cold: all rows on a device share it */
    bool probe;              /* only the times of the samples matter */
    struct encoded *encoded; /* of this configuration, computed by whoever needs it first */
    struct samples *taken;   /* per program: samples taken in turns before; null: none */
    struct progress *progress;
    json_t *trace;        /* which --trace fills; null without it */
    const char *timeline; /* prefix of the charts of memory over a program; null: none */
    FILE *profile;        /* where --profile prints; null without it */
};

/* The row of a configuration: complete by the schema, whatever happened; null if a signal came before it was.
 */
json_t *measure(const struct job *job);

/*
 * Takes a part of a program's samples, as one of `turns` turns, into job->taken; nothing where it cannot run,
 * which the row will say.
 */
void take_turn(const struct job *job, enum program_kind kind, int turns);

/* Bytes of the memory that programs run in which they may take. */
double program_limit(const struct options *o);

/* The row of a configuration that is not attempted. */
json_t *skip_row(const struct job *job, const char *reason);

/* Prints the tape of each program asked for (--list-tape). False with a message. */
bool list_tapes(const struct options *o, const struct config *c, FILE *out, struct message *error);

#endif
