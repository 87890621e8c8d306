/*
 * Sums over the ranks (kernels/ranks.h). A program of one rank alone has its sum already. The sum of strided
 * rows is not begun, but made at once.
 */
#include "kernels/ranks.h"
#include "kernels/ref/loops.h"

#ifdef REF_COUNT

static void start(const struct ranks *, struct mat, struct mat)
{
}

static void finish(const struct all_reduce_wait_args *)
{
}

#else

static bool is_dense(struct mat m)
{
    return m.rows == 1 || m.ld == m.cols;
}

static void start(const struct ranks *r, struct mat y, struct mat requests)
{
    int64_t *request = index_at(requests, 0, 0);
    *request = 0;
    if (is_dense(y)) {
        r->sum_start(r, y.data, mat_size(y), y.dtype, request);
        return;
    }
    for (int64_t i = 0; i < y.rows; i++) {
        r->sum_start(r, real_at(y, i, 0), y.cols, y.dtype, request);
        r->wait(r, request);
    }
}

static void finish(const struct all_reduce_wait_args *a)
{
    if (is_dense(a->y))
        a->call.ranks->wait(a->call.ranks, index_at(a->request, 0, 0));
}

#endif

REF(all_reduce_start, 0)
{
    if (a->call.ranks)
        start(a->call.ranks, a->y, a->request);
}

REF(sum_ranks_start, 0)
{
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            AT(a->y, i, k) = AT(a->x, i, k);
    if (a->call.ranks)
        start(a->call.ranks, a->y, a->request);
}

REF(all_reduce_wait, 0)
{
    if (a->call.ranks)
        finish(a);
}
