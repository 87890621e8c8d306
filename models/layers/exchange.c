/*
 * Exchanges between ranks that divide the nodes of a batch among them (layers.h): message passing needs rows
 * of ghosts, dense attention all nodes, and pooling sums over all ranks.
 */
#include "kernels/ranks.h"
#include "models/layers/layers.h"
#include "models/tape/tape_internal.h"

int heads_here(const struct structure *s, int heads)
{
    const struct division *d = &s->division;
    return d->ranks
               ? rank_first_head(heads, d->rank + 1, d->ranks) - rank_first_head(heads, d->rank, d->ranks)
               : heads;
}

struct mat with_ghosts(struct tape *t, struct mat x, const struct structure *s)
{
    const struct division *d = &s->division;
    if (!d->ranks)
        return x;
    span_enter(t, "halo");
    const struct halo_start_args *halo =
        op(t, halo_start, .y = tape_matrix(t, x.rows + d->ghosts, x.cols), .x = x, .send = d->send,
           .send_at = d->send_at, .get_at = d->get_at, .ghosts = d->ghosts);
    op(t, halo_wait, .y = halo->y, .packed = halo->packed, .request = halo->request);
    span_leave(t);
    return halo->y;
}

struct mat scatter_heads(struct tape *t, struct mat x, const struct structure *s, int heads)
{
    const struct division *d = &s->division;
    if (!d->ranks)
        return x;
    span_enter(t, "scatter");
    struct mat own = tape_matrix(t, d->all, heads_here(s, heads) * (x.cols / heads));
    const struct scatter_heads_start_args *all =
        op(t, scatter_heads_start, .y = own, .x = x, .first = d->first, .nodes = d->nodes, .heads = heads);
    op(t, scatter_heads_wait, .y = all->y, .packed = all->packed, .request = all->request);
    span_leave(t);
    return all->y;
}

struct mat gather_heads(struct tape *t, struct mat x, const struct structure *s, int heads)
{
    const struct division *d = &s->division;
    if (!d->ranks)
        return x;
    span_enter(t, "gather");
    struct mat blocks = tape_matrix(t, d->rows, x.cols / heads_here(s, heads) * heads);
    const struct gather_heads_start_args *got = op(t, gather_heads_start, .got = blocks, .x = x,
                                                   .first = d->first, .nodes = d->nodes, .heads = heads);
    struct mat y = op(t, gather_heads_wait, .got = got->got, .x = x, .first = d->first,
                      .request = got->request, .nodes = d->nodes, .heads = heads)
                       ->y;
    span_leave(t);
    return y;
}

struct mat sum_over_ranks(struct tape *t, struct mat x, const struct structure *s)
{
    return s->division.ranks ? tape_sum_ranks(t, x) : x;
}

struct mat max_over_ranks(struct tape *t, const char *name, struct mat x, const struct structure *s)
{
    span_enter(t, name);
    const struct max_ranks_start_args *max =
        op(t, max_ranks_start, .x = op(t, max_pool, .x = x, .graphs = s->division.own)->y);
    op(t, all_reduce_wait, .y = max->y, .request = max->request);
    struct mat y = op(t, max_shared, .top = max->y, .x = x, .graphs = s->division.own)->y;
    span_leave(t);
    return y;
}
