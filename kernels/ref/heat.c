/*
 * Diagonals of a polynomial of the Laplacian L = D - A of a symmetric graph, as a sum of Chebyshev
 * polynomials of S = scale L - 1, whose eigenvalues are between -1 and 1 if scale is at most 2 over L's
 * largest:
 *
 *     y_0 = e_i, y_1 = S y_0, y_s = 2 S y_(s-1) - y_(s-2)
 *     (T_(2s-1))_ii = 2 y_(s-1) . y_s - S_ii, (T_2s)_ii = 2 y_s . y_s - 1
 *
 * since T_m T_n = (T_(m+n) + T_|m-n|) / 2 and S is symmetric: half of the degree suffices, as for walks.
 *
 * A step processes only nodes whose entry may be nonzero, as in walk.c, and this work is counted for row i in
 * `work`. Loops cancel in D - A, duplicates count.
 */
#include "kernels/ref/ball.h"

/* The products of two successive vectors, and FLOPs. */
struct moments {
    real odd, even;
    int64_t work;
};

/* y = S x in the first step, 2 S x - y in the others, over the ball. */
static struct moments chebyshev_step(const struct heat_diagonal_args *a, const struct reached *ball,
                                     struct mat x, struct mat y, bool first)
{
    struct moments m = {R(0), R(0), 0};
    for (int64_t k = 0; k < ball->count; k++) {
        int64_t j = ball->node[k];
        struct rows edges = edges_of(a->adj.row, j);
        real product = R(edges.end - edges.first) * AT(x, 0, j) - sum_of_ends(x, edges, a->adj.col);
        AT(y, 0, j) = first ? R(a->scale) * product - AT(x, 0, j)
                            : R(2 * a->scale) * product - R(2) * AT(x, 0, j) - AT(y, 0, j);
        m.odd += AT(x, 0, j) * AT(y, 0, j);
        m.even += AT(y, 0, j) * AT(y, 0, j);
        m.work += edges.end - edges.first + (first ? 8 : 10);
    }
    return m;
}

REF(heat_diagonal, BALL(a->h.rows) + 2 * a->h.rows)
{
    int64_t n = a->h.rows, times = a->h.cols;
    struct rows wanted = rows_wanted(a->call, a->h);
    for (int64_t i = wanted.first; i < wanted.end; i++) {
        struct mat x = scratch_row(a->call, BALL(n), n), y = scratch_row(a->call, BALL(n) + n, n);
        struct reached ball = ball_of(a->call, n, i);
        int64_t work = 0;
        real own = R(0);
        start(x, i);
        start(y, i);
        for (int64_t k = 0; k < times; k++)
            AT(a->h, i, k) = R(0);
        for (int64_t s = 0; s < a->odd.rows; s++, swap(&x, &y)) {
            ball_grow(&ball, a->adj.row, a->adj.col);
            struct moments m = chebyshev_step(a, &ball, x, y, s == 0);
            own = s == 0 ? m.odd : own;
            real odd = R(2) * m.odd - own, even = R(2) * m.even - R(1);
            for (int64_t k = 0; k < times; k++)
                AT(a->h, i, k) += AT(a->odd, s, k) * odd + AT(a->even, s, k) * even;
            work += m.work + 4 + 4 * times;
        }
        *index_at(a->work, i, 0) = work;
    }
}
