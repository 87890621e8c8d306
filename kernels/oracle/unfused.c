/*
 * Attention in steps (ref/unfused_attention.c) on CBLAS. Row h of s and p holds the pairs of head
 * h: graph after graph, each an n x n block with a row per query.
 *
 *   s = q k' scale, dq (+)= ds k scale, dk (+)= ds' q scale     p = softmax(s), ds (+)= p * (dp - sum dp * p)
 *   y = p v, dp (+)= dy v', dv (+)= p' dy
 *
 * A task is one head of one graph.
 */
#if HAVE_CBLAS
#include "kernels/oracle/oracle.h"

#include <string.h>

/*
 * One head of one graph: the graph's nodes, the head's columns in matrices of nodes, and the offset of the
 * graph's pairs.
 */
struct part {
    int64_t first, n, column, dh, pairs;
};

static struct part part_of(struct offsets graphs, int64_t columns, int64_t heads, int64_t g, int64_t h)
{
    int64_t dh = columns / heads, pairs = 0;
    for (int64_t before = 0; before < g; before++)
        pairs += graph_size(graphs, before) * graph_size(graphs, before);
    return (struct part){graph_first(graphs, g), graph_size(graphs, g), h * dh, dh, pairs};
}

static real *nodes_at(struct mat m, struct part p)
{
    return at(m, p.first) + p.column;
}

/* pairs (+)= scale left right' */
static void make_pairs(struct call call, struct mat pairs, struct mat left, struct mat right,
                       struct offsets graphs, real scale)
{
#pragma omp parallel for collapse(2) num_threads(call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(graphs); g++)
        for (int64_t h = 0; h < pairs.rows; h++) {
            struct part p = part_of(graphs, left.cols, pairs.rows, g, h);
            product(false, true, p.n, p.n, p.dh, scale, nodes_at(left, p), ld(left), nodes_at(right, p),
                    ld(right), pairs.acc, at(pairs, h) + p.pairs, p.n);
        }
}

/* to (+)= scale pairs right, or scale pairs' right */
static void apply_pairs(struct call call, struct mat to, struct mat pairs, bool transposed, struct mat right,
                        struct offsets graphs, real scale)
{
#pragma omp parallel for collapse(2) num_threads(call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(graphs); g++)
        for (int64_t h = 0; h < pairs.rows; h++) {
            struct part p = part_of(graphs, to.cols, pairs.rows, g, h);
            product(transposed, false, p.n, p.dh, p.n, scale, at(pairs, h) + p.pairs, p.n, nodes_at(right, p),
                    ld(right), to.acc, nodes_at(to, p), ld(to));
        }
}

static real scale_of(struct mat nodes, int heads)
{
    return 1 / sqrt((real)(nodes.cols / heads));
}

void ORACLE(attention_scores)(const void *args)
{
    const struct attention_scores_args *a = args;
    make_pairs(a->call, a->s, a->q, a->k, a->graphs, scale_of(a->q, a->heads));
}

void ORACLE(attention_scores_backward)(const void *args)
{
    const struct attention_scores_backward_args *a = args;
    real scale = scale_of(a->q, a->heads);
    if (mat_present(a->dq))
        apply_pairs(a->call, a->dq, a->ds, false, a->k, a->graphs, scale);
    if (mat_present(a->dk))
        apply_pairs(a->call, a->dk, a->ds, true, a->q, a->graphs, scale);
}

void ORACLE(attention_values)(const void *args)
{
    const struct attention_values_args *a = args;
    apply_pairs(a->call, a->y, a->p, false, a->v, a->graphs, 1);
}

void ORACLE(attention_values_backward)(const void *args)
{
    const struct attention_values_backward_args *a = args;
    if (mat_present(a->dp))
        make_pairs(a->call, a->dp, a->dy, a->v, a->graphs, 1);
    if (mat_present(a->dv))
        apply_pairs(a->call, a->dv, a->p, true, a->dy, a->graphs, 1);
}

void ORACLE(attention_softmax)(const void *args)
{
    const struct attention_softmax_args *a = args;
#pragma omp parallel for collapse(2) num_threads(a->call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->s.rows; h++) {
            struct part part = part_of(a->graphs, 0, 1, g, h);
            real *p = at(a->p, h) + part.pairs;
            memcpy(p, at(a->s, h) + part.pairs, (size_t)(part.n * part.n) * sizeof *p);
            softmax(p, part.n, part.n, NULL, 0);
        }
}

static void softmax_backward(int64_t n, real *ds, bool acc, const real *dp, const real *p)
{
    real delta = 0;
    for (int64_t j = 0; j < n; j++)
        delta += dp[j] * p[j];
    for (int64_t j = 0; j < n; j++)
        ds[j] = (acc ? ds[j] : 0) + p[j] * (dp[j] - delta);
}

void ORACLE(attention_softmax_backward)(const void *args)
{
    const struct attention_softmax_backward_args *a = args;
#pragma omp parallel for collapse(2) num_threads(a->call.threads) schedule(dynamic)
    for (int64_t g = 0; g < graph_count(a->graphs); g++)
        for (int64_t h = 0; h < a->p.rows; h++) {
            struct part part = part_of(a->graphs, 0, 1, g, h);
            for (int64_t i = part.pairs; i < part.pairs + part.n * part.n; i += part.n)
                softmax_backward(part.n, at(a->ds, h) + i, a->ds.acc, at(a->dp, h) + i, at(a->p, h) + i);
        }
}
#endif
