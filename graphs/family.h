/*
 * Families of random graphs, by name, and how a graph from a file is named.
 */
#ifndef GTMARK_GRAPHS_FAMILY_H
#define GTMARK_GRAPHS_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A way to make one undirected graph, each edge in both directions. The functions have the contract of
 * er_edges and er_draw (graphs/er.h).
 */
struct graph_family {
    const char *name;
    int64_t (*edges)(int64_t nodes, double degree);
    bool (*draw)(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key);
    bool uses_degree; /* or the number of nodes says all */
    bool simple;      /* without repeated edges, so that nodes - 1 bounds the degree */
    int node_bytes;   /* what draw needs beside the edges, for each node */
    const char *doc;
};

/* All families; ends with a row without a name. */
extern const struct graph_family graph_families[];

/* Whether a name asks for the largest component of each graph alone: that of a family with ":giant" behind.
 */
bool graph_is_giant(const char *name);

/* Null if there is none of that name, with or without ":giant". */
const struct graph_family *graph_family_named(const char *name);

/* Whether the degree asked for is more than a graph of this size can have. */
bool graph_family_clamps(const struct graph_family *f, int64_t nodes, double degree);

/*
 * Whether a graph_config can have this family: a name of graph_families, also with ":giant", "file:PATH" or
 * "undirected:PATH". Does not look at the file.
 */
bool graph_family_known(const char *name);

/* Whether `family` names a file of edges: "file:..." (one direction a line) or "undirected:..." (both). */
bool graph_is_file(const char *family);

#endif
