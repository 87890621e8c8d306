#include "bench/row/parts.h"

#include <stdlib.h>

#include "bench/base/clock.h"
#include "graphs/graph.h"
#include "graphs/order.h"
#include "graphs/part_shapes.h"
#include "kernels/arithmetic.h"

bool parts_divided(const struct config *c)
{
    return c->ranks > 1 && c->parallel != PARALLEL_DATA;
}

struct graph_config parts_graph(const struct config *c)
{
    struct graph_config g = c->graph;
    if (g.by_nodes && c->order)
        g.rank = g.ranks = g.by_nodes = 0;
    return g;
}

/* The batch of all ranks, with its nodes in order. */
static bool make_whole(struct batch *all, const struct config *c, struct message *error)
{
    struct graph_config g = c->graph;
    g.rank = g.ranks = g.by_nodes = 0;
    return batch_generate(all, &g, error->text, sizeof error->text) &&
           batch_order(all, c->order, &g, error->text, sizeof error->text);
}

bool parts_partition(struct partition *p, const struct config *c, double *seconds, int64_t *peak,
                     struct message *error)
{
    struct batch all;
    bool made = make_whole(&all, c, error);
    double begin = clock_now();
    made = made && partition_make(p, &all, &c->graph, c->ranks, error->text, sizeof error->text);
    *seconds = clock_now() - begin;
    *peak = all.peak;
    batch_free(&all);
    return made;
}

/* Of ranks that divide the nodes; nodes that are ordered first are those of the whole batch. */
static bool shape_divided(struct batch *parts, const struct config *c, struct message *error)
{
    struct batch all = {0};
    bool made =
        (!c->order || make_whole(&all, c, error)) &&
        batch_shape_parts(parts, &c->graph, all.adj.row_ptr ? &all : NULL, error->text, sizeof error->text);
    parts->peak = max_of(parts->peak, all.peak);
    batch_free(&all);
    return made;
}

struct batch *parts_shape(const struct config *c, bool *made, struct message *error)
{
    struct graph_config g = c->graph;
    struct batch *parts = calloc((size_t)g.ranks, sizeof *parts);
    if (!parts)
        abort();
    *made = !g.by_nodes || shape_divided(parts, c, error);
    for (g.rank = 0; g.rank < g.ranks && *made && !g.by_nodes; g.rank++)
        *made = batch_shape(&parts[g.rank], &g, error->text, sizeof error->text);
    return parts;
}
