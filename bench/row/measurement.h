/* The state of a row that is measured, and one program of it in a turn. For row.c. */
#ifndef GTMARK_BENCH_MEASUREMENT_H
#define GTMARK_BENCH_MEASUREMENT_H

#include "bench/row/forecast.h"
#include "bench/row/sampling.h"
#include "bench/row/timed.h"
#include "bench/row/verify.h"

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

/*
 * Records and plans a program of an open workload; unless only that was asked for, loads and samples it, and
 * in the first turn runs the passes (passes.h).
 */
void measure_program(struct open_turn *v, enum program_kind kind);

#endif
