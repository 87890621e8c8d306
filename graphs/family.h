/* Families of graphs, by name, and shapes: synthetic stand-ins for the graphs of data sets, with their
 * published averages. */
#ifndef GTMARK_GRAPHS_FAMILY_H
#define GTMARK_GRAPHS_FAMILY_H

#include <stddef.h>

#include "graphs/spec.h"

/* A number that shapes the graphs of a family beside nodes and degree. */
struct graph_parameter {
    const char *name;
    double standard, least, most;
    bool whole;
    const char *doc;
};

/*
 * Generates one undirected graph, each edge in both directions. The functions are specified as er_edges and
 * er_draw (graphs/er.h).
 */
struct graph_family {
    const char *name;
    int64_t (*edges)(const struct graph_spec *g);
    bool (*draw)(uint64_t *edge, const struct graph_spec *g);
    bool uses_degree; /* otherwise it is ignored */
    bool simple;      /* without repeated edges, so that nodes - 1 bounds the degree */
    const char *doc;
    bool ranged; /* it can draw a range of its edges (struct graph_spec), each independently of the others */
    int64_t (*scratch)(const struct graph_spec *g); /* bytes that draw needs beside the edges; null: none */
    struct graph_parameter parameter[GRAPH_PARAMETERS]; /* name null past the last */
};

/* All families; the last row has no name. */
extern const struct graph_family graph_families[];

/* The family with that name; null if there is none. */
const struct graph_family *graph_family_named(const char *name);

/* How many parameters a family has. */
int graph_family_parameters(const struct graph_family *f);

/* Whether the requested degree is more than a graph of this size can have. */
bool graph_family_clamps(const struct graph_family *f, int64_t nodes, double degree);

/*
 * Graphs with the mean sizes of a data set: of a family, with parameters for which a large batch has the
 * published mean number of edges. Nodes and degree are the shape's.
 */
struct graph_shape {
    const char *name;
    const char *graph;   /* the family with its parameters, as graph_name_text writes it */
    double nodes, edges; /* mean number of nodes and of directed edges of a graph */
    const char *doc;
};

/* All shapes; the last row has no name. */
extern const struct graph_shape graph_shapes[];

/* The mean degree of the graphs of a shape. */
double graph_shape_degree(const struct graph_shape *s);

#endif
