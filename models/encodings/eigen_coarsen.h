/* A smaller pencil whose smooth vectors approximate those of a larger one. */
#ifndef GTMARK_MODELS_EIGEN_COARSEN_H
#define GTMARK_MODELS_EIGEN_COARSEN_H

#include "models/encodings/eigen.h"

struct coarse {
    struct pencil p;       /* of the aggregates; owns its arrays */
    struct mat parent;     /* fine nodes x 1, I32: the aggregate of each */
    int64_t edge_capacity; /* capacity of p.adj.col and p.weight */
};

/* Merges pairs of neighbours into one node each. Returns false, with nothing to free, when out of memory. */
bool eigen_coarsen(struct eager *e, const struct pencil *fine, struct coarse *to);

/* Interpolates x to the fine nodes: each takes the row of its aggregate. */
void eigen_prolong(struct eager *e, const struct coarse *c, struct mat fine, struct mat coarse);

void eigen_coarse_free(struct eager *e, struct coarse *c);

#endif
