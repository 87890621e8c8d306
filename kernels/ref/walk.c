/*
 * Return probabilities of the random walk, the diagonals of the powers of P = D^-1 A: A_ij edges go from i to
 * j, and D_i = d_i is the out-degree of i. They are 0 for a node without outgoing edges.
 *
 *     y_0 = e_i, y_m = P y_(m-1)    walk_returns         p_ik = entry i of y_(k + 1)
 *                                   walk_returns_half    p_ik = sum over j of d_j y_m(j) y_n(j) / d_i,
 *                                                        m + n = k + 1, n = m or m + 1
 *
 * If A is symmetric, half of the powers suffice, because d_i (P^m)_ij = d_j (P^m)_ji.
 *
 * A step processes only nodes whose entry may be nonzero: those from which one of the 16 nodes of i's block
 * (i / 16 rounded down) can be reached in at most that many steps. This work is done and counted for row i in
 * `work`; a single walk would need fewer nodes, but kernels advance 16 walks at a time.
 */
#include "kernels/ref/ball.h"

/* The number of edges of a row; 1 if there are none, so that quotients stay 0. */
static real degree(struct rows edges)
{
    int64_t count = edges.end - edges.first;
    return R(count ? count : 1);
}

REF(walk_returns, BALL(a->p.rows) + 2 * a->p.rows)
{
    int64_t n = a->p.rows;
    struct rows wanted = rows_wanted(a->call, a->p);
    for (int64_t i = wanted.first; i < wanted.end; i++) {
        struct mat x = scratch_row(a->call, BALL(n), n), y = scratch_row(a->call, BALL(n) + n, n);
        struct reached ball = ball_of(a->call, n, i);
        int64_t work = 0;
        start(x, i);
        start(y, i);
        for (int64_t k = 0; k < a->p.cols; k++, swap(&x, &y)) {
            ball_grow(&ball, a->adj.row, a->adj.col);
            for (int64_t m = 0; m < ball.count; m++) {
                struct rows edges = edges_of(a->adj.out_row, ball.node[m]);
                AT(y, 0, ball.node[m]) = sum_of_ends(x, edges, a->adj.out_col) / degree(edges);
                work += edges.end - edges.first + 1;
            }
            AT(a->p, i, k) = AT(y, 0, i);
        }
        *index_at(a->work, i, 0) = work;
    }
}

/* Sums for p_i,k and p_i,k+1, and the FLOPs. */
struct returns {
    real odd, even;
    int64_t work;
};

/* y = P x over the ball; accumulates d y y in even and d y x in odd; only the latter in the last step. */
static struct returns step_half(const struct walk_returns_half_args *a, const struct reached *ball,
                                struct mat x, struct mat y, bool last)
{
    struct returns r = {R(0), R(0), 0};
    for (int64_t m = 0; m < ball->count; m++) {
        int64_t j = ball->node[m];
        struct rows edges = edges_of(a->adj.row, j);
        real sum = sum_of_ends(x, edges, a->adj.col);
        r.odd += sum * AT(x, 0, j);
        r.work += edges.end - edges.first + 2;
        if (last)
            continue;
        AT(y, 0, j) = sum / degree(edges);
        r.even += sum * AT(y, 0, j);
        r.work += 3;
    }
    return r;
}

REF(walk_returns_half, BALL(a->p.rows) + 2 * a->p.rows)
{
    int64_t n = a->p.rows, steps = a->p.cols;
    struct rows wanted = rows_wanted(a->call, a->p);
    for (int64_t i = wanted.first; i < wanted.end; i++) {
        struct mat x = scratch_row(a->call, BALL(n), n), y = scratch_row(a->call, BALL(n) + n, n);
        struct reached ball = ball_of(a->call, n, i);
        int64_t work = steps;
        real own = degree(edges_of(a->adj.row, i));
        start(x, i);
        start(y, i);
        for (int64_t k = 0; k < steps; k += 2, swap(&x, &y)) {
            bool last = k + 1 == steps;
            if (!last)
                ball_grow(&ball, a->adj.row, a->adj.col);
            struct returns r = step_half(a, &ball, x, y, last);
            work += r.work;
            AT(a->p, i, k) = r.odd / own;
            if (!last)
                AT(a->p, i, k + 1) = r.even / own;
        }
        *index_at(a->work, i, 0) = work;
    }
}
