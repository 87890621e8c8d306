/* The rows of a sweep: their shares of the budget, and what is kept of each until the end. */
#ifndef GTMARK_BENCH_WORK_H
#define GTMARK_BENCH_WORK_H

#include "bench/sweep/report.h"
#include "bench/sweep/turns.h"

/* The share of the budget that is kept for added turns. */
#define BUDGET_KEPT 0.2

/* A row of the sweep. */
struct work {
    struct job job;
    enum row_state state;
    double cost[PROGRAMS], check[PROGRAMS]; /* predicted seconds; of checks, at most */
    struct slot slot[TIMED];
    struct states states;
    struct measurement *m; /* null: not begun, kept or skipped */
    double held;           /* bytes of its graphs */
    char *profile;         /* text */
    size_t profile_size;
};

/*
 * Measured time over predicted cost: the smallest ratio of the rows so far, since small rows have more
 * overhead.
 */
struct pace {
    double ratio[PROGRAMS]; /* NAN: unknown */
    bool measured;
};

/*
 * The work of one device. state: of each row (bench/sweep/resume.h); seconds: for all of it. Null without
 * memory. To be freed by work_free.
 */
struct work *work_plan(const struct job *common, const enum row_state *state, int64_t rows, double seconds);
void work_free(struct work *work, int64_t rows);

/* Opens the profile of a row; prints it. */
void work_open_profile(struct work *w);
void work_print_profile(struct work *w, FILE *out);

struct pace pace_start(const struct ceilings *c);

/* Takes the first turn of a row into account. */
void pace_learn(struct pace *pace, const struct work *w);

/* Whether the row is not attempted, because it lacks a kernel, would take longer than --timeout or no size
 * fits, and why. */
bool work_is_skipped(const struct work *w, const struct pace *pace, char reason[256]);

#endif
