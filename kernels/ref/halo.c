/*
 * The halo of a part of a graph: rows of nodes of other ranks that the nodes of this one have edges from.
 * They come to the end of y, rank by rank, in ascending order of nodes; a node's row goes once to each rank
 * that needs it. In the backward pass the gradients of these rows go back, and are added up by their owner in
 * the order of `send`, so that results do not depend on time. A rank alone has no halo.
 */
#include "kernels/ref/exchange.h"

#ifdef REF_COUNT

static void pack(struct mat, struct mat, struct mat)
{
}

static void begin(const struct call *, struct mat, struct mat, int64_t, struct mat, struct mat, struct mat)
{
}

static void finish(const struct call *, struct mat)
{
}

static void copy_rows(struct mat, struct mat, int64_t)
{
}

static int64_t sent_row(struct mat, int64_t)
{
    return 0;
}

#else

static void pack(struct mat packed, struct mat x, struct mat send)
{
    for (int64_t e = 0; e < packed.rows; e++)
        copy_row(packed, e, x, edge_end(send, e));
}

static int64_t bound_at(const void *at, int rank)
{
    return *index_at(*(const struct mat *)at, rank, 0);
}

/* Rows of `from` go to the ranks by from_at, and rows come to `to`, from row `first` on, by to_at. */
static void begin(const struct call *call, struct mat to, struct mat to_at, int64_t first, struct mat from,
                  struct mat from_at, struct mat request)
{
    const struct ranks *r = call->ranks;
    int64_t row = (mat_present(to) ? to : from).cols * (int64_t)sizeof(real);
    if (!r)
        return;
    int64_t *to_bytes = byte_bounds(r, row, bound_at, &to_at);
    int64_t *from_bytes = byte_bounds(r, row, bound_at, &from_at);
    r->exchange_start(r, mat_present(to) ? real_at(to, first, 0) : NULL, to_bytes, from.data, from_bytes,
                      index_at(request, 0, 0));
    free(to_bytes);
    free(from_bytes);
}

static void finish(const struct call *call, struct mat request)
{
    if (call->ranks)
        call->ranks->wait(call->ranks, index_at(request, 0, 0));
}

static void copy_rows(struct mat to, struct mat from, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        copy_row(to, i, from, i);
}

static int64_t sent_row(struct mat send, int64_t e)
{
    return edge_end(send, e);
}

#endif

/* The first rows of m, or those from `first` on. */
static struct mat rows_from(struct mat m, int64_t first)
{
    m.rows -= first;
    m.data = m.rows ? real_at(m, first, 0) : NULL;
    return m;
}

REF(halo_start, 0)
{
    pack(a->packed, a->x, a->send);
    begin(&a->call, a->y, a->get_at, a->x.rows, a->packed, a->send_at, a->request);
    copy_rows(a->y, a->x, a->x.rows);
}

REF(halo_wait, 0)
{
    finish(&a->call, a->request);
}

REF(halo_backward_start, 0)
{
    begin(&a->call, a->got, a->send_at, 0, rows_from(a->dy, a->dy.rows - a->ghosts), a->get_at, a->request);
}

REF(halo_backward_wait, 0)
{
    finish(&a->call, a->request);
    if (a->dx.acc) {
        for (int64_t i = 0; i < a->dx.rows; i++)
            for (int64_t k = 0; k < a->dx.cols; k++)
                AT(a->dx, i, k) += AT(a->dy, i, k);
    } else
        copy_rows(a->dx, a->dy, a->dx.rows);
    for (int64_t e = 0; e < a->got.rows; e++)
        for (int64_t k = 0; k < a->dx.cols; k++)
            AT(a->dx, sent_row(a->send, e), k) += AT(a->got, e, k);
}
