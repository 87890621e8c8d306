/* The rows of a sweep: their shares of the budget, and what is kept of each until the end. */
#ifndef GTMARK_BENCH_WORK_H
#define GTMARK_BENCH_WORK_H

#include "bench/machine/ceilings.h"
#include "bench/row/row.h"
#include "bench/sweep/report.h"

/* --- which programs of a row take part in a turn of the sweep, and for how long */

/* A program or encoding of a row. */
struct slot {
    bool is_wanted;
    double share;  /* seconds of the budget, as planned */
    double block;  /* of it for the next turn, as time is left */
    double earned; /* for all turns so far */
    double call;   /* of a run, seconds: measured, or a lower bound; 0: unknown */
    double spent;  /* seconds of all turns, without warm-up */
    int turns, reported;
};

/* Updates a slot after a turn, given the states of the machine. */
void slot_learn(struct slot *s, const struct measurement *m, size_t timed, const struct states *states);

/*
 * The block of a slot in a turn, counted from 0. A run that is longer than its block takes part in fewer
 * turns, and all do where no time is left; at least in TURNS_LEAST (an encoding only within three times its
 * share). With --runs the runs are divided over the turns.
 */
struct block_plan slot_plan(const struct slot *s, const struct sampling_options *o, int turn,
                            bool is_encoding);

/*
 * After the planned turns: whether fewer than REPORTED_MIN turns are in one state, and those that are missing
 * fit into half of the seconds that are left, so that a long program does not take them from all short ones.
 * False if the options allow no such number.
 */
bool slot_lacks_turns(const struct slot *s, const struct sampling_options *o, double left);

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

/* --- a sweep: every configuration of the command line, on each of its devices, within one time budget */

/*
 * Measures all rows and reports each as it is finished, device after device; the options' device is the one
 * in use. all_good: whether every row was ok. Ends early after a signal (bench/base/interrupt.h). False with
 * a message if a row could not be reported, or a device not be opened.
 */
bool sweep(struct options *o, struct ceilings *ceilings, struct report *r, bool *all_good,
           struct message *error);

#endif
