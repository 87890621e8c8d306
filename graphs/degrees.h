/* Statistics of the in-degrees of a graph, its self-loops and duplicate edges. */
#ifndef GTMARK_GRAPHS_DEGREES_H
#define GTMARK_GRAPHS_DEGREES_H

#include "graphs/csr.h"

struct degrees {
    int64_t min, max;
    double mean, std;    /* over all nodes: of the population */
    int64_t median, p99; /* nearest rank: the smallest degree that 50 %, 99 % of the nodes do not exceed */
    int64_t isolated;    /* nodes without in-edges */
    int64_t self_loops;  /* edges from a node to itself, each occurrence */
    int64_t duplicates;  /* edges beyond the first with the same ends */
};

/* Over all nodes, of which g has at least one. Allocates nothing. */
struct degrees csr_degrees(const struct csr *g);

#endif
