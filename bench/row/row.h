/*
 * The measurement of a row, in turns. The first turn does everything: it generates the graphs, samples the
 * encoding and the programs, and runs the passes that follow. Later turns only add samples.
 */
#ifndef GTMARK_BENCH_ROW_H
#define GTMARK_BENCH_ROW_H

#include "analysis/record/row.h"
#include "bench/row/job.h"
#include "bench/row/sampling.h"

/* A row from its first turn until the end of the sweep. */
struct measurement;

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
