/* Which attention is fastest, over nodes and neighbours. */
#ifndef GTMARK_ANALYSIS_WINNER_CHART_H
#define GTMARK_ANALYSIS_WINNER_CHART_H

#include "analysis/charts/charts.h"

enum { WINNERS_MAX = 8, MAP_MAX = 16 }; /* kinds of attention; values of nodes and of degree */

/* The rows of one number of nodes and one degree. */
struct map_cell {
    size_t known;  /* kinds that were timed, or did not fit into memory */
    size_t timed;  /* of these, kinds that were timed */
    int winner;    /* its index; -1: none is known to be faster than each other one */
    double factor; /* time of the next one over the winner's; NAN: no other was timed */
};

struct map {
    size_t kinds, columns, lines;
    const char *kind[WINNERS_MAX]; /* in order of appearance */
    double nodes[MAP_MAX], degree[MAP_MAX];
    struct map_cell cell[MAP_MAX][MAP_MAX]; /* column, line */
    size_t program;                         /* TIMED_STEP, or TIMED_FORWARD if no row has a step */
};

/* Of the rows that differ from the first one in attention, nodes and degree only. False unless each of these
 * has several values. */
bool map_of(const struct rows *rows, struct map *m);

#endif
