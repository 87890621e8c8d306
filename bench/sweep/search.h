#ifndef GTMARK_BENCH_SEARCH_H
#define GTMARK_BENCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/record/record.h"
#include "analysis/statistics/range.h"
#include "bench/base/quantity.h"
#include "bench/cli/options.h"
#include "bench/machine/calibration.h"
#include "bench/row/workload.h"

/* --- the largest whole number whose need is within a limit */

enum { LIMIT_PROBES = 5 };

struct limit_search {
    double (*need)(void *context, int64_t x); /* INFINITY: cannot be done */
    void *context;
    double limit;
    int64_t first, most; /* tried first; the largest allowed */
    bool noisy;          /* needs vary: the median of LIMIT_PROBES counts near the limit and of the answer */
};

/*
 * fits needs at_fits, within the limit, or is 0 if nothing fits; fails needs more, or is most + 1. They are
 * neighbours, of noisy needs at most a hundredth apart. A need that does not grow with x has several such
 * places, of which this is one. Unsure: when measured again at the end, the two contradicted what was found,
 * and so did each place found after that.
 */
struct limit_answer {
    int64_t fits, fails, clear; /* clear: the largest tried that needs 1.25 times less than the limit */
    double at_fits, at_fails;
    bool unsure;
};

/* After a signal the answer means nothing. */
struct limit_answer limit_find(const struct limit_search *w);

/* --- where a function of an axis changes its sign */

typedef double function(void *context, double x);

struct bracket {
    bool found;
    double low, high, at_low,
        at_high; /* the function at the ends; of opposite signs if found, NAN if unknown */
};

/*
 * Halves 0 < low < high on a logarithmic scale while the signs at the ends differ, until high / low is at
 * most 1 + tolerance or, of whole numbers, the ends are neighbours. Not found if the signs are equal; nor,
 * with an end of NAN, if the function is NAN somewhere on the way, or after a signal.
 */
struct bracket bisect(function *f, void *context, double low, double high, double tolerance, bool whole);

/* --- times for searches: of a few runs, without turns and checks, and predicted */

/*
 * The median of five runs of each requested program, and in seconds[PROGRAMS] one run of the encoding; 0 for
 * what does not run. INFINITY for what does not fit, or is not finished within `patience` seconds, and for
 * all programs after it. Returns whether that was for want of time.
 */
bool probe_times(const struct options *o, const struct config *c, double patience, double seconds[TIMED]);

/* The least times of a tape's entries and of their launches, P.predicted.time of a row; NAN if unknown. */
double predicted_time(struct tape *t, const struct calibration *peaks);

/* Of each requested program, 0 of others. False if the graph cannot be planned, or without peak rates. */
bool predicted_times(const struct options *o, const struct config *c, const struct calibration *peaks,
                     double seconds[PROGRAMS]);

/*
 * --find AXIS=LIMIT: for each combination of the other axes, the largest value of one axis (nodes, batch,
 * layers, or hidden in steps of the heads) within a limit of memory or latency. Memory and, with --device
 * meta, predicted times are planned, so the value is exact. Latency is measured by quick runs, of which, as
 * of the row, the median counts. The row of that value then decides, by its range.
 */

/* Finds and prints the values on stderr; a limit of latency becomes a gate of rows. False after a signal. */
bool largest_find(struct options *o);

/* A limit, or a need, in the units in which the limit was given. */
void largest_text(const struct options *o, double value, char text[QUANTITY_TEXT]);

/* What the time of a row says of the search that chose it. */
enum find_verdict {
    FIND_HOLDS,
    FIND_OPEN,     /* some of its range is beyond the limit */
    FIND_BEYOND,   /* all of it is */
    FIND_DISTURBED /* it is so much shorter that the search was disturbed, and more may fit */
};

enum find_verdict largest_verdict(double limit, double searched, const struct range *row);

/* Prints what fits by the rows, in the order of the plan, if a latency was searched for: the value, or that
 * it is inconclusive, and between which. */
void largest_answer(const struct options *o, const struct rows *rows, FILE *out);

/*
 * --find AXIS=A,B: the axis value at which one variant overtakes another, for each two of them. By FLOPs, by
 * planned memory and by the peak rates it is computed; by time it is found by quick runs, and rows on both
 * sides of it are then measured as any others, to be judged by analysis/compare/crossing.h.
 */

/* Prints on `out` where each two variants cross by what is known without running them. */
void crossover_predict(const struct options *o, FILE *out);

/*
 * The same on stderr; then searches, and makes the values of the rows those of the axis: for each program
 * and each two variants some on either side of the crossing, or, if none has one, the ends. With --device
 * meta the axis stays as it is. False after a signal.
 */
bool crossover_find(struct options *o);

#endif
