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
#include "graphs/degrees.h"
#include "graphs/family.h"

struct graph_config {
    const char *family; /* as graph_family_known says; a file ignores nodes and degree, and has its own number
                           of graphs: `graphs` is 1 then */
    int64_t nodes;      /* N: of the graph, or on average of each graph in a batch; of NAME:giant, before */
    double degree;      /* the mean degree asked for */
    int64_t graphs;     /* B */
    uint64_t seed;
};

struct batch {
    struct csr adj;
    struct csr out; /* the transpose: row j lists who receives from j. adj's own arrays if symmetric */
    bool symmetric; /* every edge is there in both directions, equally often */
    int64_t graphs;
    int64_t *offset; /* graphs + 1: graph g owns nodes offset[g] .. offset[g + 1] - 1, at least one */
    int64_t pairs;   /* the sum of the squared sizes: what dense attention works on */
    bool clamped;    /* a graph has too few nodes for the degree asked for, and has the edges that fit */
    int64_t peak;    /* bytes that batch_generate holds at its peak, offset apart */
};

/*
 * Everything about the batch but its edges: all fields, with null for the arrays of adj and out. For one
 * graph of a family this takes no time, whatever its size; a file is read as batch_generate does, a graph
 * drawn of which only the giant component is asked for, and dropped. On a bad configuration, more than
 * CSR_MAX_EDGES edges or without memory: false, a line in error, and nothing to free.
 */
bool batch_shape(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

/* The whole batch. Errors as above. */
bool batch_generate(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

/* Bytes that batch_generate needs beside those of adj (csr_bytes), at its peak. b may be only a shape. */
int64_t batch_scratch(const struct batch *b);

/* Frees the arrays and leaves an empty b; freeing it again does nothing. */
void batch_free(struct batch *b);

#endif
