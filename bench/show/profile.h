/* Where the time and memory of a program go, by its tape. */
#ifndef GTMARK_BENCH_PROFILE_H
#define GTMARK_BENCH_PROFILE_H

#include <stdio.h>

#include "analysis/record/profile.h"
#include "bench/machine/calibration.h"
#include "models/layers/model.h"
#include "models/tape/conventions.h"

/* What is known of a planned tape without running it, and what the peak rates allow, if there are any (null:
 * none). Its texts are the tape's. To be freed by profile_free. */
struct profile profile_plan(const struct tape *t, const struct calibration *peaks);

/* The same with medians of `runs` replays of the tape with a mark after each entry. */
struct profile profile_measure(struct tape *t, int runs, const struct calibration *peaks);

/* The medians over the runs of each entry, whose times are in `times`, run by run; to be freed. */
double *profile_medians(const double *times, int runs, int entries);

/* --- the FLOPs of a program by op, as different counters count them (models/tape/conventions.h) */

/*
 * Prints a table: a line for each op with FLOPs and their sum; a column for `full` and for each convention in
 * `chosen` (a bit each), which also has its difference from full in percent. Then the reasons for the
 * differences. `title` says which program.
 */
void conventions_print(const struct tape *t, unsigned chosen, const char *title, FILE *out);

#endif
