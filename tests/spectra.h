/* Graphs with known Laplacian spectra, and spectra of small graphs by Jacobi's method. */
#ifndef GTMARK_TESTS_SPECTRA_H
#define GTMARK_TESTS_SPECTRA_H

#include "graphs/graph.h"

/* Builds a batch of graphs from undirected edges; nodes are numbered within the current graph. */
struct builder {
    int64_t offset[64], graphs, edges, room;
    uint64_t *edge;
};

void builder_graph(struct builder *d, int64_t nodes);
void builder_edge(struct builder *d, int64_t a, int64_t b);

/* The batch; nothing else needs to be freed. */
struct batch builder_done(struct builder *d);

/* A graph with a closed form for eigenvalue k, ascending: of D - A, or of the normalised Laplacian. */
struct known_graph {
    const char *name;
    void (*build)(struct builder *d, int64_t n);
    double (*value)(int64_t n, int64_t k, bool normalised);
    bool both;   /* has a closed form for the normalised Laplacian too */
    bool simple; /* no eigenvalue is multiple */
    bool smooth; /* the wanted eigenvalues lie far below the bound */
};

/* Terminated by a row without a name. */
extern const struct known_graph known_graphs[];

/* All eigenvalues of graph g's Laplacian, ascending, in double. Free them. */
double *spectrum_of(const struct batch *b, int64_t g, bool normalised);

#endif
