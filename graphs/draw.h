/* Batches of graphs of a family, and the parts of them that ranks have. Errors as of batch_generate. */
#ifndef GTMARK_GRAPHS_DRAW_H
#define GTMARK_GRAPHS_DRAW_H

#include <stddef.h>

#include "graphs/batch.h"
#include "graphs/name.h"

/* Everything but the edges: see batch_shape. */
bool draw_shape(struct batch *b, const struct graph_config *c, const struct graph_name *n, char *error,
                size_t error_size);

/* The batch, or the graphs of one rank. */
bool draw_batch(struct batch *b, const struct graph_config *c, const struct graph_name *n, char *error,
                size_t error_size);

/*
 * The part of a rank that has nodes (graphs/halo.h), the same as batch_divide leaves of the whole. Every rank
 * draws the graphs of which it has nodes, and keeps the edges to these.
 */
bool draw_part(struct batch *b, const struct graph_config *c, const struct graph_name *n, char *error,
               size_t error_size);

/* What takes the edges of graphs while they are drawn; begins a struct of its own. */
struct edge_taker {
    bool (*wants)(const struct edge_taker *d, const struct graph_spec *s);
    /* Takes s->end - s->begin undirected edges of a graph, in both directions. */
    bool (*take)(struct edge_taker *d, const struct graph_spec *s, const uint64_t *edge, char *error,
                 size_t error_size);
    int64_t bytes; /* of what draws */
};

/* Draws the wanted graphs of a batch: in blocks if the family is `ranged`, otherwise graph by graph. */
bool draw_in_blocks(struct edge_taker *d, struct batch *b, const struct graph_config *c,
                    const struct graph_name *n, char *error, size_t error_size);

/* What to draw as graph g of a batch with offsets. */
struct graph_spec draw_spec(const struct batch *b, const struct graph_config *c, const struct graph_name *n,
                            int64_t g);

#endif
