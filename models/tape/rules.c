/*
 * The gradient rule of each op: which backward op it needs, reading grad_from its outputs and writing
 * grad_into its operands. kernels/ops.def defines the mathematics of the backward ops, and so most rules:
 * only those that say something else are written here.
 */
#include "models/tape/tape_internal.h"

#include <string.h>

/* dX, of the backward op, as an output: what it adds to the gradient of X; as an operand: that gradient. */
static struct mat gradient_named(struct tape *t, enum op op, const void *args, const struct operand *d)
{
    const struct operand *x = *d->name == 'd' ? operand_named(op, d->name + 1) : NULL;
    if (!x)
        tape_contract("%s has no operand for %s of its gradient", op_info(op)->name, d->name);
    struct mat m = *operand_mat(x, args);
    return d->role == ROLE_GRAD ? grad_into(t, m) : grad_from(t, m);
}

void rule_by_names(struct tape *t, enum op op, const void *args)
{
    enum op backward = op_backward_of(op);
    if (backward == OPS)
        tape_contract("%s has no gradient rule", op_info(op)->name);
    const struct op_info *info = op_info(backward);
    union any_args gradient = {0};
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *to = &info->operands[i], *from = operand_named(op, to->name);
        if (from)
            memcpy((char *)&gradient + to->at, (const char *)args + from->at, from->size);
        else
            *operand_mat(to, &gradient) = gradient_named(t, op, args, to);
    }
    tape_record(t, backward, &gradient);
}

#define RULE(name) static void rule_##name(struct tape *t, const struct name##_args *a)

RULE(add_layer_norm)
{
    op(t, layer_norm_backward, .dx = grad_into(t, a->sum), .dgain = grad_into(t, a->gain),
       .dbias = grad_into(t, a->bias), .dy = grad_from(t, a->y), .x = a->sum, .gain = a->gain,
       .stats = a->stats);
    struct mat dsum = grad_from(t, a->sum);
    grad_pass(t, a->a, dsum);
    grad_pass(t, a->b, dsum);
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

/* What is folded into attention has its gradients from the rule of that. */
RULE(attention)
{
    if (mat_present(a->from))
        return;
    if (ring_continues(t))
        ring_backward(t, a);
    else
        rule_by_names(t, OP_attention, a);
}

/* c is only added: its gradient is that of y. */
RULE(edge_add)
{
    rule_by_names(t, OP_edge_add, a);
    if (mat_present(a->c))
        grad_pass(t, a->c, grad_from(t, a->y));
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

void rule_apply(struct tape *t, enum op op, const void *args)
{
    switch (op) {
#define APPLY(name)                                                                                          \
    case OP_##name:                                                                                          \
        rule_##name(t, args);                                                                                \
        break;
        APPLY(add_layer_norm)
        APPLY(norm_by_sums)
        APPLY(max_shared)
        APPLY(attention)
        APPLY(edge_add)
        APPLY(add)
        APPLY(clone)
        APPLY(sum_ranks_start)
        APPLY(halo_start)
        APPLY(scatter_heads_start)
        APPLY(gather_heads_wait)
    default:
        rule_by_names(t, op, args);
    }
}
