/* GCN, GATv2 and PNA. Each function follows the equations in layers.h. */
#include "models/layers/layers.h"

struct mat gcn_weights(struct tape *t, const char *name, const struct edges *adj)
{
    span_enter(t, name);
    struct mat w = op(t, gcn_weights, .adj = *adj)->w;
    span_leave(t);
    return w;
}

/* The sum comes first: it is linear in the rows, and the bias of the product is added once. */
struct mat gcn(struct tape *t, const char *name, struct mat x, const struct structure *s)
{
    span_enter(t, name);
    struct mat sum = op(t, gcn_sum, .x = x, .w = s->gcn, .adj = s->adj)->y;
    struct mat y = linear(t, "linear", sum, x.cols, ACT_NONE);
    span_leave(t);
    return y;
}

struct mat gatv2(struct tape *t, const char *name, struct mat x, const struct edges *adj, int heads)
{
    int64_t d = x.cols;
    span_enter(t, name);
    struct mat lr = linear(t, "lr", x, 2 * d, ACT_NONE);
    struct mat att = param(t, "att", 1, d, d / heads), bias = param(t, "bias", 1, d, d);
    struct mat y = op(t, gatv2, .l = mat_cols(lr, 0, d), .r = mat_cols(lr, d, d), .att = att, .b = bias,
                      .adj = *adj, .heads = heads, .slope = 0.2)
                       ->y;
    span_leave(t);
    return y;
}

/* A linear layer of two rows side by side, of d columns and more: x w[:, :d]' + z w[:, d:]' + b. */
struct pair {
    struct mat x, z;
};

static struct pair linear_of_pair(struct tape *t, const char *name, struct mat x, struct mat z, int64_t width)
{
    int64_t inputs = x.cols + z.cols;
    span_enter(t, name);
    struct mat w = param(t, "weight", width, inputs, inputs);
    struct mat b = param(t, "bias", 1, width, inputs);
    struct pair p;
    p.x = op(t, linear, .x = x, .w = mat_cols(w, 0, x.cols), .b = b)->y;
    p.z = op(t, linear, .x = z, .w = mat_cols(w, x.cols, z.cols))->y;
    span_leave(t);
    return p;
}

struct mat pna(struct tape *t, const char *name, struct mat x, const struct edges *adj)
{
    int64_t n = x.rows, d = x.cols;
    span_enter(t, name);
    struct pair message = linear_of_pair(t, "pre", x, x, d);
    struct mat all = tape_matrix(t, n, 3 * d);
    op(t, pna_pool, .mean = mat_cols(all, 0, d), .max = mat_cols(all, d, d), .sum = mat_cols(all, 2 * d, d),
       .a = message.x, .b = message.z, .adj = *adj);
    struct pair h = linear_of_pair(t, "post", x, all, d);
    struct mat y = linear(t, "out", op(t, add, .a = h.x, .b = h.z)->y, d, ACT_NONE);
    span_leave(t);
    return y;
}
