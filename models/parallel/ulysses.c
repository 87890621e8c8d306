/*
 * Attention among nodes that ranks divide, by heads: each rank sends the others the columns of their heads
 * for its nodes, computes its own heads for all nodes, and gets all heads of its nodes back.
 */
#include "kernels/ranks.h"
#include "models/parallel/parallel.h"
#include "models/tape/tape_internal.h"

/* What comes back goes to its place in one step. */
static struct mat only_gradient(struct tape *t, struct mat operand)
{
    struct mat m = grad_into(t, operand);
    if (m.acc)
        tape_contract("%s: heads that are exchanged are used once", t->span);
    return m;
}

static void scatter_rule(struct tape *t, const void *args)
{
    const struct scatter_heads_args *a = args;
    op(t, gather_heads, .y = only_gradient(t, a->x), .x = grad_from(t, a->y), .first = a->first,
       .nodes = a->nodes, .heads = a->heads);
}

static void gather_rule(struct tape *t, const void *args)
{
    const struct gather_heads_args *a = args;
    op(t, scatter_heads, .y = only_gradient(t, a->x), .x = grad_from(t, a->y), .first = a->first,
       .nodes = a->nodes, .heads = a->heads);
}

/* x has all heads of the own nodes; the own heads, `own` of them, of all nodes. */
static struct mat scatter(struct tape *t, struct mat x, const struct peers *p, int heads, int own)
{
    span_enter(t, "scatter");
    struct mat y = op(t, scatter_heads, .y = tape_matrix(t, p->all, own * (x.cols / heads)), .x = x,
                      .first = p->first, .nodes = p->nodes, .heads = heads)
                       ->y;
    tape_rule(t, scatter_rule);
    span_leave(t);
    return y;
}

struct mat ulysses_attention(struct tape *t, struct mat qkv, const struct peers *p, int heads)
{
    int64_t d = qkv.cols / 3;
    int own = rank_first_head(heads, p->rank + 1, p->ranks) - rank_first_head(heads, p->rank, p->ranks);
    struct mat q = scatter(t, mat_cols(qkv, 0, d), p, heads, own);
    struct mat k = scatter(t, mat_cols(qkv, d, d), p, heads, own);
    struct mat v = scatter(t, mat_cols(qkv, 2 * d, d), p, heads, own);
    struct mat x = op(t, attention, .q = q, .k = k, .v = v, .graphs = p->graphs, .heads = own)->y;
    span_enter(t, "gather");
    struct mat y = op(t, gather_heads, .y = tape_matrix(t, qkv.rows, d), .x = x, .first = p->first,
                      .nodes = p->nodes, .heads = heads)
                       ->y;
    tape_rule(t, gather_rule);
    span_leave(t);
    return y;
}
