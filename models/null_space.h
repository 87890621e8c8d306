/*
 * The connected components of a batch, whose indicators span the null space of its Laplacians.
 *
 * Edges are taken both ways; a loop joins nothing. Components are numbered by their smallest node, so that
 * those of a graph follow each other.
 */
#ifndef GTMARK_MODELS_NULL_SPACE_H
#define GTMARK_MODELS_NULL_SPACE_H

#include "graphs/graph.h"
#include "models/eager.h"

struct components {
    int64_t count, nodes;
    int64_t *start; /* count + 1 */
    int32_t
        *node; /* component c: node[start[c]] .. node[start[c + 1] - 1], breadth first from the smallest */
};

/* Of a symmetric batch. The arrays are taken from e; false where memory is refused. */
bool components_find(struct components *c, const struct batch *b, struct eager *e);
void components_free(struct components *c, struct eager *e);

static inline int64_t component_size(const struct components *c, int64_t i)
{
    return c->start[i + 1] - c->start[i];
}

#endif
