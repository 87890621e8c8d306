/* The layers, each about as long as its equations. */
#include "models/layers.h"

struct mat linear(struct tape *t, const char *name, struct mat x, int64_t width, enum activation act)
{
    span_enter(t, name);
    struct mat w = param(t, "weight", width, x.cols, x.cols);
    struct mat b = param(t, "bias", 1, width, x.cols);
    struct mat y = op(t, linear, .x = x, .w = w, .b = b, .act = act)->y;
    span_leave(t);
    return y;
}

struct mat mlp(struct tape *t, const char *name, struct mat x, int64_t hidden, int64_t width,
               enum activation act)
{
    span_enter(t, name);
    struct mat h = linear(t, "up", x, hidden, act);
    struct mat y = linear(t, "down", h, width, ACT_NONE);
    span_leave(t);
    return y;
}

static struct mat attend(struct tape *t, enum attention_kind kind, struct mat qkv, const struct structure *s,
                         int heads)
{
    int64_t d = qkv.cols / 3;
    struct mat q = mat_cols(qkv, 0, d), k = mat_cols(qkv, d, d), v = mat_cols(qkv, 2 * d, d);
    if (kind == ATTENTION_SPARSE)
        return op(t, sparse_attention, .q = q, .k = k, .v = v, .adj = s->adj, .heads = heads)->y;
    if (kind == ATTENTION_DENSE)
        return op(t, attention, .q = q, .k = k, .v = v, .graphs = s->graphs, .heads = heads)->y;
    struct mat scores = op(t, attention_scores, .q = q, .k = k, .graphs = s->graphs, .heads = heads)->s;
    struct mat p = op(t, attention_softmax, .s = scores, .graphs = s->graphs)->p;
    return op(t, attention_values, .p = p, .v = v, .graphs = s->graphs, .heads = heads)->y;
}

struct mat attention(struct tape *t, const char *name, enum attention_kind kind, struct mat x,
                     const struct structure *s, int heads)
{
    span_enter(t, name);
    struct mat qkv = linear(t, "qkv", x, 3 * x.cols, ACT_NONE);
    struct mat y = linear(t, "out", attend(t, kind, qkv, s, heads), x.cols, ACT_NONE);
    span_leave(t);
    return y;
}

struct mat gin(struct tape *t, const char *name, struct mat x, const struct edges *adj, enum activation act)
{
    span_enter(t, name);
    struct mat sum = op(t, spmm, .x = x, .adj = *adj, .self = 1)->y;
    struct mat h = linear(t, "up", sum, x.cols, act);
    struct mat y = linear(t, "down", h, x.cols, ACT_NONE);
    span_leave(t);
    return y;
}

static struct mat batch_norm(struct tape *t, struct mat x, struct mat gain, struct mat bias, double eps)
{
    struct mat mean = state(t, "running_mean", 1, x.cols, 0), var = state(t, "running_var", 1, x.cols, 1);
    if (tape_config(t)->training)
        return op(t, batch_norm, .x = x, .gain = gain, .bias = bias, .running_mean = mean, .running_var = var,
                  .eps = eps, .momentum = 0.1)
            ->y;
    return op(t, batch_norm_inference, .x = x, .gain = gain, .bias = bias, .running_mean = mean,
              .running_var = var, .eps = eps)
        ->y;
}

static struct mat add_and_norm(struct tape *t, enum norm_kind kind, struct mat x, struct mat branch,
                               const struct structure *s)
{
    const double eps = 1e-5;
    if (kind == NORM_NONE)
        return op(t, add, .a = x, .b = branch)->y;
    struct mat gain = param_constant(t, "weight", 1, x.cols, 1);
    struct mat bias = param_constant(t, "bias", 1, x.cols, 0);
    if (kind == NORM_LAYER)
        return op(t, add_layer_norm, .a = x, .b = branch, .gain = gain, .bias = bias, .eps = eps)->y;
    struct mat h = op(t, add, .a = x, .b = branch)->y;
    if (kind == NORM_BATCH)
        return batch_norm(t, h, gain, bias, eps);
    return op(t, graph_norm, .x = h, .gain = gain, .bias = bias, .graphs = s->graphs, .eps = eps)->y;
}

struct mat add_norm(struct tape *t, const char *name, enum norm_kind kind, struct mat x, struct mat branch,
                    const struct structure *s)
{
    span_enter(t, name);
    struct mat y = add_and_norm(t, kind, x, branch, s);
    span_leave(t);
    return y;
}

struct mat pool(struct tape *t, const char *name, enum pool_kind kind, struct mat x,
                const struct offsets *graphs)
{
    span_enter(t, name);
    struct mat y = kind == POOL_MEAN  ? op(t, mean_pool, .x = x, .graphs = *graphs)->y
                   : kind == POOL_SUM ? op(t, sum_pool, .x = x, .graphs = *graphs)->y
                                      : op(t, max_pool, .x = x, .graphs = *graphs)->y;
    span_leave(t);
    return y;
}

struct mat mean_squared_error(struct tape *t, const char *name, struct mat y, struct mat target)
{
    span_enter(t, name);
    struct mat loss = op(t, mse, .y = y, .target = target)->loss;
    span_leave(t);
    return loss;
}

struct mat cross_entropy(struct tape *t, const char *name, struct mat y, struct mat label)
{
    span_enter(t, name);
    struct mat loss = op(t, cross_entropy, .y = y, .label = label)->loss;
    span_leave(t);
    return loss;
}
