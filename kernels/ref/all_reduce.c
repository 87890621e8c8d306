/*
 * Sums and maxima over the ranks (kernels/ranks.h). A program of one rank alone has them already. Those of
 * strided rows are not begun, but made at once.
 */
#include "kernels/ranks.h"
#include "kernels/ref/loops.h"

#ifdef REF_COUNT

static void start(const struct ranks *, enum reduction, struct mat, struct mat)
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

static void start(const struct ranks *r, enum reduction by, struct mat y, struct mat requests)
{
    int64_t *request = index_at(requests, 0, 0);
    *request = 0;
    if (is_dense(y)) {
        r->reduce_start(r, by, y.data, mat_size(y), y.dtype, request);
        return;
    }
    for (int64_t i = 0; i < y.rows; i++) {
        r->reduce_start(r, by, real_at(y, i, 0), y.cols, y.dtype, request);
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
        start(a->call.ranks, REDUCE_SUM, a->y, a->request);
}

static void copy(struct mat y, struct mat x)
{
    for (int64_t i = 0; i < y.rows; i++)
        for (int64_t k = 0; k < y.cols; k++)
            AT(y, i, k) = AT(x, i, k);
}

REF(sum_ranks_start, 0)
{
    copy(a->y, a->x);
    if (a->call.ranks)
        start(a->call.ranks, REDUCE_SUM, a->y, a->request);
}

REF(max_ranks_start, 0)
{
    copy(a->y, a->x);
    if (a->call.ranks)
        start(a->call.ranks, REDUCE_MAX, a->y, a->request);
}

REF(all_reduce_wait, 0)
{
    if (a->call.ranks)
        finish(a);
}
