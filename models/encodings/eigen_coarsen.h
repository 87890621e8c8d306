/* A smaller pencil whose smooth vectors are nearly those of a larger one. */
#ifndef GTMARK_MODELS_EIGEN_COARSEN_H
#define GTMARK_MODELS_EIGEN_COARSEN_H

#include "models/encodings/eigen.h"

struct coarse {
    struct pencil p;       /* of aggregates; its arrays are its own */
    struct mat parent;     /* fine nodes x 1, I32: the aggregate of each */
    int64_t edge_capacity; /* edges that p.adj.col and p.weight have room for */
};

/* Pairs of neighbours become one node each. False where memory is refused; eigen_refine is for success only.
 */
bool eigen_coarsen(struct eager *e, const struct pencil *fine, struct coarse *to);

/* x of the fine nodes from that of the aggregates: each takes its aggregate's row. */
void eigen_prolong(struct eager *e, const struct coarse *c, struct mat fine, struct mat coarse);

void eigen_coarse_free(struct eager *e, struct coarse *c);

#endif
