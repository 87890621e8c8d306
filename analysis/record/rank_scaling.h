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
    size_t index; /* of the row */
    enum growth growth;
};

/* Of the rows of several ranks that there is a row to compare with, in their order; *n of them, to be freed.
 */
struct scaling *scalings_find(const struct rows *rows, size_t *n);

/* Of the time of one rank over that of so many: 1 is ideal. */
double scaling_efficiency(const struct scaling *s, double base, double time);

/* A row's ranks and sizes; `group` is that of all rows that agree in what varies beside these. */
struct rank_place {
    const struct row *row;
    size_t group, index;
    int64_t ranks;
    double graphs, nodes;
};

/*
 * A place for each row, by group, sizes and ranks, to be freed; equal ones in the order of the rows. With
 * `weak` the size that grows with the ranks is that of each: nodes if ranks divide them, otherwise graphs.
 */
struct rank_place *rank_places(const struct rows *rows, bool weak);

/* Whether two of them have the same group and sizes. */
bool rank_place_same(const struct rank_place *a, const struct rank_place *b);

#endif
