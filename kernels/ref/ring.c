/*
 * Blocks of rows that go around the ranks (Liu et al., "Ring attention with blockwise transformers for
 * near-infinite context", 2024): each sends what it has in hand to the rank after it and receives what the
 * rank before it has. A rank alone receives nothing.
 */
#include "kernels/ref/exchange.h"

#ifdef REF_COUNT

static void begin(const struct ring_start_args *)
{
}

static void finish(const struct ring_wait_args *)
{
}

#else

/* One block of rows, to or from one rank. */
struct parcel {
    int rank, rows;
};

/* The rows of blocks of the ranks before p. */
static int64_t rows_before(const void *parcel, int p)
{
    const struct parcel *one = parcel;
    return p > one->rank ? one->rows : 0;
}

static void begin(const struct ring_start_args *a)
{
    const struct ranks *r = a->call.ranks;
    int64_t row = a->x.cols * (int64_t)dtype_size(a->x.dtype);
    for (int64_t i = a->gets; i < a->y.rows; i++)
        memset(place(a->y, i, 0), 0, (size_t)row);
    if (!r)
        return;
    struct parcel from = {(r->rank + r->count - 1) % r->count, a->gets};
    struct parcel to = {(r->rank + 1) % r->count, a->sends};
    int64_t *get = byte_bounds(r, row, rows_before, &from), *send = byte_bounds(r, row, rows_before, &to);
    r->exchange_start(r, a->y.data, get, a->x.data, send, index_at(a->request, 0, 0));
    free(get);
    free(send);
}

static void finish(const struct ring_wait_args *a)
{
    if (a->call.ranks)
        a->call.ranks->wait(a->call.ranks, index_at(a->request, 0, 0));
}

#endif

REF(ring_start, 0)
{
    begin(a);
}

REF(ring_wait, 0)
{
    finish(a);
}
