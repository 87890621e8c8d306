/*
 * Sums over the ranks (kernels/ranks.h). A program of one rank alone has its sum already. The sum of strided
 * rows is not begun, but made at once.
 */
#include "kernels/ranks.h"
#include "kernels/ref/loops.h"

#ifdef REF_COUNT

static void start(const struct all_reduce_start_args *)
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

static void start(const struct all_reduce_start_args *a)
{
    const struct ranks *r = a->call.ranks;
    int64_t *request = index_at(a->request, 0, 0);
    *request = 0;
    if (is_dense(a->y)) {
        r->sum_start(r, a->y.data, mat_size(a->y), a->y.dtype, request);
        return;
    }
    for (int64_t i = 0; i < a->y.rows; i++) {
        r->sum_start(r, real_at(a->y, i, 0), a->y.cols, a->y.dtype, request);
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
        start(a);
}

REF(all_reduce_wait, 0)
{
    if (a->call.ranks)
        finish(a);
}
