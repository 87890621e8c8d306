/* The components of a batch as eigenproblems, shared by the files of Laplacian encodings. */
#ifndef GTMARK_MODELS_LAPPE_INTERNAL_H
#define GTMARK_MODELS_LAPPE_INTERNAL_H

#include "models/encodings/eigen.h"
#include "models/encodings/encoding.h"

enum {
    LAPPE_DENSE_ALWAYS = 40,  /* nodes of a component up to which every solver uses LAPACK */
    LAPPE_DENSE_AUTO = 192,   /* the same for `auto` */
    LAPPE_DENSE_AGAIN = 2048, /* the same for `auto` where the iterative solver has missed the limits */
    LAPPE_PRODUCTS = 100000   /* with the Laplacian, after which a solver stops */
};

/*
 * Component c: node[start[c]] .. node[start[c + 1] - 1], in breadth-first order from its smallest node, but
 * sorted by degree within short windows.
 */
struct components {
    int64_t count, nodes;
    int64_t *start; /* count + 1, with capacity nodes + 1 */
    int32_t *node;
};

static inline int64_t component_size(const struct components *c, int64_t i)
{
    return c->start[i + 1] - c->start[i];
}

/* The components of a batch as eigenproblems, in shared arrays; those of component c begin at start[c]. */
struct problems {
    struct components parts;
    int64_t edges;
    int64_t *row;    /* begins at start[c] + c: size + 1 offsets, from 0 */
    int64_t *edge;   /* count + 1: start of each component's columns */
    int32_t *col;    /* node numbers within the component */
    int32_t *local;  /* each node's number within its component */
    float *mass, *q; /* in the order of parts.node */
    int64_t *wanted; /* pairs to solve for in each component */
    int64_t *vector; /* count + 1: start of each component's vectors, in floats */
    int64_t *first;  /* count + 1: start of each component's eigenvalues */
    float *x;        /* vectors of each component, size x wanted */
    double *value;
};

/* An encoding being computed. */
struct lappe {
    const struct encoding_config *c;
    const struct batch *b;
    struct eager e;
    bool normalised;
    int64_t most; /* limit on products */
    struct problems s;
    int used; /* solvers used, as bits */
    int64_t iterations;
    double excess; /* the largest of the solvers' */
    struct encoding *out;
};

/* Fills l->s from the batch. Returns false when out of memory; call lappe_problems_free in either case. */
bool lappe_problems_alloc(struct lappe *l);
void lappe_problems_free(struct lappe *l);

/* Component c as a pencil. */
struct pencil lappe_pencil(const struct lappe *l, int64_t c);

/*
 * Whether the component's indicator spans a null vector; otherwise it is the pair (1, e_i) of an isolated
 * node.
 */
bool lappe_null_vector(const struct lappe *l, int64_t c);

/* The number of pairs to compute for a graph of n nodes, including the first one if it is to be omitted. */
int64_t lappe_pairs(const struct lappe *l, int64_t n);

/* One past the last component of graph g, whose first component is `c`. */
int64_t lappe_components_end(const struct lappe *l, int64_t g, int64_t c);

/* Writes the smallest pairs of each graph to l->out. Returns false when out of memory. */
bool lappe_write(struct lappe *l);

#endif
