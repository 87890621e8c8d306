/*
 * Families of random graphs by name, and the names of graphs from files.
 */
#ifndef GTMARK_GRAPHS_FAMILY_H
#define GTMARK_GRAPHS_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cancel.h"

/*
 * Generates one undirected graph, each edge in both directions. The functions are specified as er_edges and
 * er_draw (graphs/er.h).
 */
struct graph_family {
    const char *name;
    int64_t (*edges)(int64_t nodes, double degree);
    bool (*draw)(uint64_t *edge, int64_t first, int64_t nodes, double degree, uint64_t key,
                 struct cancel cancel);
    bool uses_degree; /* otherwise the graph depends on the number of nodes alone */
    bool simple;      /* without repeated edges, so that nodes - 1 bounds the degree */
    int node_bytes;   /* that draw needs for each node, beside the edges */
    const char *doc;
};

/* All families; the last row has no name. */
extern const struct graph_family graph_families[];

/* Whether a name asks for the largest component of each graph: a family's name followed by ":giant". */
bool graph_is_giant(const char *name);

/* The family with that name, with or without ":giant"; null if there is none. */
const struct graph_family *graph_family_named(const char *name);

/* Whether the requested degree is more than a graph of this size can have. */
bool graph_family_clamps(const struct graph_family *f, int64_t nodes, double degree);

/*
 * Whether a graph_config can have this family: a name of graph_families, with or without ":giant",
 * "file:PATH" or "undirected:PATH". Does not open the file.
 */
bool graph_family_known(const char *name);

/* Whether `family` names a file of edges: "file:..." (one direction per line) or "undirected:..." (both). */
bool graph_is_file(const char *family);

#endif
