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
    struct mat sum = op(t, spmm, .x = x, .w = s->gcn, .adj = s->adj)->y;
    struct mat y = linear(t, "linear", sum, x.cols, ACT_NONE);
    span_leave(t);
    return y;
}

/* The rows of edges in the scores, and those of the loops: their means. */
struct edge_scores {
    struct mat edge, loop;
};

/* Absent without edges, which only declare the parameters. */
static struct edge_scores score_edges(struct tape *t, const struct structure *s, int64_t d)
{
    struct edge_scores r = {0};
    span_enter(t, "edge");
    struct mat w = param(t, "weight", d, d, d);
    if (mat_present(s->edge)) {
        r.edge = op(t, linear, .x = s->edge, .w = w)->y;
        r.loop = op(t, edge_mean, .x = r.edge, .adj = s->adj)->y;
    }
    span_leave(t);
    return r;
}

struct mat gatv2(struct tape *t, const char *name, struct mat x, const struct structure *s, int heads,
                 bool edges)
{
    int64_t d = x.cols;
    span_enter(t, name);
    struct mat lr = linear(t, "lr", x, 2 * d, ACT_NONE), l = mat_cols(lr, 0, d), r = mat_cols(lr, d, d);
    struct edge_scores e = {0};
    if (edges)
        e = score_edges(t, s, d);
    struct mat att = param(t, "att", 1, d, d / heads), b = param(t, "bias", 1, d, d);
    struct mat y = op(t, gatv2, .l = l, .r = r, .att = att, .b = b, .c = e.edge, .loop = e.loop,
                      .adj = s->adj, .heads = heads, .slope = 0.2)
                       ->y;
    span_leave(t);
    return y;
}

/*
 * A linear layer of `count` rows side by side: y[n] = x[n] w[n]', the first with the bias, w[n] the columns
 * of the weight for x[n]. One without rows has no result.
 */
static void linear_of_parts(struct tape *t, const char *name, const struct mat *x, int count, int64_t width,
                            struct mat *y)
{
    int64_t inputs = 0, first = 0;
    for (int n = 0; n < count; n++)
        inputs += x[n].cols;
    span_enter(t, name);
    struct mat w = param(t, "weight", width, inputs, inputs), b = param(t, "bias", 1, width, inputs);
    for (int n = 0; n < count; first += x[n++].cols) {
        struct mat own = mat_cols(w, first, x[n].cols);
        y[n] = (struct mat){0};
        if (x[n].rows > 0)
            y[n] = op(t, linear, .x = x[n], .w = own, .b = n == 0 ? b : (struct mat){0})->y;
    }
    span_leave(t);
}

/* mean, max and sum of the messages to each node, side by side: N x 3 d. */
static struct mat pool_messages(struct tape *t, struct mat x, const struct structure *s, bool edges)
{
    int64_t d = x.cols;
    struct mat from[3] = {x, x, {.cols = d}}, part[3], all = tape_matrix(t, x.rows, 3 * d);
    struct mat mean = mat_cols(all, 0, d), max = mat_cols(all, d, d), sum = mat_cols(all, 2 * d, d);
    struct mat e = edges ? edge_linear(t, "edge", s->edge, d) : (struct mat){0};
    if (mat_present(e))
        from[2] = e;
    linear_of_parts(t, "pre", from, edges ? 3 : 2, d, part);
    if (mat_present(e)) {
        struct mat m = op(t, edge_add, .a = part[0], .b = part[1], .c = part[2], .adj = s->adj)->y;
        op(t, edge_pool, .mean = mean, .max = max, .sum = sum, .x = m, .adj = s->adj);
    } else
        op(t, pna_pool, .mean = mean, .max = max, .sum = sum, .a = part[0], .b = part[1], .adj = s->adj);
    return all;
}

struct mat pna(struct tape *t, const char *name, struct mat x, const struct structure *s, bool edges)
{
    span_enter(t, name);
    struct mat from[2] = {x, pool_messages(t, x, s, edges)}, h[2];
    linear_of_parts(t, "post", from, 2, x.cols, h);
    struct mat y = linear(t, "out", op(t, add, .a = h[0], .b = h[1])->y, x.cols, ACT_NONE);
    span_leave(t);
    return y;
}
