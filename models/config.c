/*
 * Names of a model's parts, and the number of its parameters.
 *
 * Linear(m, n) has n m + n parameters and a norm 2 d. A layer has GIN's two Linear(d, d) with a norm; the
 * four projections of attention with a norm, and then the feed-forward network with its own: 10 d^2 + 15 d
 * for both with an inner width of 2 d.
 */
#include "models/config.h"

static const char *name_at(const char *const *names, int kinds, int kind)
{
    return kind >= 0 && kind < kinds ? names[kind] : NULL;
}

const char *attention_name(int kind)
{
    static const char *const names[ATTENTION_KINDS] = {"none", "dense", "sparse", "unfused"};
    return name_at(names, ATTENTION_KINDS, kind);
}

const char *mpnn_name(int kind)
{
    static const char *const names[MPNN_KINDS] = {"none", "gin"};
    return name_at(names, MPNN_KINDS, kind);
}

const char *norm_name(int kind)
{
    static const char *const names[NORM_KINDS] = {"layer", "batch", "graph", "none"};
    return name_at(names, NORM_KINDS, kind);
}

const char *pool_name(int kind)
{
    static const char *const names[POOL_KINDS] = {"mean", "sum", "max"};
    return name_at(names, POOL_KINDS, kind);
}

const char *task_name(int kind)
{
    static const char *const names[TASK_KINDS] = {"graph", "node"};
    return name_at(names, TASK_KINDS, kind);
}

const char *model_refuses(const struct model_config *c)
{
    if (!c->attention && !c->mpnn)
        return "a layer needs attention or message passing";
    return c->attention && c->hidden % c->heads ? "heads must divide hidden" : NULL;
}

bool model_uses_edges(const struct model_config *c)
{
    return c->mpnn || c->attention == ATTENTION_SPARSE;
}

static int64_t linear_parameters(int64_t inputs, int64_t outputs)
{
    return inputs * outputs + outputs;
}

int64_t model_parameters(const struct model_config *c)
{
    int64_t d = c->hidden, norm = c->norm == NORM_NONE ? 0 : 2 * d, layer = 0;
    if (c->mpnn)
        layer += 2 * linear_parameters(d, d) + norm;
    if (c->attention)
        layer += 4 * linear_parameters(d, d) + norm + linear_parameters(d, c->ffn) +
                 linear_parameters(c->ffn, d) + norm;
    int64_t outputs = c->task == TASK_NODE ? CLASSES : TARGETS;
    return linear_parameters(FEATURES, d) + c->layers * layer + linear_parameters(d, outputs);
}
