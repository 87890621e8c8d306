/*
 * Names of graphs:
 *
 *     FAMILY[:KEY=VALUE[,KEY=VALUE]...][:giant]     a family of graph_families, with its parameters
 *     SHAPE[:giant]                                 a shape of graph_shapes
 *     file:PATH                                     a file of edges, as they are there
 *     undirected:PATH                               with the edge back to each
 *     unique:PATH                                   in addition each edge once, however often the file has it
 *     names:PATH                                    as file:, of an edge list whose nodes have names; also
 *                                                   after another: undirected:names:PATH
 *
 * With ":giant" each graph is reduced to its largest component.
 */
#ifndef GTMARK_GRAPHS_NAME_H
#define GTMARK_GRAPHS_NAME_H

#include "graphs/family.h"

struct graph_name {
    const struct graph_family *family; /* null: a file */
    const struct graph_shape *shape;   /* null: none */
    double value[GRAPH_PARAMETERS];    /* of the family's parameters */
    bool giant;
};

/*
 * Reads a name. False with a line in error; n->family is then null if there is no such family or shape, and
 * otherwise the one whose parameters are wrong. Does not open files.
 */
bool graph_name_read(const char *text, struct graph_name *n, char *error, size_t error_size);

enum { GRAPH_NAME_TEXT = 128, GRAPH_NAME_ERROR = 512 /* room for both */ };

/*
 * The name of a family or shape in its shortest form: parameters in the order of the family's, only those
 * that have another value than by default, each with as few digits as give that value. The same graphs have
 * the same text.
 */
void graph_name_text(const struct graph_name *n, char text[GRAPH_NAME_TEXT]);

/* A name of a file of edges. */
struct graph_file_name {
    const char *path; /* in the name */
    bool undirected, unique, names;
};

/* Whether `text` is one; then also which, unless n is null. */
bool graph_file_name(const char *text, struct graph_file_name *n);

static inline bool graph_is_file(const char *text)
{
    return graph_file_name(text, NULL);
}

/* The shape of a name; null if it has none, or is not a name. */
const struct graph_shape *graph_shape_of(const char *text);

#endif
