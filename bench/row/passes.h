/*
 * Measurements of a program after its samples. Each is a pass of its own, because it would disturb the
 * others: the table of passes, in the order in which they run.
 */
#ifndef GTMARK_BENCH_PASSES_H
#define GTMARK_BENCH_PASSES_H

#include "analysis/record/row.h"
#include "bench/base/message.h"
#include "bench/row/result.h"
#include "models/layers/model.h"

/* A loaded program and where its results go. */
struct target {
    const struct job *job;
    const struct workload *work;
    enum program_kind kind;
    struct recording *recording;
    struct result *row;
    struct program_result *result; /* of this program in the row */
};

enum { PASS_FIELDS = 2 };

/* What a pass needs; A_RUN: more than a plan of the program. */
enum { A_RUN = 1, A_GPU = 2, THE_HOST = 4, ONE_RANK = 8 };

struct pass {
    const char *fields[PASS_FIELDS]; /* under the program's path: absent with the reason; null: none */
    unsigned needs;
    const char *(*unwanted)(
        const struct target *t); /* why, "" if nobody asked, null if wanted; null: always */
    bool (*run)(struct target *t, struct message *missing); /* false with a reason if there is no result */
    void (*write)(struct row *row, enum program_kind kind, const struct program_result *p); /* may be null */
};

/* How executed FLOPs of the row are counted. */
struct executed_request executed_how(const struct job *job);

/* Runs every wanted pass, until a signal. The program has been sampled, and has run since it was loaded; with
 * --device meta it is only planned, and the passes that need no more than a plan run. */
void passes_run(struct target *t);

/* Writes the results of all passes to the row. */
void passes_write(struct row *row, enum program_kind kind, const struct program_result *p);

#endif
