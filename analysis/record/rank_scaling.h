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

/* Of the rows of several ranks that there is a row to compare with, in their order; *n of them, to be freed.
 */
struct scaling *scalings_find(const struct rows *rows, size_t *n);

/* Of the time of one rank over that of so many: 1 is ideal. */
double scaling_efficiency(const struct scaling *s, double base, double time);

/* Whether ranks divide the nodes of a row's graph, so that nodes for each rank are its own. */
bool divides_nodes(const struct row *row);

/* Puts into group[] for each row the index of the first that agrees in what varies beside ranks and sizes. */
void group_but_ranks(const struct rows *rows, size_t *group);

#endif
