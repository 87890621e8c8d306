/*
 * The encoders. Eigenpairs become a matrix of two columns, v_ik and lambda_k, with one row per pair and node:
 * node after node, with the pairs of each in order. The rows of a node are contiguous, like the nodes of a
 * graph, so the sum over pairs is the op sum_pool.
 */
#include "models/layers/encoder.h"

#include "models/tape/tape_internal.h"

static void encode_diagonals(struct tape *t, struct mat y, const struct encoding_config *c,
                             const struct batch *b, const struct encoding *encoding)
{
    const float *values = encoding ? encoding->values.data : NULL;
    const char *name = c->kind == ENCODING_HEAT ? "encoding.heat" : "encoding.walks";
    struct mat x = input_encoding(t, name, b->adj.nodes, c->k, values);
    linear_to(t, "linear", y, batch_norm(t, "norm", x), ACT_NONE);
}

/* The offsets of each node's rows, n + 1 integers, and (v, lambda) of each row. */
struct pair_rows {
    int64_t *bounds;
    float *pairs;
};

static struct pair_rows fill_pair_rows(struct tape *t, const struct encoding_config *c, const struct batch *b,
                                       const struct encoding *e, int64_t rows)
{
    struct pair_rows r = {arena_alloc(t->metadata, (size_t)(b->adj.nodes + 1) * sizeof *r.bounds),
                          arena_alloc(t->metadata, (size_t)(2 * rows) * sizeof *r.pairs)};
    float *to = r.pairs;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t count = encoding_pairs(c, b->offset[g + 1] - b->offset[g]);
        const float *lambda = (const float *)e->eigenvalues.data + g * e->eigenvalues.ld;
        for (int64_t i = b->offset[g]; i < b->offset[g + 1]; i++) {
            const float *v = (const float *)e->values.data + i * e->values.ld;
            for (int64_t k = 0; k < count; k++) {
                *to++ = v[k];
                *to++ = lambda[k];
            }
            r.bounds[i + 1] = r.bounds[i] + count;
        }
    }
    return r;
}

static void encode_pairs(struct tape *t, struct mat y, const struct encoding_config *c, const struct batch *b,
                         const struct encoding *encoding)
{
    struct pair_rows from = {0};
    int64_t rows = 0, squares = 0;
    for (int64_t g = 0; g < b->graphs; g++) {
        int64_t n = b->offset[g + 1] - b->offset[g], count = encoding_pairs(c, n);
        rows += n * count;
        squares += n * count * count;
    }
    if (rows == 0) { /* no graph has a pair: an empty sum */
        linear_unused(t, "up", 2, 2 * c->width);
        linear_unused(t, "down", 2 * c->width, c->width);
        op(t, fill, .y = y);
        return;
    }
    if (encoding)
        from = fill_pair_rows(t, c, b, encoding, rows);
    struct offsets of_node = {.at = input_encoding_bounds(t, "encoding.bounds", b->adj.nodes, from.bounds),
                              .pairs = squares};
    struct mat pairs = input_encoding(t, "encoding.pairs", rows, 2, from.pairs);
    struct mat h = linear(t, "up", pairs, 2 * c->width, ACT_RELU);
    h = linear(t, "down", h, c->width, ACT_RELU);
    op(t, sum_pool, .y = y, .x = h, .graphs = of_node);
}

void encoder(struct tape *t, const char *name, struct mat y, const struct encoding_config *c,
             const struct batch *b, const struct encoding *encoding)
{
    span_enter(t, name);
    if (!encoding_is_spectral(c))
        encode_diagonals(t, y, c, b, encoding);
    else
        encode_pairs(t, y, c, b, encoding);
    span_leave(t);
}

struct mat gate_encoder(struct tape *t, const char *name, int64_t width, const struct encoding_config *c,
                        const struct batch *b, const struct encoding *encoding)
{
    const float *values = encoding ? encoding->values.data : NULL;
    struct mat v = input_encoding(t, "encoding.vectors", b->adj.nodes, c->k, values);
    return linear(t, name, v, width, ACT_NONE);
}
