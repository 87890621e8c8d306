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

/* What is folded into attention has its gradients from the rule of that. */
RULE(attention)
{
    if (!mat_present(a->from))
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

void rule_apply(struct tape *t, const struct entry *e)
{
    if (e->rule) {
        e->rule(t, e->args);
        return;
    }
    switch (e->op) {
#define APPLY(name)                                                                                          \
    case OP_##name:                                                                                          \
        rule_##name(t, e->args);                                                                             \
        break;
        APPLY(add_layer_norm)
        APPLY(attention)
        APPLY(edge_add)
        APPLY(add)
        APPLY(clone)
    default:
        rule_by_names(t, e->op, e->args);
    }
}
