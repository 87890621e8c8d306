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

struct mat attention(struct tape *t, const char *name, struct mat x, const struct offsets *graphs, int heads)
{
    span_enter(t, name);
    int64_t d = x.cols;
    struct mat qkv = linear(t, "qkv", x, 3 * d, ACT_NONE);
    struct mat q = mat_cols(qkv, 0, d), k = mat_cols(qkv, d, d), v = mat_cols(qkv, 2 * d, d);
    struct mat y = op(t, attention, .q = q, .k = k, .v = v, .graphs = *graphs, .heads = heads)->y;
    y = linear(t, "out", y, d, ACT_NONE);
    span_leave(t);
    return y;
}

struct mat add_norm(struct tape *t, const char *name, struct mat x, struct mat branch)
{
    span_enter(t, name);
    struct mat gain = param_constant(t, "weight", 1, x.cols, 1);
    struct mat bias = param_constant(t, "bias", 1, x.cols, 0);
    struct mat h = op(t, add, .a = x, .b = branch)->y;
    struct mat y = op(t, layer_norm, .x = h, .gain = gain, .bias = bias, .eps = 1e-5)->y;
    span_leave(t);
    return y;
}

struct mat mean_pool(struct tape *t, const char *name, struct mat x, const struct offsets *graphs)
{
    span_enter(t, name);
    struct mat y = op(t, mean_pool, .x = x, .graphs = *graphs)->y;
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
