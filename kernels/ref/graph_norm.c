/*
 * Normalisation over all n_g D entries of each graph (layer normalisation in mode "graph" of PyTorch
 * Geometric).
 *
 *   mean = sum x / (n_g D)    var = sum (x - mean)^2 / (n_g D)    rstd = 1 / sqrt(var + eps)
 *   n = (x - mean) rstd    y = n gain + bias    stats = [mean, rstd] of each graph
 *
 *   g = dy gain    dx = (g - sum g / (n_g D) - n sum (g n) / (n_g D)) rstd, sums over the graph
 *   dgain = sum dy n    dbias = sum dy
 */
#include "kernels/ref/loops.h"

static void normalise_graph(const struct graph_norm_args *a, int64_t g, struct rows wanted)
{
    struct rows graph = graph_rows(a->graphs, g);
    int64_t D = a->x.cols, entries = (graph.end - graph.first) * D;
    real sum = R(0), squares = R(0);
    for (int64_t i = graph.first; i < graph.end; i++)
        for (int64_t k = 0; k < D; k++)
            sum += AT(a->x, i, k);
    real mean = sum / R(entries);
    for (int64_t i = graph.first; i < graph.end; i++)
        for (int64_t k = 0; k < D; k++) {
            real centred = AT(a->x, i, k) - mean;
            squares += centred * centred;
        }
    real rstd = R(1) / r_sqrt(squares / R(entries) + R(a->eps));
    for (int64_t i = wanted.first; i < wanted.end; i++)
        for (int64_t k = 0; k < D; k++)
            AT(a->y, i, k) = (AT(a->x, i, k) - mean) * rstd * AT(a->gain, 0, k) + AT(a->bias, 0, k);
    if (rows_has(rows_wanted(a->call, a->stats), g)) {
        AT(a->stats, g, 0) = mean;
        AT(a->stats, g, 1) = rstd;
    }
}

REF(graph_norm, 0)
{
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows wanted = rows_common(graph_rows(a->graphs, g), rows_wanted(a->call, a->y));
        if (rows_any(wanted) || rows_has(rows_wanted(a->call, a->stats), g))
            normalise_graph(a, g, wanted);
    }
}

static real normalised(const struct graph_norm_backward_args *a, int64_t g, int64_t i, int64_t k)
{
    return (AT(a->x, i, k) - AT(a->stats, g, 0)) * AT(a->stats, g, 1);
}

/* n and g of a graph's row, in scratch. */
static void begin_row(const struct graph_norm_backward_args *a, int64_t g, int64_t i, struct mat n,
                      struct mat dn)
{
    for (int64_t k = 0; k < n.cols; k++) {
        AT(n, i, k) = normalised(a, g, i, k);
        if (mat_present(a->dx))
            AT(dn, i, k) = AT(a->dy, i, k) * AT(a->gain, 0, k);
    }
}

static void dx_graph(const struct graph_norm_backward_args *a, int64_t g, struct mat n, struct mat dn)
{
    struct rows graph = graph_rows(a->graphs, g), wanted = rows_common(graph, rows_wanted(a->call, a->dx));
    int64_t D = n.cols, entries = (graph.end - graph.first) * D;
    real sum_g = R(0), sum_gn = R(0);
    for (int64_t i = graph.first; i < graph.end; i++)
        for (int64_t k = 0; k < D; k++) {
            sum_g += AT(dn, i, k);
            sum_gn += AT(dn, i, k) * AT(n, i, k);
        }
    real mean_g = sum_g / R(entries), mean_gn = sum_gn / R(entries), rstd = AT(a->stats, g, 1);
    for (int64_t i = wanted.first; i < wanted.end; i++)
        for (int64_t k = 0; k < D; k++)
            put(a->dx, i, k, (AT(dn, i, k) - mean_g - AT(n, i, k) * mean_gn) * rstd);
}

REF(graph_norm_backward, 2 * mat_size(a->x))
{
    int64_t N = a->x.rows, D = a->x.cols;
    struct mat n = scratch_rows(a->call, 0, N, D), dn = scratch_rows(a->call, N * D, N, D);
    bool dgain = rows_any(rows_wanted(a->call, a->dgain)), dbias = rows_any(rows_wanted(a->call, a->dbias));
    begin_sums(a->call, a->dgain);
    begin_sums(a->call, a->dbias);
    for (int64_t g = 0; g < graph_count(a->graphs); g++) {
        struct rows graph = graph_rows(a->graphs, g);
        bool dx = rows_any(rows_common(graph, rows_wanted(a->call, a->dx)));
        for (int64_t i = graph.first; i < graph.end && (dx || dgain || dbias); i++) {
            begin_row(a, g, i, n, dn);
            for (int64_t k = 0; k < D && dgain; k++)
                AT(a->dgain, 0, k) += AT(a->dy, i, k) * AT(n, i, k);
            for (int64_t k = 0; k < D && dbias; k++)
                AT(a->dbias, 0, k) += AT(a->dy, i, k);
        }
        if (dx)
            dx_graph(a, g, n, dn);
    }
}
