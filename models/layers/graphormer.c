#include "models/layers/graphormer.h"

#include "kernels/arithmetic.h"
#include "models/layers/features.h"
#include "models/tape/tape_internal.h"

static struct mat layer(struct tape *t, const char *name, struct mat x, struct structure *s,
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

struct mat graphormer(struct tape *t, struct mat x, struct structure *s, const struct model_config *c)
{
    x = model_layers(t, dropout(t, "dropout_input", x, c->dropout), s, c, layer);
    return add_norm(t, "norm", c->norm, x, (struct mat){0}, s);
}

/* --- tokens */

struct batch token_batch(struct tape *t, const struct batch *b)
{
    struct batch with = *b;
    with.offset = arena_alloc(t->metadata, (size_t)(b->graphs + 1) * sizeof *with.offset);
    for (int64_t g = 0; g <= b->graphs; g++)
        with.offset[g] = b->offset[g] + g;
    with.pairs = b->pairs + 2 * b->adj.nodes + b->graphs;
    return with;
}

/* Tokens take the row of any node, times 0, and add their own; in `is` the factors of both. */
static void place_rows(const struct batch *b, int64_t *from, float *is)
{
    for (int64_t g = 0; g < b->graphs; g++)
        for (int64_t i = b->offset[g] - 1; i < b->offset[g + 1]; i++, is += 2) {
            bool token = i < b->offset[g];
            *from++ = token ? b->offset[g] : i;
            is[0] = !token;
            is[1] = token;
        }
}

struct mat add_tokens(struct tape *t, const char *name, struct mat x, const struct batch *b)
{
    int64_t rows = b->adj.nodes + b->graphs, *from = NULL;
    float *is = NULL;
    if (b->adj.row_ptr) {
        from = arena_alloc(t->metadata, (size_t)rows * sizeof *from);
        is = arena_alloc(t->metadata, (size_t)(2 * rows) * sizeof *is);
        place_rows(b, from, is);
    }
    span_enter(t, name);
    struct mat weight = param(t, "weight", x.cols, 1, 1);
    struct mat index = input_copy(t, "token.from", I64, rows, 1, from),
               factor = input_reals(t, "token.factors", rows, 2, is);
    struct mat nodes =
        op(t, scale_rows, .x = op(t, embedding, .table = x, .index = index)->y, .w = mat_cols(factor, 0, 1))
            ->y;
    struct mat tokens = op(t, linear, .x = mat_cols(factor, 1, 1), .w = weight, .act = ACT_NONE)->y;
    struct mat y = op(t, add, .a = nodes, .b = tokens)->y;
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

/* --- the bias */

/* The pairs of attention: which pair of nodes each is, or -1 with a token; null: all in their order. */
struct pairs {
    int64_t count, *nodes;
};

static struct pairs pairs_with_tokens(struct tape *t, const struct batch *b, bool arrays)
{
    struct pairs p = {.count = token_batch(t, b).pairs};
    if (!arrays)
        return p;
    int64_t *to = p.nodes = arena_alloc(t->metadata, (size_t)p.count * sizeof *to), pair = 0;
    for (int64_t g = 0; g < b->graphs; g++)
        for (int64_t n = b->offset[g + 1] - b->offset[g], i = -1; i < n; i++)
            for (int64_t j = -1; j < n; j++)
                *to++ = i < 0 || j < 0 ? -1 : pair++;
    return p;
}

/*
 * A row for each hop and type of edge after one of zeros, for the hops that a path does not have: the product
 * of both. The rows of each hop stand in columns of their own, so that one product has all factors.
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
    struct mat table = param(t, "types", types, heads, edges->tables),
               w = param(t, "hops", heads, products, products);
    struct mat index = input_copy(t, "bias.types", I64, rows, 1, type),
               factor = input_reals(t, "bias.hops", rows, hops, is);
    struct mat row = op(t, embedding, .table = table, .index = index)->y,
               x = tape_matrix(t, rows, hops * heads);
    for (int64_t hop = 0; hop < hops; hop++)
        op(t, scale_rows, .y = mat_cols(x, hop * heads, heads), .x = row, .w = mat_cols(factor, hop, 1));
    return op(t, linear, .x = x, .w = mat_cols(w, 0, hops * heads), .act = ACT_NONE)->y;
}

/* Of each pair, rows of hop_table and the factor of their sum; null: of a shape. */
struct path_rows {
    int64_t *row;
    float *factor;
};

/* Sets the rows of a path, null: without edges; returns the factor. */
static float set_path(const int32_t *path, int64_t hops, const int64_t *type,
                      const struct feature_config *edges, int64_t *row)
{
    int64_t types = feature_types(edges), length = 0;
    for (int64_t hop = 0; hop < hops; hop++) {
        int64_t edge = path ? path[hop] : -1;
        length += edge >= 0;
        for (int n = 0; n < edges->tables; n++)
            *row++ = edge < 0 ? 0 : 1 + hop * types + type[edge * edges->tables + n];
    }
    return 1 / (float)(max_of(length, 1) * edges->tables);
}

/* Not within a span: the types are those of the model's edges. */
static struct path_rows path_rows(struct tape *t, const struct model_config *c,
                                  const struct feature_config *edges, const struct batch *b,
                                  const struct encoding *e, struct pairs p)
{
    int64_t hops = c->pe.hops, cols = hops * edges->tables;
    struct path_rows to = {0};
    if (!e || !hops)
        return to;
    struct row_range rows = {.first = b->part.edge, .count = b->adj.edges};
    const int64_t *type = host_types(t, "edge_features", edges, rows, &b->inputs.edge_features);
    to.row = arena_alloc(t->metadata, (size_t)(p.count * cols) * sizeof *to.row);
    to.factor = arena_alloc(t->metadata, (size_t)p.count * sizeof *to.factor);
    for (int64_t i = 0; i < p.count; i++) {
        int64_t pair = p.nodes ? p.nodes[i] : i;
        const int32_t *path = pair < 0 ? NULL : (const int32_t *)e->paths.data + pair * hops;
        to.factor[i] = set_path(path, hops, type, edges, to.row + i * cols);
    }
    return to;
}

struct mat attention_bias(struct tape *t, const char *name, const struct model_config *c,
                          const struct batch *b, const struct encoding *e)
{
    const struct feature_config edges = model_edge_features(c);
    bool token = model_has_token(c);
    int64_t hops = c->pe.hops, *distance = e ? e->distances.data : NULL;
    struct pairs p = token ? pairs_with_tokens(t, b, e != NULL) : (struct pairs){.count = b->pairs};
    struct path_rows rows = path_rows(t, c, &edges, b, e, p);
    for (int64_t i = 0; i < p.count && p.nodes; i++) /* from here on buckets */
        p.nodes[i] = p.nodes[i] < 0 ? c->pe.buckets + 1 : distance[p.nodes[i]];
    span_enter(t, name);
    struct mat table = param(t, "weight", c->pe.buckets + 1 + token, c->heads, 1);
    struct mat bucket = input_encoding_index(t, "encoding.distances", p.count, 1, token ? p.nodes : distance);
    struct mat bias = op(t, embedding, .table = table, .index = bucket)->y;
    if (hops) {
        struct mat of_hops = hop_table(t, c, &edges);
        struct mat at = input_encoding_index(t, "encoding.paths", p.count, hops * edges.tables, rows.row);
        struct mat factor = input_encoding(t, "encoding.path_factors", p.count, 1, rows.factor);
        struct mat sum = op(t, embedding, .table = of_hops, .index = at)->y;
        bias = op(t, add, .a = bias, .b = op(t, scale_rows, .x = sum, .w = factor)->y)->y;
    }
    span_leave(t);
    return bias;
}
