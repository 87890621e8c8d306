/*
 * A model, a variant of GPS: attention follows message passing instead of standing beside it
 * (docs/plugins.md).
 */
#include "models/layers/model.h"

static struct mat layer(struct tape *t, const char *name, struct mat x, struct structure *s,
                        const struct model_config *c)
{
    span_enter(t, name);
    struct mat l = gin(t, "gin", c->mlp, x, s, c->act);
    l = add_norm(t, "norm_local", c->norm, x, l, s);
    struct mat a = attention(t, "attention", c->attention, l, s, (int)c->heads, c->attention_dropout);
    a = add_norm(t, "norm_attention", c->norm, l, a, s);
    struct mat f = ffn(t, "ffn", c->mlp, a, c->ffn, c->act, c->dropout);
    struct mat y = add_norm(t, "norm_out", c->norm, a, f, s);
    span_leave(t);
    return y;
}

/* All layers, and a skip connection over them. */
static struct mat record(struct tape *t, struct mat x, struct structure *s, const struct model_config *c)
{
    struct mat y = model_layers(t, x, s, c, layer);
    return op(t, add, .a = x, .b = y)->y;
}

static const struct model own[] = {
    {"gps_serial", "attention after message passing in each layer", ATTENTION_SPARSE, MPNN_GIN, record},
    {0},
};
GTMARK_MODELS(own);
