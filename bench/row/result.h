/*
 * What was found out about one configuration, typed. result_row makes a row of the result file of it, once,
 * at the end.
 */
#ifndef GTMARK_BENCH_RESULT_H
#define GTMARK_BENCH_RESULT_H

#include "analysis/record/row.h"
#include "bench/base/memory.h"
#include "bench/row/cold_start.h"
#include "bench/row/job.h"
#include "bench/row/passes.h"
#include "bench/row/verify.h"
#include "bench/row/workload.h"
#include "bench/time/cold.h"
#include "bench/time/energy.h"
#include "bench/time/launching.h"

/* One program of the row. What no step reached is zero. */
struct program_result {
    const char *unwanted; /* why it is not run; null: it is */
    bool planned;
    struct plan plan;
    char peak_op[128];        /* the entry at which the plan's peak is reached */
    struct cost cost[PHASES]; /* by the formulas */

    const struct samples *samples; /* the job's; null: none */
    struct cold cold;
    struct launching launching;
    struct energy energy;
    struct resident resident;
    const char *resident_missing; /* why there is no resident.program; null: there is */
    int64_t counted;              /* FLOPs */
    struct executed executed;
    bool done[PASSES];
    struct message missing[PASSES]; /* why a pass has no result; empty: it has, or was not reached */
};

struct result {
    const struct job *job;
    struct outcome outcome;
    const struct workload *work;   /* null: it could not be opened */
    const struct encoded *encoded; /* null: there is none */
    bool probed;
    struct noise noise; /* the machine just before */
    struct program_result program[PROGRAMS];
    struct checked checked;
    struct cold_start cold_start;
};

/* Takes the plan and the costs of a recorded program. */
void result_plan(struct program_result *p, struct tape *t);

/* FLOPs and bytes of all phases. */
struct cost result_cost(const struct program_result *p);

/* The row: complete by the schema, null with a reason where nothing was measured. */
struct row *result_row(const struct result *r);

#endif
