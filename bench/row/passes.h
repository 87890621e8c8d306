/* Measurements of a program after its samples. Each is a pass of its own, because it would disturb the
 * others: the table of passes, in the order in which they run. */
#ifndef GTMARK_BENCH_PASSES_H
#define GTMARK_BENCH_PASSES_H

#include "analysis/record/row.h"
#include "bench/cli/config.h"
#include "bench/row/forecast.h"
#include "bench/row/timed.h"
#include "bench/row/verify.h"
#include "bench/time/sections.h"

/* A loaded program and where its results go. */
struct target {
    const struct job *job;
    const struct workload *work;
    enum program_kind kind;
    struct recording *recording; /* null: no time is left for the passes that can be left out */
    const struct forecast *forecast;
    struct timed *timed;
    struct checked *checked;
    struct outcome *outcome;
    struct row *row;
    struct row_program *to; /* the program in the row */
    bool first, later;      /* which passes: those of the first turn; those that can be left out */
    struct message reason;  /* why the pass that runs has no result; empty: it has one */
};

struct executed_request executed_how(const struct job *job);

/* Whether a later visit of a row has anything to measure, and time for it. */
bool passes_are_later(const struct job *job);

/* Why the executed FLOPs of a row are not counted; "" if nobody asked, null if they are. */
const char *executed_why_not(const struct job *job);

/* Runs every wanted pass, until a signal. The program has been sampled, and has run since it was loaded; with
 * --device meta it is only planned, and the passes that need no more than a plan run. */
void passes_run(struct target *t);

void passes_drop(struct row *row, enum program_kind kind);

/* --- what plug-ins report of a program, in a row: sections and metrics */

/* Runs the tape so often, and adds to the row's what the plug-in reports; with a fault of it nothing, and the
 * message. */
void sections_measure(struct tape *t, struct plugin *p, int runs, const char *program, struct row *row,
                      struct message *fault);

/* --- cold start: the time to the first result for a new graph */

/* The steps of a cold start, and their total. */
enum cold_start_step {
    COLD_START_GRAPH,    /* generated or read, and its structure built */
    COLD_START_ENCODING, /* computed, if there is one */
    COLD_START_RECORD,   /* `forward` recorded and planned */
    COLD_START_UPLOAD,   /* memory allocated, parameters and inputs initialised and uploaded */
    COLD_START_FORWARD,  /* one run */
    COLD_START_TOTAL,
    COLD_START_STEPS
};

/* Median seconds of up to five cold starts; NAN for an encoding that there is not. False with a message. */
bool cold_start_measure(const struct options *o, const struct config *c, double seconds[COLD_START_STEPS],
                        struct message *reason);

void cold_start_write(struct row *row, const double seconds[COLD_START_STEPS]);

void cold_start_print(const struct row *row, FILE *out);

#endif
