/* What a row needs, before anything runs: work and memory from its tapes, and the least time of a run. */
#ifndef GTMARK_BENCH_ESTIMATE_H
#define GTMARK_BENCH_ESTIMATE_H

#include "analysis/record/axes.h"
#include "analysis/tables/units.h"
#include "bench/cli/config.h"
#include "bench/machine/peaks.h"

struct estimate {
    bool known;      /* false: the graph cannot be planned */
    int64_t batch;   /* of host memory, to generate it */
    double encoding; /* likely FLOPs */
    struct {
        int64_t flops, bytes; /* negative: beyond 63 bits */
        int64_t arena;        /* bytes of the planned arena */
        double seconds;       /* lower bound for one run, from the roofline; NAN without a calibration */
    } program[PROGRAMS];      /* all zero for programs that are not run */
};

/* c: null without a calibration for the row's number of threads. */
struct estimate estimate_row(const struct options *o, const struct config *config,
                             const struct calibration *c);

/* The minimum runs of a program, warm-up and samples. */
int estimate_runs(const struct options *o);

/* Seconds of a turn of a program beside its samples. */
double estimate_around(const struct options *o);

/* Seconds of the check of a program, at most, if its runs take no longer than the peak rates allow; 0: none.
 */
double estimate_check(const struct options *o, const struct config *config, const struct estimate *e,
                      enum program_kind p);

/* Prints how long a run takes: its budget, if the least that it needs fits in there, beside the present load
 * unless it is a dry run; otherwise the least. */
void estimate_say(const struct options *o, FILE *out);

/* A lower bound for the time of one sweep with the fewest runs: warm-up, and with a calibration that is kept
 * also the runs. */
double estimate_least(const struct options *o);

/* Whether the least time of a row is more than the whole budget. */
bool estimate_is_over(const struct options *o, double seconds);

/* Seconds, minutes, hours or days; "unknown" for NAN. */
void estimate_time_text(char text[UNITS_TEXT], double seconds);

/* --dry-run: prints the rows that would run, what each needs, and where the figures come from. */
void estimate_print(const struct options *o, FILE *out);

/* --list tape: prints the tape of every program of every row. False with a message. */
bool estimate_list_tapes(const struct options *o, struct message *error);

#endif
