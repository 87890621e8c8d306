#include "models/layers/head.h"

#include <stdio.h>

#include "kernels/rng.h"
#include "models/tape/tape_internal.h"

/* The last linear layer; that of graphs keeps its input, for the error limit of the output. */
static struct mat last_layer(struct tape *t, const char *name, struct mat x, const struct model_config *c)
{
    if (c->task == TASK_GRAPH)
        tape_keep(t, x);
    return linear(t, name, x, c->task == TASK_EDGE ? c->hidden : model_outputs(c), ACT_NONE);
}

static struct mat halving(struct tape *t, struct mat x, const struct model_config *c)
{
    struct mat half = linear(t, "half", x, x.cols / 2, c->act);
    struct mat quarter = linear(t, "quarter", half, x.cols / 4, c->act);
    return last_layer(t, "out", quarter, c);
}

static struct mat unit_rows_mlp(struct tape *t, struct mat x, const struct model_config *c)
{
    for (int n = 1; n < c->head.depth; n++) {
        char name[32];
        snprintf(name, sizeof name, "hidden%d", n);
        x = l2_norm(t, linear(t, name, x, x.cols, c->act));
    }
    return last_layer(t, "out", x, c);
}

static struct mat outputs_of(struct tape *t, struct mat x, const struct model_config *c)
{
    if (c->head.kind == HEAD_LINEAR)
        return last_layer(t, "head", x, c);
    span_enter(t, "head");
    struct mat y = c->head.kind == HEAD_HALVING ? halving(t, x, c) : unit_rows_mlp(t, x, c);
    span_leave(t);
    return y;
}

/* Two nodes of its own graph for each node; null if the batch is only a shape. */
static const int64_t *draw_pairs(struct tape *t, const struct batch *b)
{
    if (!b->adj.row_ptr)
        return NULL;
    int64_t *pairs = arena_alloc(t->metadata, (size_t)(2 * b->adj.nodes) * sizeof *pairs);
    uint64_t key = rng_from(rng_key(t->config.seed, "pairs"), (uint64_t)(2 * b->part.node));
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t first = b->offset[g], size = b->offset[g + 1] - first;
        for (int64_t n = 2 * first; n < 2 * b->offset[g + 1]; n++)
            pairs[n] = first + (int64_t)((rng_bits(key, (uint64_t)n) >> 32) * (uint64_t)size >> 32);
    }
    return pairs;
}

static struct mat pair_products(struct tape *t, struct mat x, const struct batch *b)
{
    struct mat pairs = input_copy(t, "pairs", I64, b->adj.nodes, 2, draw_pairs(t, b));
    struct mat from = op(t, embedding, .table = x, .index = mat_cols(pairs, 0, 1))->y;
    struct mat to = op(t, embedding, .table = x, .index = mat_cols(pairs, 1, 1))->y;
    return op(t, row_dot, .a = from, .b = to)->y;
}

struct mat head(struct tape *t, struct mat x, const struct model_config *c, const struct batch *b)
{
    struct mat y = outputs_of(t, x, c);
    if (c->task != TASK_EDGE)
        return y;
    span_enter(t, "pairs");
    y = pair_products(t, y, b);
    span_leave(t);
    return y;
}
