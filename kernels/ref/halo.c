/*
 * The halo of a part of a graph: rows of nodes of other ranks that the nodes of this one have edges from.
 * They come to the end of y, rank by rank, in ascending order of nodes; a node's row goes once to each rank
 * that needs it. In the backward pass the gradients of these rows go back, and are added up by their owner in
 * the order of `send`, so that results do not depend on time. A rank alone gets zeros.
 */
#include "kernels/ref/exchange.h"

#ifdef REF_COUNT

static void exchange(const struct call *, struct mat, struct mat, struct mat, struct mat)
{
}

static void copy_rows(struct mat, struct mat)
{
}

static void pack(struct mat, struct mat, struct mat)
{
}

static int64_t sent_row(struct mat, int64_t)
{
    return 0;
}

#else

static int64_t bound_at(const void *at, int rank)
{
    return *index_at(*(const struct mat *)at, rank, 0);
}

/* The rows of `from` go to the ranks by from_at, and those of `to` come from them by to_at. */
static void exchange(const struct call *call, struct mat to, struct mat to_at, struct mat from,
                     struct mat from_at)
{
    const struct ranks *r = call->ranks;
    int64_t row = to.cols * (int64_t)dtype_size(to.dtype), request;
    if (!r) {
        memset(to.data, 0, (size_t)mat_bytes(to));
        return;
    }
    int64_t *to_bytes = byte_bounds(r, row, bound_at, &to_at);
    int64_t *from_bytes = byte_bounds(r, row, bound_at, &from_at);
    r->exchange_start(r, to.data, to_bytes, from.data, from_bytes, &request);
    r->wait(r, &request);
    free(to_bytes);
    free(from_bytes);
}

static void copy_rows(struct mat to, struct mat from)
{
    for (int64_t i = 0; i < to.rows; i++)
        copy_row(to, i, from, i);
}

static void pack(struct mat packed, struct mat x, struct mat send)
{
    for (int64_t e = 0; e < packed.rows; e++)
        copy_row(packed, e, x, edge_end(send, e));
}

static int64_t sent_row(struct mat send, int64_t e)
{
    return edge_end(send, e);
}

#endif

/* Rows to be sent, in the type of x. */
static struct mat sent_rows(struct call call, struct mat send, struct mat x)
{
    struct mat m = scratch_rows(call, 0, send.rows, x.cols);
    m.dtype = x.dtype;
    return m;
}

/* y_i = x_j, or y_i += x_j if y is accumulated; x may be in BF16. */
static void put_row(struct mat y, int64_t i, struct mat x, int64_t j)
{
    if (x.dtype == BF16)
        for (int64_t k = 0; k < y.cols; k++)
            put(y, i, k, bf16_at(x, j, k));
    else
        for (int64_t k = 0; k < y.cols; k++)
            put(y, i, k, AT(x, j, k));
}

REF(halo, mat_size(a->send) * a->x.cols)
{
    struct mat packed = sent_rows(a->call, a->send, a->x);
    pack(packed, a->x, a->send);
    copy_rows(mat_rows(a->y, 0, a->x.rows), a->x);
    exchange(&a->call, mat_rows(a->y, a->x.rows, a->halo_nodes), a->get_at, packed, a->send_at);
}

REF(halo_backward, mat_size(a->send) * a->dx.cols)
{
    struct mat got = sent_rows(a->call, a->send, a->dy), sum = a->dx;
    exchange(&a->call, got, a->send_at, mat_rows(a->dy, a->dx.rows, a->halo_nodes), a->get_at);
    for (int64_t i = 0; i < a->dx.rows; i++)
        put_row(a->dx, i, a->dy, i);
    sum.acc = true;
    for (int64_t e = 0; e < got.rows; e++)
        put_row(sum, sent_row(a->send, e), got, e);
}
