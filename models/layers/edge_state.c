/*
 * Message passing with a state of the edges: GINE and GatedGCN; in mpnn.c GATv2 and PNA. Each function
 * follows the equations in layers.h.
 *
 * Without any edges there is no edge state, which would have no rows: its layers only declare their
 * parameters.
 */
#include "models/layers/layers.h"

#include <stdio.h>

static const double gate_eps = 1e-6;

/* What sigmoid turns into the weights of all edges, E x 1; absent without a place or without edges. */
static struct mat edge_weights(struct tape *t, const struct structure *s, enum activation act)
{
    int64_t d = s->place.cols;
    struct mat w = {0};
    if (!mat_present(s->place))
        return w;
    span_enter(t, "weight");
    if (mat_present(s->edge)) {
        struct mat h = linear(t, "up", op(t, edge_distance, .x = s->place, .adj = s->adj)->y, d, act);
        w = linear(t, "down", h, 1, ACT_NONE);
    } else {
        linear_unused(t, "up", 1, d);
        linear_unused(t, "down", d, 1);
    }
    span_leave(t);
    return w;
}

struct mat gine(struct tape *t, const char *name, enum mlp_kind kind, struct mat x, const struct structure *s,
                enum activation act)
{
    span_enter(t, name);
    struct mat w = edge_weights(t, s, ACT_RELU);
    struct mat sum = op(t, gine, .x = x, .e = s->edge, .g = w, .adj = s->adj, .self = 1)->y;
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
    struct mat w = edge_weights(t, s, act);
    struct mat mean = op(t, gated_mean, .h = h, .b = sent, .g = w, .adj = s->adj, .eps = gate_eps)->y;
    struct mat sum = op(t, add, .a = own, .b = mean)->y;
    struct mat y = add_activated(t, "node", x, sum, act, p);
    if (mat_present(h) && !s->edge_ends)
        s->edge = add_activated(t, "edge", s->edge, h, act, p);
    else
        batch_norm_unused(t, "norm_edge", d);
    span_leave(t);
    return y;
}
