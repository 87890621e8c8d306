/*
 * Message passing with a state of the edges: GINE and GatedGCN; in mpnn.c GATv2 and PNA. Each function
 * follows the equations in layers.h.
 *
 * Without any edges there is no edge state, which would have no rows: its layers only declare their
 * parameters.
 */
#include "models/layers/layers.h"

#include <stdio.h>

struct mat gine(struct tape *t, const char *name, enum mlp_kind kind, struct mat x, const struct structure *s,
                enum activation act)
{
    span_enter(t, name);
    struct mat sum = op(t, gine, .x = x, .e = s->edge, .adj = s->adj, .self = 1)->y;
    struct mat y = mlp(t, kind, sum, x.cols, act, 0);
    span_leave(t);
    return y;
}

struct mat edge_linear(struct tape *t, const char *name, struct mat edge, int64_t width)
{
    if (mat_present(edge))
        return linear(t, name, edge, width, ACT_NONE);
    linear_unused(t, name, width, width);
    return edge;
}

/* x + dropout(act(BatchNorm(h))), for `what`: "node" or "edge" */
static struct mat add_activated(struct tape *t, const char *what, struct mat x, struct mat h,
                                enum activation act, double p)
{
    char norm[16], drop[16];
    snprintf(norm, sizeof norm, "norm_%s", what);
    snprintf(drop, sizeof drop, "dropout_%s", what);
    struct mat z = batch_norm(t, norm, h);
    struct mat y = dropout(t, drop, op(t, activate, .x = z, .act = act)->y, p);
    return op(t, add, .a = x, .b = y)->y;
}

struct mat gatedgcn(struct tape *t, const char *name, struct mat x, struct structure *s, enum activation act,
                    double p)
{
    int64_t d = x.cols;
    span_enter(t, name);
    struct mat nodes = linear(t, "nodes", x, 4 * d, ACT_NONE);
    struct mat own = mat_cols(nodes, 0, d), sent = mat_cols(nodes, d, d);
    struct mat receiver = mat_cols(nodes, 2 * d, d), sender = mat_cols(nodes, 3 * d, d);
    struct mat h = edge_linear(t, "edge", s->edge, d);
    if (mat_present(h))
        h = op(t, edge_add, .a = receiver, .b = sender, .c = h, .adj = s->adj)->y;
    struct mat mean = op(t, gated_mean, .h = h, .b = sent, .adj = s->adj, .eps = 1e-6)->y;
    struct mat sum = op(t, add, .a = own, .b = mean)->y;
    struct mat y = add_activated(t, "node", x, sum, act, p);
    if (mat_present(h) && !s->edge_ends)
        s->edge = add_activated(t, "edge", s->edge, h, act, p);
    else
        batch_norm_unused(t, "norm_edge", d);
    span_leave(t);
    return y;
}
