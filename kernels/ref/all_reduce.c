/* Sums and maxima over the ranks (kernels/ranks.h). A program of one rank alone has them already. */
#include "kernels/ranks.h"
#include "kernels/ref/loops.h"

#ifdef REF_COUNT

static void reduce(const struct ranks *, enum reduction, struct mat)
{
}

#else

static void reduce(const struct ranks *r, enum reduction by, struct mat y)
{
    bool dense = y.rows == 1 || y.ld == y.cols;
    int64_t request, count = dense ? mat_size(y) : y.cols;
    for (int64_t i = 0; i < (dense ? 1 : y.rows); i++) {
        r->reduce_start(r, by, real_at(y, i, 0), count, y.dtype, &request);
        r->wait(r, &request);
    }
}

#endif

REF(all_reduce, 0)
{
    if (a->call.ranks)
        reduce(a->call.ranks, REDUCE_SUM, a->y);
}

static void copy(struct mat y, struct mat x)
{
    for (int64_t i = 0; i < y.rows; i++)
        for (int64_t k = 0; k < y.cols; k++)
            AT(y, i, k) = AT(x, i, k);
}

REF(sum_ranks, 0)
{
    copy(a->y, a->x);
    if (a->call.ranks)
        reduce(a->call.ranks, REDUCE_SUM, a->y);
}

REF(max_ranks, 0)
{
    copy(a->y, a->x);
    if (a->call.ranks)
        reduce(a->call.ranks, REDUCE_MAX, a->y);
}
