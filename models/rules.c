/*
 * The gradient rule of each op: which backward op it needs, reading grad_from its output and writing
 * grad_into its operands. The mathematics of the backward ops stands in kernels/ops.def.
 */
#include "models/tape_internal.h"

#define RULE(name) static void rule_##name(struct tape *t, const struct name##_args *a)

RULE(linear)
{
    op(t, linear_backward, .dx = grad_into(t, a->x), .dw = grad_into(t, a->w), .db = grad_into(t, a->b),
       .dy = grad_from(t, a->y), .x = a->x, .w = a->w, .pre = a->pre, .act = a->act);
}

RULE(layer_norm)
{
    op(t, layer_norm_backward, .dx = grad_into(t, a->x), .dgain = grad_into(t, a->gain),
       .dbias = grad_into(t, a->bias), .dy = grad_from(t, a->y), .x = a->x, .gain = a->gain,
       .stats = a->stats);
}

RULE(attention)
{
    op(t, attention_backward, .dq = grad_into(t, a->q), .dk = grad_into(t, a->k), .dv = grad_into(t, a->v),
       .dy = grad_from(t, a->y), .y = a->y, .q = a->q, .k = a->k, .v = a->v, .lse = a->lse,
       .graphs = a->graphs, .heads = a->heads);
}

RULE(add)
{
    struct mat dy = grad_from(t, a->y);
    grad_pass(t, a->a, dy);
    grad_pass(t, a->b, dy);
}

RULE(mean_pool)
{
    op(t, mean_pool_backward, .dx = grad_into(t, a->x), .dy = grad_from(t, a->y), .graphs = a->graphs);
}

RULE(mse)
{
    op(t, mse_backward, .dy = grad_into(t, a->y), .dloss = grad_from(t, a->loss), .y = a->y,
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
        APPLY(layer_norm)
        APPLY(attention)
        APPLY(add)
        APPLY(mean_pool)
        APPLY(mse)
    default:
        tape_contract("%s has no gradient rule", op_info(op)->name);
    }
}
