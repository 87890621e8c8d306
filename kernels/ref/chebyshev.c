/*
 * Chebyshev polynomials of S = alpha T + beta, T the Laplacian of a weighted graph, by their three-term
 * recurrence:
 *
 *     T_0 x = x, T_1 x = S x, T_k x = 2 S T_(k-1) x - T_(k-2) x
 *
 * T is in difference form: for neighbours with nearly equal values, x_i - x_j is exact, whereas d_i x_i - sum
 * of w x_j would cancel. With masses m_i and q_i = 1 / m_i it is the operator of the pencil (L, M): m = 1
 * gives D - A, m = degree gives I - D^-1 A, which is similar to I - D^-1/2 A D^-1/2.
 *
 *     (S x)_i = alpha q_i (sum of w_e (x_i - x_j) over the edges e: j -> i) + beta x_i
 */
#include "kernels/ref/loops.h"

static real differences(const struct chebyshev_args *a, struct mat x, int64_t i, int64_t k)
{
    struct rows edges = edges_of(a->adj.row, i);
    real sum = R(0);
    for (int64_t e = edges.first; e < edges.end; e++) {
        real d = AT(x, i, k) - AT(x, edge_end(a->adj.col, e), k);
        sum += mat_present(a->w) ? AT(a->w, e, 0) * d : d;
    }
    return sum;
}

/* y = S x in the first step, 2 S x - y in the others. */
static void chebyshev_step(const struct chebyshev_args *a, struct mat x, struct mat y, bool first)
{
    double times = first ? 1 : 2;
    for (int64_t i = 0; i < a->x.rows; i++) {
        real scale = R(times * a->alpha) * AT(a->q, i, 0);
        for (int64_t k = 0; k < a->x.cols; k++) {
            real value = scale * differences(a, x, i, k);
            if (a->beta != 0)
                value += R(times * a->beta) * AT(x, i, k);
            AT(y, i, k) = first ? value : value - AT(y, i, k);
        }
    }
}

REF(chebyshev, 2 * mat_size(a->x))
{
    int64_t n = a->x.rows, d = a->x.cols;
    struct mat now = scratch_rows(a->call, 0, n, d), before = scratch_rows(a->call, n * d, n, d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++)
            AT(now, i, k) = AT(a->x, i, k);
    for (int m = 0; m < a->degree; m++) {
        struct mat next = before;
        chebyshev_step(a, now, next, m == 0);
        before = now;
        now = next;
    }
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t k = 0; k < d; k++) {
            AT(a->y, i, k) = AT(now, i, k);
            AT(a->z, i, k) = AT(before, i, k);
        }
}
