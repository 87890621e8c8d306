/*
 * Norms of rows that several ranks have: two sums over the ranks, of the entries and of their squared
 * distances from the mean; the backward pass has a third. A rank reads its rows once for both.
 */
#include "kernels/ranks.h"
#include "models/parallel/parallel.h"
#include "models/tape/tape_internal.h"

/* Entries of each group, on all ranks and on this one, to be set. */
static double *entries(struct tape *t, struct mat *m, const char *name, int64_t groups)
{
    double *at = arena_alloc(t->metadata, (size_t)groups * sizeof *at);
    *m = input_copy(t, name, F64, groups, 1, at);
    return at;
}

/* Statistics are wide. */
static struct mat statistics(struct tape *t, int64_t rows, int64_t cols)
{
    return tape_storage(t, MEMORY_ACTIVATIONS, tape_wide(t), rows, cols, NULL);
}

/* Batch norm: all nodes as one graph. */
static void of_batch(struct tape *t, struct peers *p, const struct batch *b)
{
    int64_t *at = arena_alloc(t->metadata, 2 * sizeof *at);
    at[0] = 0;
    at[1] = b->part.empty ? 0 : b->adj.nodes;
    p->norm_rows = (struct offsets){input_copy(t, "norm.rows", I64, 2, 1, at), 0};
    *entries(t, &p->norm_entries, "norm.entries", 1) = (double)b->part.nodes;
    *entries(t, &p->norm_own, "norm.own", 1) = (double)at[1];
}

/* Graph norm: the own nodes of each graph. */
static void of_graphs(struct tape *t, struct peers *p, const struct batch *b, int64_t width)
{
    double *all = entries(t, &p->norm_entries, "norm.entries", b->graphs);
    double *own = entries(t, &p->norm_own, "norm.own", b->graphs);
    for (int64_t g = 0; g < b->graphs; g++) {
        all[g] = (double)((b->halo.offset[g + 1] - b->halo.offset[g]) * width);
        own[g] = b->part.empty ? 0 : (double)((b->offset[g + 1] - b->offset[g]) * width);
    }
    p->norm_rows = p->own;
}

void norm_inputs(struct tape *t, struct peers *p, const struct batch *b, bool batch, int64_t width)
{
    const struct ranks *r = tape_config(t)->part.ranks;
    if (batch && r && r->count > 1)
        of_batch(t, p, b);
    else if (!batch && p->ranks > 1)
        of_graphs(t, p, b, width);
}

/* The sums' part of the gradient is in it: norm_sums has no rule. Those of gain and bias are summed with all
 * others. */
static void norm_rule(struct tape *t, const void *args)
{
    const struct norm_by_sums_args *a = args;
    int64_t graphs = a->sum.rows;
    struct mat sums = statistics(t, 2 * graphs, a->sum.cols), dy = grad_from(t, a->y);
    op(t, norm_gradient_sums, .s = mat_rows(sums, 0, graphs), .t = mat_rows(sums, graphs, graphs),
       .dgain = grad_into(t, a->gain), .dbias = grad_into(t, a->bias), .dy = dy, .x = a->x, .gain = a->gain,
       .sum = a->sum, .squares = a->squares, .n = a->n, .graphs = a->graphs, .eps = a->eps);
    sums = op(t, sum_ranks, .x = sums)->y;
    op(t, norm_gradient, .dx = grad_into(t, a->x), .dy = dy, .x = a->x, .gain = a->gain, .sum = a->sum,
       .squares = a->squares, .s = mat_rows(sums, 0, graphs), .t = mat_rows(sums, graphs, graphs), .n = a->n,
       .graphs = a->graphs, .eps = a->eps);
}

struct mat norm_over_ranks(struct tape *t, struct mat x, struct mat gain, struct mat bias,
                           const struct peers *p, struct norm_state state)
{
    struct offsets rows = p->norm_rows;
    struct mat n = p->norm_entries;
    bool batch = mat_present(state.mean);
    struct mat own = statistics(t, n.rows, batch ? x.cols : 1), squares = statistics(t, n.rows, own.cols);
    op(t, norm_sums, .sum = own, .squares = squares, .x = x, .graphs = rows);
    struct mat sum = op(t, sum_ranks, .x = own)->y;
    squares = op(t, norm_shift, .sum = own, .squares = squares, .total = sum, .own = p->norm_own, .n = n)->y;
    squares = op(t, sum_ranks, .x = squares)->y;
    if (batch)
        op(t, move_statistics, .running_mean = state.mean, .running_var = state.var, .sum = sum,
           .squares = squares, .n = n, .momentum = state.momentum);
    struct mat y = op(t, norm_by_sums, .x = x, .sum = sum, .squares = squares, .n = n, .gain = gain,
                      .bias = bias, .graphs = rows, .eps = state.eps)
                       ->y;
    tape_rule(t, norm_rule);
    return y;
}
