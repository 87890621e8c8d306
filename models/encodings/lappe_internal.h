/* What the files of Laplacian encodings share: the components of a batch as eigenproblems. */
#ifndef GTMARK_MODELS_LAPPE_INTERNAL_H
#define GTMARK_MODELS_LAPPE_INTERNAL_H

#include "models/encodings/eigen.h"
#include "models/encodings/encoding.h"

/* Component c: node[start[c]] .. node[start[c + 1] - 1], breadth first from its smallest node. */
struct components {
    int64_t count, nodes;
    int64_t *start; /* count + 1, in room for nodes + 1 */
    int32_t *node;
};

static inline int64_t component_size(const struct components *c, int64_t i)
{
    return c->start[i + 1] - c->start[i];
}

/* The components of a batch as problems, all in common arrays; of component c those at start[c]. */
struct problems {
    struct components parts;
    int64_t edges;
    int64_t *row;    /* from start[c] + c on: size + 1 numbers, from 0 */
    int64_t *edge;   /* count + 1: where its columns begin */
    int32_t *col;    /* numbers of nodes in their component */
    int32_t *local;  /* of each node */
    float *mass, *q; /* in the order of parts.node */
    int64_t *wanted; /* pairs to solve for in each component */
    int64_t *vector; /* count + 1: where its vectors begin, in floats */
    int64_t *first;  /* count + 1: where its eigenvalues begin */
    float *x;        /* vectors of each component, size x wanted */
    double *value;
};

/* An encoding in the making. */
struct lappe {
    const struct encoding_config *c;
    const struct batch *b;
    struct eager e;
    bool normalised;
    int64_t most; /* products */
    struct problems s;
    int used; /* solvers, as bits */
    int64_t iterations;
    struct encoding *out;
};

/*
 * Fills l->s from the batch. False where memory is refused; either way lappe_problems_free gives back what
 * was taken.
 */
bool lappe_problems_alloc(struct lappe *l);
void lappe_problems_free(struct lappe *l);

/* Component c as a problem. */
struct pencil lappe_pencil(const struct lappe *l, int64_t c);

/* Whether the indicator of a component is in the null space. */
bool lappe_null_vector(const struct lappe *l, int64_t c);

/* Pairs that a graph of n nodes has in front of those that are left out, and these. */
int64_t lappe_pairs(const struct lappe *l, int64_t n);

/* The component after the last of graph g, where `c` is its first. */
int64_t lappe_components_end(const struct lappe *l, int64_t g, int64_t c);

/* Writes the smallest pairs of each graph into l->out. False where memory is refused. */
bool lappe_write(struct lappe *l);

#endif
