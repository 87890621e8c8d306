/* Graphs whose Laplacians have known spectra, and spectra of small graphs found by Jacobi's method. */
#ifndef GTMARK_TESTS_SPECTRA_H
#define GTMARK_TESTS_SPECTRA_H

#include "graphs/graph.h"

/* A batch of graphs that grows by undirected edges; nodes are numbered in the graph at hand. */
struct builder {
    int64_t offset[64], graphs, edges, room;
    uint64_t *edge;
};

void builder_graph(struct builder *d, int64_t nodes);
void builder_edge(struct builder *d, int64_t a, int64_t b);

/* The batch, and nothing more to free but it. */
struct batch builder_done(struct builder *d);

/* A graph with a closed form, and its eigenvalue number k, ascending: of D - A, or of the normalised one. */
struct known_graph {
    const char *name;
    void (*build)(struct builder *d, int64_t n);
    double (*value)(int64_t n, int64_t k, bool normalised);
    bool both;   /* a closed form for the normalised Laplacian too */
    bool simple; /* no eigenvalue is multiple */
    bool smooth; /* what is wanted lies far below the bound */
};

/* Ends with a row without a name. */
extern const struct known_graph known_graphs[];

/* All eigenvalues of graph g's Laplacian, ascending, in double. Free them. */
double *spectrum_of(const struct batch *b, int64_t g, bool normalised);

#endif
