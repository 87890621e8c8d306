/* The rows of a sweep: their shares of the budget, and what is kept of each until the end. */
#ifndef GTMARK_BENCH_JOBS_H
#define GTMARK_BENCH_JOBS_H

#include "bench/machine/peaks.h"
#include "bench/row/row.h"
#include "bench/sweep/report.h"

/* --- which programs of a row take part in a turn of the sweep, and for how long */

/* Updates it after a turn, given the states of the machine. */
void timing_learn(struct timing *s, const struct measurement *m, size_t timed, const struct states *states);

/*
 * The block of a program or encoding in a turn, counted from 0. A run that is longer than its block takes
 * part in fewer turns, and all do where no time is left; at least in TURNS_LEAST (an encoding only within
 * three times its share). With --runs the runs are divided over the turns.
 */
struct block_plan timing_plan(const struct timing *s, const struct sampling_options *o, int turn,
                              bool is_encoding);

/*
 * After the planned turns: whether fewer than REPORTED_MIN turns are in one state, and those that are missing
 * fit into half of the seconds that are left, so that a long program does not take them from all short ones.
 * False if the options allow no such number.
 */
bool timing_lacks_turns(const struct timing *s, const struct sampling_options *o, double left);

/* The share of the budget that is kept for added turns. */
#define BUDGET_KEPT 0.2

/* Measured time over predicted cost: the least of the rows so far, since small rows have more overhead. */
struct pace {
    double ratio[PROGRAMS]; /* NAN: unknown */
    bool measured;
};

/* The work of one device. state: of each row (bench/sweep/resume.h); seconds: for all of it. Null without
 * memory. To be freed by jobs_free. */
struct job *jobs_plan(const struct job *common, const enum row_state *state, int64_t rows, double seconds);
void jobs_free(struct job *jobs, int64_t rows);

void job_open_profile(struct job *job);
void job_print_profile(struct job *job, FILE *out);

struct pace pace_start(const struct peaks *c);

void pace_learn(struct pace *pace, const struct job *job);

/* Whether and why the row is not attempted: a kernel lacks, --timeout is too short, or no size fits. */
bool job_is_skipped(const struct job *job, const struct pace *pace, char reason[256]);

/* --- a sweep: every configuration of the command line, on each of its devices, within one time budget */

/*
 * Measures all rows and reports each as it is finished, device after device; the options' device is the one
 * in use. all_good: whether every row was ok. Ends early after a signal (bench/base/interrupt.h). False with
 * a message if a row could not be reported, or a device not be opened.
 */
bool sweep(struct options *o, struct peaks *peaks, struct report *r, bool *all_good, struct message *error);

#endif
