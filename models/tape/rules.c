/*
 * The gradient rule of each op: which backward op it needs, reading grad_from its outputs and writing
 * grad_into its operands. kernels/ops.def defines the mathematics of the backward ops.
 */
#include "models/tape/tape_internal.h"

#define RULE(name) static void rule_##name(struct tape *t, const struct name##_args *a)

RULE(linear)
{
    op(t, linear_backward, .dx = grad_into(t, a->x), .dw = grad_into(t, a->w), .db = grad_into(t, a->b),
       .dy = grad_from(t, a->y), .x = a->x, .w = a->w, .pre = a->pre, .act = a->act);
}

RULE(mlp)
{
    op(t, mlp_backward, .dx = grad_into(t, a->x), .dup = grad_into(t, a->up), .db = grad_into(t, a->b),
       .ddown = grad_into(t, a->down), .dc = grad_into(t, a->c), .dy = grad_from(t, a->y), .x = a->x,
       .up = a->up, .b = a->b, .down = a->down, .act = a->act);
}

RULE(layer_norm)
{
    op(t, layer_norm_backward, .dx = grad_into(t, a->x), .dgain = grad_into(t, a->gain),
       .dbias = grad_into(t, a->bias), .dy = grad_from(t, a->y), .x = a->x, .gain = a->gain,
       .stats = a->stats);
}

RULE(add_layer_norm)
{
    op(t, layer_norm_backward, .dx = grad_into(t, a->sum), .dgain = grad_into(t, a->gain),
       .dbias = grad_into(t, a->bias), .dy = grad_from(t, a->y), .x = a->sum, .gain = a->gain,
       .stats = a->stats);
    struct mat dsum = grad_from(t, a->sum);
    grad_pass(t, a->a, dsum);
    grad_pass(t, a->b, dsum);
}

RULE(batch_norm)
{
    op(t, batch_norm_backward, .dx = grad_into(t, a->x), .dgain = grad_into(t, a->gain),
       .dbias = grad_into(t, a->bias), .dy = grad_from(t, a->y), .x = a->x, .gain = a->gain,
       .stats = a->stats);
}

RULE(graph_norm)
{
    op(t, graph_norm_backward, .dx = grad_into(t, a->x), .dgain = grad_into(t, a->gain),
       .dbias = grad_into(t, a->bias), .dy = grad_from(t, a->y), .x = a->x, .gain = a->gain,
       .stats = a->stats, .graphs = a->graphs);
}

struct mat tape_sum_ranks(struct tape *t, struct mat x)
{
    const struct sum_ranks_start_args *sum = op(t, sum_ranks_start, .x = x);
    op(t, all_reduce_wait, .y = sum->y, .request = sum->request);
    return sum->y;
}

/* The sums' part of the gradient is in it: norm_sums has no rule. Those of gain and bias are summed with all
 * others. */
RULE(norm_by_sums)
{
    int64_t graphs = a->sum.rows;
    struct mat sums = tape_matrix(t, 2 * graphs, a->sum.cols), dy = grad_from(t, a->y);
    op(t, norm_gradient_sums, .s = mat_rows(sums, 0, graphs), .t = mat_rows(sums, graphs, graphs),
       .dgain = grad_into(t, a->gain), .dbias = grad_into(t, a->bias), .dy = dy, .x = a->x, .gain = a->gain,
       .sum = a->sum, .squares = a->squares, .n = a->n, .graphs = a->graphs, .eps = a->eps);
    sums = tape_sum_ranks(t, sums);
    op(t, norm_gradient, .dx = grad_into(t, a->x), .dy = dy, .x = a->x, .gain = a->gain, .sum = a->sum,
       .squares = a->squares, .s = mat_rows(sums, 0, graphs), .t = mat_rows(sums, graphs, graphs), .n = a->n,
       .graphs = a->graphs, .eps = a->eps);
}

/* Of all ranks: what they say about y, and how many rows share it. */
RULE(max_shared)
{
    int64_t graphs = a->y.rows;
    struct mat own = tape_matrix(t, 2 * graphs, a->y.cols);
    op(t, copy, .y = mat_rows(own, 0, graphs), .x = grad_from(t, a->y));
    op(t, count_largest, .count = mat_rows(own, graphs, graphs), .x = a->x, .y = a->top, .graphs = a->graphs);
    struct mat all = tape_sum_ranks(t, own);
    op(t, share_largest, .dx = grad_into(t, a->x), .dy = mat_rows(all, 0, graphs),
       .count = mat_rows(all, graphs, graphs), .x = a->x, .y = a->top, .graphs = a->graphs);
}

void attention_gradient(struct tape *t, const struct attention_args *a)
{
    op(t, attention_backward, .dq = grad_into(t, a->q), .dk = grad_into(t, a->k), .dv = grad_into(t, a->v),
       .dy = grad_from(t, a->y), .y = a->y, .q = a->q, .k = a->k, .v = a->v, .lse = a->lse,
       .graphs = a->graphs, .heads = a->heads);
}

RULE(attention)
{
    (ring_continues(t) ? ring_backward : attention_gradient)(t, a);
}

RULE(dropout_attention)
{
    op(t, dropout_attention_backward, .dq = grad_into(t, a->q), .dk = grad_into(t, a->k),
       .dv = grad_into(t, a->v), .dy = grad_from(t, a->y), .y = a->y, .q = a->q, .k = a->k, .v = a->v,
       .lse = a->lse, .schedule = a->schedule, .graphs = a->graphs, .heads = a->heads, .key = a->key,
       .p = a->p);
}

RULE(masked_attention)
{
    op(t, masked_attention_backward, .dq = grad_into(t, a->q), .dk = grad_into(t, a->k),
       .dv = grad_into(t, a->v), .dy = grad_from(t, a->y), .y = a->y, .q = a->q, .k = a->k, .v = a->v,
       .m = a->m, .lse = a->lse, .graphs = a->graphs, .heads = a->heads);
}

RULE(attention_scores)
{
    op(t, attention_scores_backward, .dq = grad_into(t, a->q), .dk = grad_into(t, a->k),
       .ds = grad_from(t, a->s), .q = a->q, .k = a->k, .graphs = a->graphs, .heads = a->heads);
}

RULE(attention_softmax)
{
    op(t, attention_softmax_backward, .ds = grad_into(t, a->s), .dp = grad_from(t, a->p), .p = a->p,
       .graphs = a->graphs);
}

RULE(attention_values)
{
    op(t, attention_values_backward, .dp = grad_into(t, a->p), .dv = grad_into(t, a->v),
       .dy = grad_from(t, a->y), .p = a->p, .v = a->v, .graphs = a->graphs, .heads = a->heads);
}

RULE(sparse_attention)
{
    op(t, sparse_attention_backward, .dq = grad_into(t, a->q), .dk = grad_into(t, a->k),
       .dv = grad_into(t, a->v), .dy = grad_from(t, a->y), .y = a->y, .q = a->q, .k = a->k, .v = a->v,
       .lse = a->lse, .adj = a->adj, .heads = a->heads);
}

RULE(dropout_sparse_attention)
{
    op(t, dropout_sparse_attention_backward, .dq = grad_into(t, a->q), .dk = grad_into(t, a->k),
       .dv = grad_into(t, a->v), .dy = grad_from(t, a->y), .y = a->y, .q = a->q, .k = a->k, .v = a->v,
       .lse = a->lse, .schedule = a->schedule, .adj = a->adj, .key = a->key, .p = a->p, .heads = a->heads);
}

RULE(gcn_sum)
{
    op(t, gcn_sum_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .w = a->w, .adj = a->adj);
}

RULE(gatv2)
{
    op(t, gatv2_backward, .dl = grad_into(t, a->l), .dr = grad_into(t, a->r), .datt = grad_into(t, a->att),
       .db = grad_into(t, a->b), .dy = grad_from(t, a->y), .y = a->y, .l = a->l, .r = a->r, .att = a->att,
       .b = a->b, .lse = a->lse, .adj = a->adj, .heads = a->heads, .slope = a->slope);
}

RULE(edge_gatv2)
{
    op(t, edge_gatv2_backward, .dl = grad_into(t, a->l), .dr = grad_into(t, a->r),
       .datt = grad_into(t, a->att), .db = grad_into(t, a->b), .dc = grad_into(t, a->c),
       .dloop = grad_into(t, a->loop), .dy = grad_from(t, a->y), .y = a->y, .l = a->l, .r = a->r,
       .att = a->att, .b = a->b, .c = a->c, .loop = a->loop, .lse = a->lse, .adj = a->adj, .heads = a->heads,
       .slope = a->slope);
}

RULE(edge_mean)
{
    op(t, edge_mean_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .adj = a->adj);
}

RULE(edge_pool)
{
    op(t, edge_pool_backward, .dx = grad_into(t, a->x), .dmean = grad_from(t, a->mean),
       .dmax = grad_from(t, a->max), .dsum = grad_from(t, a->sum), .max = a->max, .x = a->x, .adj = a->adj);
}

RULE(pna_pool)
{
    op(t, pna_pool_backward, .da = grad_into(t, a->a), .db = grad_into(t, a->b),
       .dmean = grad_from(t, a->mean), .dmax = grad_from(t, a->max), .dsum = grad_from(t, a->sum),
       .top = a->top, .b = a->b, .adj = a->adj);
}

RULE(performer_keys)
{
    op(t, performer_keys_backward, .dk = grad_into(t, a->k), .dv = grad_into(t, a->v),
       .ds = grad_from(t, a->s), .dl = grad_from(t, a->l), .k = a->k, .v = a->v, .w = a->w,
       .graphs = a->graphs, .heads = a->heads, .features = a->features);
}

RULE(performer_attention)
{
    op(t, performer_attention_backward, .dq = grad_into(t, a->q), .ds = grad_into(t, a->s),
       .dl = grad_into(t, a->l), .dsum = grad_into(t, a->sum), .dy = grad_from(t, a->y), .y = a->y, .q = a->q,
       .s = a->s, .l = a->l, .top = a->top, .sum = a->sum, .w = a->w, .den = a->den, .peak = a->peak,
       .total = a->total, .graphs = a->graphs, .heads = a->heads, .features = a->features, .eps = a->eps);
}

RULE(spmm)
{
    op(t, spmm_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .adj = a->adj, .self = a->self);
}

RULE(gine)
{
    op(t, gine_backward, .dx = grad_into(t, a->x), .de = grad_into(t, a->e), .dy = grad_from(t, a->y),
       .x = a->x, .e = a->e, .adj = a->adj, .self = a->self);
}

RULE(weighted_gine)
{
    op(t, weighted_gine_backward, .dx = grad_into(t, a->x), .de = grad_into(t, a->e),
       .dg = grad_into(t, a->g), .dy = grad_from(t, a->y), .x = a->x, .e = a->e, .g = a->g, .adj = a->adj,
       .self = a->self);
}

RULE(edge_distance)
{
    op(t, edge_distance_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .x = a->x,
       .adj = a->adj);
}

RULE(edge_add)
{
    struct mat dy = grad_from(t, a->y);
    op(t, edge_add_backward, .da = grad_into(t, a->a), .db = grad_into(t, a->b), .dy = dy, .adj = a->adj);
    if (mat_present(a->c))
        grad_pass(t, a->c, dy);
}

RULE(gated_mean)
{
    op(t, gated_mean_backward, .dh = grad_into(t, a->h), .db = grad_into(t, a->b), .dy = grad_from(t, a->y),
       .y = a->y, .h = a->h, .b = a->b, .sum = a->sum, .adj = a->adj);
}

RULE(weighted_gated_mean)
{
    op(t, weighted_gated_mean_backward, .dh = grad_into(t, a->h), .db = grad_into(t, a->b),
       .dg = grad_into(t, a->g), .dy = grad_from(t, a->y), .y = a->y, .h = a->h, .b = a->b, .g = a->g,
       .sum = a->sum, .adj = a->adj);
}

RULE(activate)
{
    op(t, activate_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .x = a->x, .act = a->act);
}

RULE(embedding)
{
    op(t, embedding_backward, .dtable = grad_into(t, a->table), .dy = grad_from(t, a->y), .index = a->index);
}

RULE(l2_norm)
{
    op(t, l2_norm_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .y = a->y, .scale = a->scale);
}

RULE(row_dot)
{
    op(t, row_dot_backward, .da = grad_into(t, a->a), .db = grad_into(t, a->b), .dy = grad_from(t, a->y),
       .a = a->a, .b = a->b);
}

RULE(add)
{
    struct mat dy = grad_from(t, a->y);
    grad_pass(t, a->a, dy);
    grad_pass(t, a->b, dy);
}

RULE(clone)
{
    grad_pass(t, a->x, grad_from(t, a->y));
}

RULE(dropout)
{
    op(t, dropout_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .schedule = a->schedule,
       .key = a->key, .p = a->p);
}

RULE(scale_rows)
{
    op(t, scale_rows_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .w = a->w);
}

RULE(mean_pool)
{
    op(t, mean_pool_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .graphs = a->graphs);
}

RULE(sum_pool)
{
    op(t, sum_pool_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .graphs = a->graphs);
}

RULE(max_pool)
{
    op(t, max_pool_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .x = a->x, .y = a->y,
       .graphs = a->graphs);
}

RULE(cross_entropy)
{
    op(t, cross_entropy_backward, .dy = grad_into(t, a->y), .dloss = grad_from(t, a->loss), .y = a->y,
       .lse = a->lse, .label = a->label);
}

RULE(binary_cross_entropy)
{
    op(t, binary_cross_entropy_backward, .dy = grad_into(t, a->y), .dloss = grad_from(t, a->loss), .y = a->y,
       .label = a->label);
}

/* The sum of what the ranks' losses say about it. */
RULE(sum_ranks_start)
{
    grad_pass(t, a->x, tape_sum_ranks(t, grad_from(t, a->y)));
}

RULE(halo_start)
{
    struct mat dy = grad_from(t, a->y);
    const struct halo_backward_start_args *back =
        op(t, halo_backward_start, .dy = dy, .send = a->send, .send_at = a->send_at, .get_at = a->get_at,
           .ghosts = a->ghosts);
    op(t, halo_backward_wait, .dx = grad_into(t, a->x), .dy = dy, .got = back->got, .send = a->send,
       .request = back->request);
}

/* What comes back from attention goes to its place in one step. */
static struct mat only_gradient(struct tape *t, struct mat operand)
{
    struct mat m = grad_into(t, operand);
    if (m.acc)
        tape_contract("%s: heads that are exchanged are used once", t->span);
    return m;
}

RULE(scatter_heads_start)
{
    struct mat dy = grad_from(t, a->y);
    const struct gather_heads_start_args *back =
        op(t, gather_heads_start, .got = tape_matrix(t, a->packed.rows, a->packed.cols), .x = dy,
           .first = a->first, .nodes = a->nodes, .heads = a->heads);
    op(t, gather_heads_wait, .y = only_gradient(t, a->x), .got = back->got, .x = dy, .first = a->first,
       .request = back->request, .nodes = a->nodes, .heads = a->heads);
}

RULE(gather_heads_wait)
{
    const struct scatter_heads_start_args *back =
        op(t, scatter_heads_start, .y = only_gradient(t, a->x), .x = grad_from(t, a->y), .first = a->first,
           .nodes = a->nodes, .heads = a->heads);
    op(t, scatter_heads_wait, .y = back->y, .packed = back->packed, .request = back->request);
}

RULE(mse)
{
    op(t, mse_backward, .dy = grad_into(t, a->y), .dloss = grad_from(t, a->loss), .y = a->y,
       .target = a->target);
}

RULE(mae)
{
    op(t, mae_backward, .dy = grad_into(t, a->y), .dloss = grad_from(t, a->loss), .y = a->y,
       .target = a->target);
}

void rule_apply(struct tape *t, enum op op, const void *args)
{
    switch (op) {
#define APPLY(name)                                                                                          \
    case OP_##name:                                                                                          \
        rule_##name(t, args);                                                                                \
        break;
        APPLY(linear)
        APPLY(mlp)
        APPLY(layer_norm)
        APPLY(add_layer_norm)
        APPLY(batch_norm)
        APPLY(graph_norm)
        APPLY(norm_by_sums)
        APPLY(max_shared)
        APPLY(attention)
        APPLY(dropout_attention)
        APPLY(masked_attention)
        APPLY(attention_scores)
        APPLY(attention_softmax)
        APPLY(attention_values)
        APPLY(sparse_attention)
        APPLY(dropout_sparse_attention)
        APPLY(gcn_sum)
        APPLY(gatv2)
        APPLY(edge_gatv2)
        APPLY(pna_pool)
        APPLY(edge_mean)
        APPLY(edge_pool)
        APPLY(performer_keys)
        APPLY(performer_attention)
        APPLY(embedding)
        APPLY(l2_norm)
        APPLY(row_dot)
        APPLY(spmm)
        APPLY(gine)
        APPLY(weighted_gine)
        APPLY(edge_distance)
        APPLY(edge_add)
        APPLY(gated_mean)
        APPLY(weighted_gated_mean)
        APPLY(activate)
        APPLY(add)
        APPLY(dropout)
        APPLY(mean_pool)
        APPLY(sum_pool)
        APPLY(max_pool)
        APPLY(cross_entropy)
        APPLY(binary_cross_entropy)
        APPLY(mse)
        APPLY(mae)
        APPLY(scale_rows)
        APPLY(clone)
        APPLY(sum_ranks_start)
        APPLY(halo_start)
        APPLY(scatter_heads_start)
        APPLY(gather_heads_wait)
    default:
        tape_contract("%s has no gradient rule", op_info(op)->name);
    }
}
