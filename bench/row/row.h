/* The measurement of a row, in turns. The first turn does everything: it generates the graphs, samples the
 * encoding and the programs, and runs the passes that follow. Later turns only add samples. */
#ifndef GTMARK_BENCH_ROW_H
#define GTMARK_BENCH_ROW_H

#include "analysis/record/row.h"
#include "bench/row/forecast.h"
#include "bench/row/job.h"
#include "bench/row/sampling.h"
#include "bench/row/timed.h"
#include "bench/row/verify.h"

/* A row from its first turn until the end of the sweep. */
struct measurement {
    const struct job *job;
    bool is_open;
    bool is_described; /* the batch, in the row */
    bool is_resumed;   /* the row is of an earlier run, and lacks turns */
    bool is_cut;       /* --timeout ended sampling */
    bool is_over;      /* a later turn failed: the row stands as it was before */
    struct workload work;
    struct encoded encoded;
    struct timed program[PROGRAMS];
    struct checked checked;
    struct outcome outcome;
    struct row *row; /* times are those of an earlier run, if any */
};

/* A turn under way. */
struct open_turn {
    struct measurement *measurement;
    const struct turn_plan *plan;
    double deadline;          /* of all programs that are still to be sampled */
    int programs;             /* their number */
    struct forecast forecast; /* of the program under way */
};

/* Records and plans a program of an open workload; unless only that was asked for, loads and samples it, and
 * in the first turn runs the passes (passes.h). */
void measure_program(struct open_turn *v, enum program_kind kind);

/* The job must outlive it. from: a row of an earlier run that lacks turns, which is copied; null: none. */
struct measurement *measurement_begin(const struct job *job, const struct row *from);

void measurement_turn(struct measurement *m, const struct turn_plan *plan);

/* After all turns: what can be left out, if there is time. */
void measurement_finish(struct measurement *m);

/* The row so far, complete by the schema. */
struct row *measurement_row(const struct measurement *m);

/* The samples of a program, or of the encoding; null if there are none. */
const struct samples *measurement_samples(const struct measurement *m, size_t timed);

/* Whether further turns make sense: nothing failed, and --timeout is not used up. */
bool measurement_goes_on(const struct measurement *m);

void measurement_warn(const struct measurement *m);

/* Frees the graphs, which a later turn makes again. Returns the bytes that it otherwise holds. */
int64_t measurement_bytes(const struct measurement *m);
void measurement_close(struct measurement *m);

void measurement_end(struct measurement *m);

/* Whether no more is to be measured: after a signal, or when the device is lost. */
bool run_has_ended(const struct device_choice *d);

struct row *row_skip(const struct job *job, const char *reason);

#endif
