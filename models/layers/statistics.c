/*
 * Norms of rows that several ranks have: two sums over the ranks, of the entries and of their squared
 * distances from the mean; the backward pass, in models/tape/rules.c, has a third.
 */
#include "kernels/ranks.h"
#include "models/layers/layers.h"
#include "models/tape/tape_internal.h"

/* Batch norm: all nodes as one graph. */
static struct statistics of_batch(struct tape *t, const struct batch *b)
{
    int64_t *at = arena_alloc(t->metadata, 2 * sizeof *at);
    double *entries = arena_alloc(t->metadata, sizeof *entries);
    at[0] = 0;
    at[1] = b->part.empty ? 0 : b->adj.nodes;
    entries[0] = (double)b->part.nodes;
    return (struct statistics){{input_copy(t, "norm.rows", I64, 2, 1, at), 0},
                               input_copy(t, "norm.entries", F64, 1, 1, entries)};
}

/* Graph norm: the own nodes of each graph. */
static struct statistics of_graphs(struct tape *t, const struct batch *b, struct offsets own, int64_t width)
{
    double *entries = arena_alloc(t->metadata, (size_t)b->graphs * sizeof *entries);
    for (int64_t g = 0; g < b->graphs; g++)
        entries[g] = (double)((b->halo.offset[g + 1] - b->halo.offset[g]) * width);
    return (struct statistics){own, input_copy(t, "norm.entries", F64, b->graphs, 1, entries)};
}

void norm_statistics(struct tape *t, struct structure *s, const struct batch *b, enum norm_kind kind,
                     int64_t width)
{
    const struct ranks *r = tape_config(t)->ranks;
    if (r && r->count > 1 && kind == NORM_BATCH)
        s->statistics = of_batch(t, b);
    else if (s->division.ranks > 1 && kind == NORM_GRAPH)
        s->statistics = of_graphs(t, b, s->division.own, width);
}

struct mat norm_over_ranks(struct tape *t, struct mat x, struct mat gain, struct mat bias,
                           const struct structure *s, struct norm_state state)
{
    struct offsets rows = s->statistics.rows;
    struct mat n = s->statistics.entries;
    bool batch = mat_present(state.mean);
    struct mat sum = tape_matrix(t, n.rows, batch ? x.cols : 1);
    op(t, norm_sums, .y = sum, .x = x, .n = n, .graphs = rows);
    sum = tape_sum_ranks(t, sum);
    struct mat squares = op(t, norm_sums, .x = x, .sum = sum, .n = n, .graphs = rows)->y;
    squares = tape_sum_ranks(t, squares);
    if (batch)
        op(t, move_statistics, .running_mean = state.mean, .running_var = state.var, .sum = sum,
           .squares = squares, .n = n, .momentum = state.momentum);
    return op(t, norm_by_sums, .x = x, .sum = sum, .squares = squares, .n = n, .gain = gain, .bias = bias,
              .graphs = rows, .eps = state.eps)
        ->y;
}
