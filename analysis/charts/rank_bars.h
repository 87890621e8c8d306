/*
 * What several ranks do with their time, as charts of their scaling show it: of each row that can be compared
 * with one rank (analysis/record/rank_scaling.h), the share of the ranks' time that one rank would need for
 * the work, which is the efficiency, and the share of exchange that nothing hides.
 */
#ifndef GTMARK_ANALYSIS_RANK_BARS_H
#define GTMARK_ANALYSIS_RANK_BARS_H

#include "analysis/record/row.h"

enum { RANK_BARS_MAX = 48, RANK_LINES_MAX = 4, RANK_COUNTS_MAX = 16 };

/* The work on so many ranks; shares of the ranks' time. */
struct rank_bar {
    int64_t ranks;
    size_t line;              /* of `base` */
    double efficiency;        /* above 1: less time than one rank's share */
    double low, high;         /* its interval; both the same in what is predicted */
    double exchange, seconds; /* seconds: of a run */
    const char *link;         /* what predicts its exchange; null: nothing, or it is measured */
    bool predicted;
    bool noisy, shared; /* noisy times, or ranks that share cores */
};

struct rank_bars {
    size_t program;
    bool weak;                          /* R times the work on R ranks, not the same */
    bool nodes;                         /* the nodes of a graph grow, not the graphs of a batch */
    size_t count, lines, ranks, others; /* others: rows beyond the limits */
    struct rank_bar bar[RANK_BARS_MAX]; /* by ranks, then by line */
    const struct row *base[RANK_LINES_MAX];
    int64_t of[RANK_COUNTS_MAX]; /* the numbers of ranks, ascending */
};

/* Of a program's times in rows that are ok, measured, or predicted (P.communication.predicted_run). */
struct rank_bars rank_bars_of(const struct rows *rows, size_t program, bool weak);

#endif
