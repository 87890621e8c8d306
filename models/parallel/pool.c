/* Sums and maxima over the ranks, of rows that all of them have then. */
#include "models/parallel/parallel.h"
#include "models/tape/tape_internal.h"

/* The sum of what the ranks' losses say about it. */
static void sum_rule(struct tape *t, const void *args)
{
    const struct sum_ranks_args *a = args;
    grad_pass(t, a->x, op(t, sum_ranks, .x = grad_from(t, a->y))->y);
}

struct mat sum_over_ranks(struct tape *t, struct mat x)
{
    struct mat y = op(t, sum_ranks, .x = x)->y;
    tape_rule(t, sum_rule);
    return y;
}

/* Of all ranks: what they say about y, and how many rows share it. Passes over the op that found own maxima.
 */
static void max_rule(struct tape *t, const void *args)
{
    const struct max_ranks_args *a = args;
    const struct max_pool_args *own = t->main.entries[t->storages[a->x.storage].producer].args;
    struct mat dy = op(t, sum_ranks, .x = grad_from(t, a->y))->y;
    struct mat own_count = op(t, count_largest, .x = own->x, .y = a->y, .graphs = own->graphs)->count;
    struct mat count = op(t, sum_ranks, .x = own_count)->y;
    op(t, share_largest, .dx = grad_into(t, own->x), .dy = dy, .count = count, .x = own->x, .y = a->y,
       .graphs = own->graphs);
}

struct mat max_over_ranks(struct tape *t, const char *name, struct mat x, const struct peers *p)
{
    span_enter(t, name);
    struct mat y = op(t, max_ranks, .x = op(t, max_pool, .x = x, .graphs = p->own)->y)->y;
    tape_rule(t, max_rule);
    span_leave(t);
    return y;
}
