/*
 * The Laplacian of a weighted graph applied to a block of columns, as a step of a three-term recurrence, in
 * difference form: for neighbours with nearly equal values, x_i - x_j is exact, whereas d_i x_i - sum of w
 * x_j would cancel. With masses m_i and q_i = 1 / m_i it is the operator of the pencil (L, M): m = 1 gives D
 * - A, m = degree gives I - D^-1 A, which is similar to I - D^-1/2 A D^-1/2.
 *
 *   y_i (+)= alpha q_i (sum of w_e (x_i - x_j) over the edges e: j -> i) + beta x_i
 */
#include "kernels/ref/loops.h"

static real differences(const struct laplacian_args *a, int64_t i, int64_t k)
{
    struct rows edges = edges_of(a->adj.row, i);
    real sum = R(0);
    for (int64_t e = edges.first; e < edges.end; e++) {
        real d = AT(a->x, i, k) - AT(a->x, edge_end(a->adj.col, e), k);
        sum += mat_present(a->w) ? AT(a->w, e, 0) * d : d;
    }
    return sum;
}

REF(laplacian, 0)
{
    struct rows rows = rows_wanted(a->call, a->y);
    for (int64_t i = rows.first; i < rows.end; i++) {
        real scale = R(a->alpha) * AT(a->q, i, 0);
        for (int64_t k = 0; k < a->y.cols; k++) {
            real value = scale * differences(a, i, k);
            if (a->beta != 0)
                value += R(a->beta) * AT(a->x, i, k);
            put(a->y, i, k, value);
        }
    }
}
