/* The attention of Exphormer (layers.h), over the edges that models/encodings/expander.c draws. */
#include "models/layers/layers.h"

#include "models/tape/tape_internal.h"

/* The rows of a parameter, each `times` times; of a shape without values. */
static struct mat repeated(struct tape *t, const char *name, int64_t rows, int64_t cols, int64_t times)
{
    struct mat table = param(t, name, rows, cols, 1);
    int64_t *number = arena_alloc(t->metadata, (size_t)(rows * times) * sizeof *number);
    for (int64_t i = 0; i < rows * times; i++)
        number[i] = i / times;
    struct mat index = input_copy(t, span_path(t, name), I64, rows * times, 1, number);
    return op(t, embedding, .table = table, .index = index)->y;
}

struct expanded expanded_edges(struct tape *t, const char *name, const struct model_config *c,
                               const struct batch *b, const struct encoding *encoding,
                               const struct structure *s)
{
    struct expanded l = {.adj = s->adj, .edge = s->edge};
    const struct encoding_config *pe = &c->pe;
    if (!pe->expander)
        return l;
    struct batch wide = encoding ? encoding->expanded : expander_shape(pe, b);
    const int64_t *factor = encoding ? encoding->factor.data : NULL;
    span_enter(t, name);
    l.adj = input_edges(t, name, &wide, true);
    if (wide.adj.edges > 0)
        l.factor = input_encoding_index(t, "expander.factor", wide.adj.edges, 1, factor);
    l.others = repeated(t, "edges", 1 + 2 * pe->globals, c->hidden, 1);
    if (pe->globals > 0)
        l.globals = repeated(t, "globals", pe->globals, c->hidden, b->graphs);
    span_leave(t);
    return l;
}

/* [a; b] w', in a span `name`; absent, but with its parameter, if both are. */
static struct mat project_rows(struct tape *t, const char *name, struct mat a, struct mat b, int64_t inputs,
                               int64_t width)
{
    struct mat y = {0};
    span_enter(t, name);
    struct mat w = param(t, "weight", width, inputs, inputs);
    if (a.rows + b.rows > 0)
        y = tape_stack(t, a.rows, b.rows, width);
    if (mat_present(a))
        op(t, linear, .y = mat_rows(y, 0, a.rows), .x = a, .w = w);
    if (mat_present(b))
        op(t, linear, .y = mat_rows(y, a.rows, b.rows), .x = b, .w = w);
    span_leave(t);
    return y;
}

struct mat exphormer(struct tape *t, const char *name, struct mat x, struct structure *s, int heads)
{
    struct expanded *l = &s->expanded;
    int64_t d = x.cols, n = x.rows;
    span_enter(t, name);
    struct mat qkv = project_rows(t, "qkv", x, l->globals, d, 3 * d),
               c = project_rows(t, "edge", l->edge, l->others, d, d);
    if (mat_present(l->factor))
        c = op(t, embedding, .table = c, .index = l->factor)->y;
    if (!mat_present(l->adj.col)) /* no edges at all */
        c = (struct mat){0};
    struct mat y = tape_stack(t, n, l->globals.rows, d);
    op(t, sparse_attention, .y = y, .q = mat_cols(qkv, 0, d), .k = mat_cols(qkv, d, d),
       .v = mat_cols(qkv, 2 * d, d), .c = c, .adj = l->adj, .heads = heads, .clamp = 5, .eps = 1e-6);
    l->globals = mat_rows(y, n, l->globals.rows);
    span_leave(t);
    return mat_rows(y, 0, n);
}
