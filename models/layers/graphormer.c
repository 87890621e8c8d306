#include "models/layers/graphormer.h"

#include "kernels/arithmetic.h"
#include "models/layers/features.h"
#include "models/tape/tape_internal.h"

struct mat graphormer_layer(struct tape *t, const char *name, struct mat x, struct structure *s,
                            const struct model_config *c)
{
    const struct mat none = {0};
    span_enter(t, name);
    struct mat h = add_norm(t, "norm_attention", c->norm, x, none, s);
    h = attention(t, "attention", c->attention, h, s, (int)c->heads, c->attention_dropout);
    x = op(t, add, .a = x, .b = dropout(t, "dropout_attention", h, c->dropout))->y;
    h = add_norm(t, "norm_ffn", c->norm, x, none, s);
    h = ffn(t, "ffn", c->mlp, h, c->ffn, c->act, 0);
    x = op(t, add, .a = x, .b = dropout(t, "dropout_ffn", h, c->dropout))->y;
    span_leave(t);
    return x;
}

struct batch token_batch(struct tape *t, const struct batch *b)
{
    struct batch with = *b;
    with.offset = arena_alloc(t->metadata, (size_t)(b->graphs + 1) * sizeof *with.offset);
    for (int64_t g = 0; g <= b->graphs; g++)
        with.offset[g] = b->offset[g] + g;
    with.pairs = b->pairs + 2 * b->adj.nodes + b->graphs;
    return with;
}

/* A token takes the row of a node, times 0, and adds its own: `is` has the factors of both. */
struct mat add_tokens(struct tape *t, const char *name, struct mat x, const struct batch *b)
{
    int64_t rows = b->adj.nodes + b->graphs, known = b->adj.row_ptr ? rows : 0, at = 0;
    int64_t *from = arena_alloc(t->metadata, (size_t)known * sizeof *from);
    float *is = arena_alloc(t->metadata, (size_t)(2 * known) * sizeof *is);
    for (int64_t g = 0; g < b->graphs && known; g++)
        for (int64_t i = b->offset[g] - 1; i < b->offset[g + 1]; i++, at++) {
            from[at] = max_of(i, b->offset[g]);
            is[2 * at + (i < b->offset[g])] = 1;
        }
    span_enter(t, name);
    struct mat weight = param(t, "weight", x.cols, 1, 1),
               factor = input_reals(t, "token.factors", rows, 2, is);
    struct mat index = input_copy(t, "token.from", I64, rows, 1, from);
    struct mat row = op(t, embedding, .table = x, .index = index)->y;
    struct mat node = op(t, scale_rows, .x = row, .w = mat_cols(factor, 0, 1))->y;
    struct mat token = op(t, linear, .x = mat_cols(factor, 1, 1), .w = weight, .act = ACT_NONE)->y;
    struct mat y = op(t, add, .a = node, .b = token)->y;
    span_leave(t);
    return y;
}

struct mat token_rows(struct tape *t, const char *name, struct mat x, const struct batch *b)
{
    span_enter(t, name);
    struct mat index = input_copy(t, "token.rows", I64, b->graphs, 1, token_batch(t, b).offset);
    struct mat y = op(t, embedding, .table = x, .index = index)->y;
    span_leave(t);
    return y;
}

/*
 * After a row of zeros, for hops that a path does not have, one for each hop and type of edge: the product of
 * both. The rows of each hop stand in columns of their own, so that one product has all factors.
 */
static struct mat hop_table(struct tape *t, const struct model_config *c, const struct feature_config *edges)
{
    int64_t hops = c->pe.hops, heads = c->heads, types = feature_types(edges), rows = 1 + hops * types;
    int64_t products = max_of(c->hop_products, hops) * heads;
    int64_t *type = arena_alloc(t->metadata, (size_t)rows * sizeof *type);
    float *is = arena_alloc(t->metadata, (size_t)(rows * hops) * sizeof *is);
    for (int64_t r = 1; r < rows; r++) {
        type[r] = (r - 1) % types;
        is[r * hops + (r - 1) / types] = 1;
    }
    struct mat table = param(t, "types", types, heads, edges->tables);
    struct mat w = param(t, "hops", heads, products, products);
    struct mat index = input_copy(t, "hop.types", I64, rows, 1, type);
    struct mat factor = input_reals(t, "hop.factors", rows, hops, is);
    struct mat row = op(t, embedding, .table = table, .index = index)->y;
    struct mat x = tape_matrix(t, rows, hops * heads);
    for (int64_t hop = 0; hop < hops; hop++)
        op(t, scale_rows, .y = mat_cols(x, hop * heads, heads), .x = row, .w = mat_cols(factor, hop, 1));
    return op(t, linear, .x = x, .w = mat_cols(w, 0, hops * heads), .act = ACT_NONE)->y;
}

/* What the model reads of each pair; null in a shape, and what it does not read. */
struct pair_inputs {
    int64_t count, *bucket;
    int64_t *row; /* of hop_table, for each hop and table of types */
    float *factor;
};

/* Of the path of a pair, null: without edges. */
static void set_path(struct pair_inputs *to, int64_t at, const int32_t *path, int64_t hops,
                     const struct feature_config *edges, const int64_t *type)
{
    int64_t types = feature_types(edges), length = 0, *row = to->row + at * hops * edges->tables;
    for (int64_t hop = 0; hop < hops; hop++) {
        int64_t edge = path ? path[hop] : -1;
        length += edge >= 0;
        for (int n = 0; n < edges->tables; n++)
            *row++ = edge < 0 ? 0 : 1 + hop * types + type[edge * edges->tables + n];
    }
    to->factor[at] = 1 / (float)(max_of(length, 1) * edges->tables);
}

/* Not within a span: the types are those of the model's edges. */
static struct pair_inputs pair_inputs(struct tape *t, const struct model_config *c, const struct batch *b,
                                      const struct encoding *e, const struct feature_config *edges)
{
    int64_t token = model_has_token(c), hops = c->pe.hops, pair = 0, at = 0;
    struct pair_inputs to = {.count = token ? token_batch(t, b).pairs : b->pairs};
    if (!e)
        return to;
    struct row_range rows = {.first = b->part.edge, .count = b->adj.edges};
    const int64_t *type = hops ? host_types(t, "edge_features", edges, rows, &b->inputs.edge_features) : NULL;
    to.bucket = token ? arena_alloc(t->metadata, (size_t)to.count * sizeof *to.bucket) : e->distances.data;
    to.row = arena_alloc(t->metadata, (size_t)(to.count * hops * edges->tables) * sizeof *to.row);
    to.factor = arena_alloc(t->metadata, (size_t)(hops ? to.count : 0) * sizeof *to.factor);
    for (int64_t g = 0; g < b->graphs; g++)
        for (int64_t n = b->offset[g + 1] - b->offset[g], i = -token; i < n; i++)
            for (int64_t j = -token; j < n; j++, at++) {
                bool nodes = i >= 0 && j >= 0;
                if (token)
                    to.bucket[at] = nodes ? ((int64_t *)e->distances.data)[pair] : c->pe.buckets + 1;
                if (hops)
                    set_path(&to, at, nodes ? (int32_t *)e->paths.data + pair * hops : NULL, hops, edges,
                             type);
                pair += nodes;
            }
    return to;
}

struct mat attention_bias(struct tape *t, const char *name, const struct model_config *c,
                          const struct batch *b, const struct encoding *e)
{
    const struct feature_config edges = model_edge_features(c);
    const struct pair_inputs in = pair_inputs(t, c, b, e, &edges);
    span_enter(t, name);
    struct mat table = param(t, "weight", c->pe.buckets + 1 + model_has_token(c), c->heads, 1);
    struct mat index = input_encoding_index(t, "encoding.distances", in.count, 1, in.bucket);
    struct mat bias = op(t, embedding, .table = table, .index = index)->y;
    if (c->pe.hops) {
        table = hop_table(t, c, &edges);
        index = input_encoding_index(t, "encoding.paths", in.count, c->pe.hops * edges.tables, in.row);
        struct mat sum = op(t, embedding, .table = table, .index = index)->y;
        struct mat factor = input_encoding(t, "encoding.path_factors", in.count, 1, in.factor);
        bias = op(t, add, .a = bias, .b = op(t, scale_rows, .x = sum, .w = factor)->y)->y;
    }
    span_leave(t);
    return bias;
}
