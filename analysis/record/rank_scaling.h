/*
 * Which rows of several ranks show how work scales, and with which row of one rank each is compared. Strong
 * scaling: the same batch on more ranks; on R ranks an efficiency of 1 takes 1 / R of the time. Weak scaling:
 * R times the graphs or nodes; an efficiency of 1 takes the same time.
 */
#ifndef GTMARK_ANALYSIS_RANK_SCALING_H
#define GTMARK_ANALYSIS_RANK_SCALING_H

#include "analysis/record/row.h"

/* What grows with the ranks: nothing, or one of the sizes of the batch. */
enum growth { GROWS_NOT, GROWS_GRAPHS, GROWS_NODES, GROWTHS };

/* A row of several ranks, and the row of one rank that it is compared with. */
struct scaling {
    const struct row *base, *row;
    int64_t ranks;
    enum growth growth;
};

/* Of a row of several ranks. False if there is no row to compare it with. */
bool scaling_find(const struct rows *rows, const struct row *row, struct scaling *s);

/* Of the time of one rank over that of so many: 1 is ideal. */
double scaling_efficiency(const struct scaling *s, double base, double time);

/* Whether two of these rows agree in what varies beside ranks and sizes. */
bool same_but_ranks(const struct rows *rows, const struct row *a, const struct row *b);

#endif
