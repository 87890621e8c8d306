/*
 * What is measured of a program after its samples, in passes of its own, since each would disturb them: the
 * table of passes, in the order in which they run.
 */
#ifndef GTMARK_BENCH_PASSES_H
#define GTMARK_BENCH_PASSES_H

#include "analysis/record/row.h"
#include "bench/base/message.h"
#include "models/layers/model.h"

enum { PASSES = 11 };

struct job;
struct workload;
struct result;
struct program_result;

/* A program in memory, while it is measured. */
struct target {
    const struct job *job;
    const struct workload *work;
    enum program_kind kind;
    struct recording *recording;
    struct result *row;
    struct program_result *result; /* the row's, of this program */
};

struct pass {
    const char
        *fields[2]; /* below the program's: groups or fields that are null where the pass has no result */
    const char *(*unwanted)(const struct target *t);        /* the reason; null: it is wanted */
    bool (*run)(struct target *t, struct message *missing); /* false with the reason: no result */
    void (*write)(struct row *row, enum program_kind kind, const struct program_result *p); /* may be null */
};

/* Runs every pass that is wanted, until a signal. The program was sampled, and has run since it was loaded.
 */
void passes_run(struct target *t);

/* Writes the results of all passes into the row. */
void passes_write(struct row *row, enum program_kind kind, const struct program_result *p);

#endif
