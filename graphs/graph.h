/*
 * A batch of graphs for a model to work on: one block-diagonal adjacency, and which nodes belong to which
 * graph.
 *
 * What a configuration draws is a function of it alone: the same on every machine and for any number of
 * threads. Random streams (kernels/rng.h) are named: the sizes of a batch come from "graph.sizes", and graph
 * g is drawn with the key at position g of "graph".
 */
#ifndef GTMARK_GRAPHS_GRAPH_H
#define GTMARK_GRAPHS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graphs/csr.h"

struct graph_config {
    const char *family; /* a name of graph_families */
    int64_t nodes;      /* N: of the graph, or on average of each graph in a batch */
    double degree;      /* the mean degree asked for */
    int64_t graphs;     /* B */
    uint64_t seed;
};

struct batch {
    struct csr adj;
    int64_t graphs;
    int64_t *offset; /* graphs + 1: graph g owns nodes offset[g] .. offset[g + 1] - 1, at least one */
    int64_t pairs;   /* the sum of the squared sizes: what dense attention works on */
    bool clamped;    /* a graph has too few nodes for the degree asked for, and is complete instead */
};

/* A way to make one graph. Both functions have the contract of er_edges and er_draw (graphs/er.h). */
struct graph_family {
    const char *name;
    int64_t (*edges)(int64_t nodes, double degree);
    void (*draw)(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key);
    const char *doc;
};

/* All families; ends with a row without a name. */
extern const struct graph_family graph_families[];

/*
 * Everything about the batch but its edges: offset, pairs, clamped, and the sizes of adj, whose arrays stay
 * null. For one graph this takes no time, whatever its size. On a bad configuration or without memory: false,
 * a line in error, and nothing to free.
 */
bool batch_shape(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

/* The whole batch. Peak memory is 16 bytes an edge beside the row pointers. Errors as above. */
bool batch_generate(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

/* Bytes that batch_generate needs beside the batch itself, which may be only its shape. */
int64_t batch_scratch(const struct batch *b);

/* Frees the arrays and leaves an empty b; freeing it again does nothing. */
void batch_free(struct batch *b);

#endif
