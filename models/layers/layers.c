/* The layers. Each function follows the equations in layers.h. */
#include "models/layers/layers.h"

static const double norm_eps = 1e-5;
static const double l2_eps = 1e-24;

struct affine {
    struct mat w, b;
};

/* Weight and bias of a linear layer, in a span of their own. */
static struct affine affine(struct tape *t, const char *name, int64_t inputs, int64_t width)
{
    struct affine a;
    span_enter(t, name);
    a.w = param(t, "weight", width, inputs, inputs);
    a.b = param(t, "bias", 1, width, inputs);
    span_leave(t);
    return a;
}

/* Creates y if it is absent. */
static struct mat linear_as(struct tape *t, const char *name, struct mat y, struct mat x, int64_t width,
                            enum activation act)
{
    struct affine a = affine(t, name, x.cols, width);
    span_enter(t, name);
    y = op(t, linear, .y = y, .x = x, .w = a.w, .b = a.b, .act = act)->y;
    span_leave(t);
    return y;
}

struct mat linear(struct tape *t, const char *name, struct mat x, int64_t width, enum activation act)
{
    return linear_as(t, name, (struct mat){0}, x, width, act);
}

void linear_to(struct tape *t, const char *name, struct mat y, struct mat x, enum activation act)
{
    linear_as(t, name, y, x, y.cols, act);
}

void linear_unused(struct tape *t, const char *name, int64_t inputs, int64_t width)
{
    affine(t, name, inputs, width);
}

struct mat dropout(struct tape *t, const char *name, struct mat x, double p)
{
    if (p == 0 || !tape_config(t)->training)
        return x;
    uint64_t key = tape_key(t, name);
    span_enter(t, name);
    struct mat y = op(t, dropout, .x = x, .schedule = tape_schedule(t), .key = key, .p = p)->y;
    span_leave(t);
    return y;
}

struct mat mlp(struct tape *t, enum mlp_kind kind, struct mat x, int64_t hidden, enum activation act,
               double p)
{
    if (kind == MLP_UNFUSED) {
        struct mat h = dropout(t, "dropout_up", linear(t, "up", x, hidden, act), p);
        return dropout(t, "dropout_down", linear(t, "down", h, x.cols, ACT_NONE), p);
    }
    struct affine up = affine(t, "up", x.cols, hidden), down = affine(t, "down", hidden, x.cols);
    return op(t, mlp, .x = x, .up = up.w, .b = up.b, .down = down.w, .c = down.b, .act = act)->y;
}

struct mat ffn(struct tape *t, const char *name, enum mlp_kind kind, struct mat x, int64_t hidden,
               enum activation act, double p)
{
    span_enter(t, name);
    struct mat y = mlp(t, kind, x, hidden, act, p);
    span_leave(t);
    return y;
}

/* Dropout of the probabilities of attention in training; absent without it. */
struct drop {
    struct mat schedule;
    uint64_t key;
    double p;
};

static struct mat attend_to_senders(struct tape *t, struct mat qkv, const struct structure *s, int heads,
                                    struct drop drop)
{
    int64_t d = qkv.cols / 3;
    struct mat q = mat_cols(qkv, 0, d), kv = with_halo(t, mat_cols(qkv, d, 2 * d), &s->peers);
    struct mat k = mat_cols(kv, 0, d), v = mat_cols(kv, d, d);
    if (s->peers.ranks) /* kv has copies of keys and values: qkv need not wait for the backward pass */
        q = op(t, clone, .x = q)->y;
    return op(t, sparse_attention, .q = q, .k = k, .v = v, .schedule = drop.schedule, .adj = s->adj,
              .heads = heads, .key = drop.key, .p = drop.p)
        ->y;
}

/* With ranks neither dropout nor a mask: models refuse them. */
static struct mat attend_to_graphs(struct tape *t, struct mat qkv, const struct structure *s, int heads,
                                   struct drop drop)
{
    int64_t d = qkv.cols / 3;
    struct mat q = mat_cols(qkv, 0, d), k = mat_cols(qkv, d, d), v = mat_cols(qkv, 2 * d, d);
    if (s->peers.block)
        return ring_attention(t, qkv, &s->peers, &s->graphs, heads);
    if (s->peers.ranks)
        return ulysses_attention(t, qkv, &s->peers, heads);
    return op(t, attention, .q = q, .k = k, .v = v, .m = s->mask, .schedule = drop.schedule, .bias = s->bias,
              .graphs = s->graphs, .heads = heads, .key = drop.key, .p = drop.p)
        ->y;
}

static struct mat attend_in_steps(struct tape *t, struct mat qkv, const struct structure *s, int heads,
                                  double p)
{
    int64_t d = qkv.cols / 3;
    struct mat q = mat_cols(qkv, 0, d), k = mat_cols(qkv, d, d), v = mat_cols(qkv, 2 * d, d);
    struct mat scores = op(t, attention_scores, .q = q, .k = k, .graphs = s->graphs, .heads = heads)->s;
    struct mat kept = dropout(t, "dropout", op(t, attention_softmax, .s = scores, .graphs = s->graphs)->p, p);
    return op(t, attention_values, .p = kept, .v = v, .graphs = s->graphs, .heads = heads)->y;
}

static struct mat attend(struct tape *t, enum attention_kind kind, struct mat qkv, const struct structure *s,
                         int heads, double p)
{
    struct drop drop = {0};
    if (kind == ATTENTION_UNFUSED)
        return attend_in_steps(t, qkv, s, heads, p);
    if (p > 0 && tape_config(t)->training)
        drop = (struct drop){tape_schedule(t), tape_key(t, "dropout"), p};
    return (kind == ATTENTION_SPARSE ? attend_to_senders : attend_to_graphs)(t, qkv, s, heads, drop);
}

/* x weight': N x width. */
static struct mat linear_no_bias(struct tape *t, const char *name, struct mat x, int64_t width)
{
    span_enter(t, name);
    struct mat w = param(t, "weight", width, x.cols, x.cols);
    struct mat y = op(t, linear, .x = x, .w = w, .act = ACT_NONE)->y;
    span_leave(t);
    return y;
}

static struct mat linear_attention(struct tape *t, const char *name, enum attention_kind kind, struct mat x,
                                   const struct structure *s, int heads, double drop)
{
    bool exponential = kind == ATTENTION_PERFORMER;
    enum features features = exponential ? FEATURES_EXP : FEATURES_RELU;
    int64_t i = heads * PERFORMER_WIDTH;
    span_enter(t, name);
    struct mat qkv = linear_no_bias(t, "qkv", x, 3 * i);
    struct mat q = mat_cols(qkv, 0, i), k = mat_cols(qkv, i, i), v = mat_cols(qkv, 2 * i, i);
    struct mat w = input_orthogonal(t, "projection", PERFORMER_FEATURES, PERFORMER_WIDTH, features);
    const struct performer_keys_args *keys = op(t, performer_keys, .k = k, .v = v, .w = w,
                                                .graphs = s->graphs, .heads = heads, .features = features);
    struct mat sum = op(t, sum_pool, .x = v, .graphs = s->graphs)->y;
    struct mat y =
        op(t, performer_attention, .q = q, .s = keys->s, .l = keys->l, .top = keys->top, .sum = sum, .w = w,
           .graphs = s->graphs, .heads = heads, .features = features, .eps = exponential ? 1e-4 : 1e-3)
            ->y;
    y = dropout(t, "dropout", linear(t, "out", y, x.cols, ACT_NONE), drop);
    span_leave(t);
    return y;
}

struct mat attention(struct tape *t, const char *name, enum attention_kind kind, struct mat x,
                     const struct structure *s, int heads, double drop)
{
    if (attention_is_linear(kind))
        return linear_attention(t, name, kind, x, s, heads, drop);
    span_enter(t, name);
    struct mat qkv = linear(t, "qkv", x, 3 * x.cols, ACT_NONE);
    struct mat y = linear(t, "out", attend(t, kind, qkv, s, heads, drop), x.cols, ACT_NONE);
    span_leave(t);
    return y;
}

struct mat gin(struct tape *t, const char *name, enum mlp_kind kind, struct mat x, const struct structure *s,
               enum activation act)
{
    span_enter(t, name);
    struct mat sum = op(t, spmm, .x = with_halo(t, x, &s->peers), .adj = s->adj, .self = 1)->y;
    struct mat y = mlp(t, kind, sum, x.cols, act, 0);
    span_leave(t);
    return y;
}

/* s is null where all rows are this rank's. */
static struct mat normalise_batch(struct tape *t, struct mat x, struct mat gain, struct mat bias,
                                  const struct structure *s)
{
    struct mat mean = state(t, "running_mean", 1, x.cols, 0), var = state(t, "running_var", 1, x.cols, 1);
    const double momentum = 0.1;
    if (!tape_config(t)->training)
        return op(t, batch_norm_inference, .x = x, .gain = gain, .bias = bias, .running_mean = mean,
                  .running_var = var, .eps = norm_eps)
            ->y;
    if (s && mat_present(s->peers.norm_entries))
        return norm_over_ranks(t, x, gain, bias, &s->peers,
                               (struct norm_state){mean, var, momentum, norm_eps});
    return op(t, batch_norm, .x = x, .gain = gain, .bias = bias, .running_mean = mean, .running_var = var,
              .eps = norm_eps, .momentum = momentum)
        ->y;
}

struct mat batch_norm(struct tape *t, const char *name, struct mat x)
{
    span_enter(t, name);
    struct mat gain = param_constant(t, "weight", 1, x.cols, 1);
    struct mat bias = param_constant(t, "bias", 1, x.cols, 0);
    struct mat y = normalise_batch(t, x, gain, bias, NULL);
    span_leave(t);
    return y;
}

void batch_norm_unused(struct tape *t, const char *name, int64_t width)
{
    span_enter(t, name);
    param_constant(t, "weight", 1, width, 1);
    param_constant(t, "bias", 1, width, 0);
    span_leave(t);
}

/* Norm(x + branch), or Norm(x) if there is no branch. */
static struct mat normalise(struct tape *t, enum norm_kind kind, struct mat x, struct mat branch,
                            const struct structure *s)
{
    bool adds = mat_present(branch), fused = adds && kind == NORM_LAYER;
    struct mat h = adds && !fused ? op(t, add, .a = x, .b = branch)->y : x;
    if (kind == NORM_NONE)
        return h;
    struct mat gain = param_constant(t, "weight", 1, x.cols, 1);
    struct mat bias = param_constant(t, "bias", 1, x.cols, 0);
    if (fused)
        return op(t, add_layer_norm, .a = x, .b = branch, .gain = gain, .bias = bias, .eps = norm_eps)->y;
    if (kind == NORM_LAYER)
        return op(t, layer_norm, .x = h, .gain = gain, .bias = bias, .eps = norm_eps)->y;
    if (kind == NORM_BATCH)
        return normalise_batch(t, h, gain, bias, s);
    if (mat_present(s->peers.norm_entries))
        return norm_over_ranks(t, h, gain, bias, &s->peers, (struct norm_state){.eps = norm_eps});
    return op(t, graph_norm, .x = h, .gain = gain, .bias = bias, .graphs = s->graphs, .eps = norm_eps)->y;
}

struct mat add_norm(struct tape *t, const char *name, enum norm_kind kind, struct mat x, struct mat branch,
                    const struct structure *s)
{
    span_enter(t, name);
    struct mat y = normalise(t, kind, x, branch, s);
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

struct mat l2_norm(struct tape *t, struct mat x)
{
    return op(t, l2_norm, .x = x, .eps = l2_eps)->y;
}

void l2_norm_to(struct tape *t, struct mat y, struct mat x)
{
    op(t, l2_norm, .y = y, .x = x, .eps = l2_eps);
}

struct mat pool_nodes(struct tape *t, const char *name, enum pool_kind kind, struct mat x,
                      const struct structure *s)
{
    if (!mat_present(s->mask))
        return pool(t, name, kind, x, &s->graphs);
    if (kind == POOL_MAX)
        return max_over_ranks(t, name, x, &s->peers);
    struct mat own = op(t, scale_rows, .x = x, .w = kind == POOL_MEAN ? s->share : s->mask)->y;
    struct mat y = pool(t, name, POOL_SUM, own, &s->graphs);
    return s->peers.ranks ? sum_over_ranks(t, y) : y;
}

struct mat mean_squared_error(struct tape *t, const char *name, struct mat y, struct mat target)
{
    span_enter(t, name);
    struct mat loss = op(t, mean_error, .y = y, .target = target, .power = 2)->loss;
    span_leave(t);
    return loss;
}

struct mat mean_absolute_error(struct tape *t, const char *name, struct mat y, struct mat target)
{
    span_enter(t, name);
    struct mat loss = op(t, mean_error, .y = y, .target = target, .power = 1)->loss;
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

struct mat binary_cross_entropy(struct tape *t, const char *name, struct mat y, struct mat label)
{
    span_enter(t, name);
    struct mat loss = op(t, binary_cross_entropy, .y = y, .label = label)->loss;
    span_leave(t);
    return loss;
}
