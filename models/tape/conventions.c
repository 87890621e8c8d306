/* The formulas of conventions.def. */
#include "models/tape/conventions.h"

#include "kernels/wide.h"

static const struct {
    const char *name, *doc;
    bool forward_only;
} conventions[CONVENTIONS] = {
    [CONVENTION_FULL] = {"full", "every operation of the mathematics, a multiply-add 2 (docs/ops.md)", false},
    [CONVENTION_SIMPLE] = {"simple", "as full, but softmax and layer norm 5 an entry, GELU 4, ReLU 1", false},
    [CONVENTION_TORCH] = {"torch",
                          "PyTorch's FlopCounterMode: only products and scaled_dot_product_attention, a "
                          "multiply-add 2",
                          false},
    [CONVENTION_FVCORE] = {"fvcore",
                           "fvcore's FlopCountAnalysis: products, a multiply-add 1, and norms; forward pass "
                           "only",
                           true},
    [CONVENTION_DEEPSPEED] = {"deepspeed",
                              "DeepSpeed's FlopsProfiler: products, a multiply-add 2, norms, activations, "
                              "softmax and sums; forward pass only",
                              true},
};

/* FLOPs of an activation in the convention `simple`, per entry. */
static wide simple_act(int act)
{
    static const int cost[ACT_KINDS] = {[ACT_GELU] = 4, [ACT_GELU_TANH] = 4, [ACT_RELU] = 1};
    return cost[act];
}

/* clang-format off */
#define FULL   e->flops
#define HAS(m) (mat_present(a->m) ? 1 : 0)
#define COUNT(name, simple, torch, fvcore, deepspeed, why)                                                        \
    static wide count_##name(enum convention c, const struct entry *e)                                          \
    {                                                                                                           \
        const struct name##_args *a = e->args;                                                                  \
        const wide N = e->dims[DIM_N], M = e->dims[DIM_M], D = e->dims[DIM_D], H = e->dims[DIM_H],              \
                   E = e->dims[DIM_E], P = e->dims[DIM_P];                                                      \
        (void)a, (void)N, (void)M, (void)D, (void)H, (void)E, (void)P;                                          \
        return c == CONVENTION_SIMPLE ? simple : c == CONVENTION_TORCH ? torch                                      \
             : c == CONVENTION_FVCORE ? fvcore : c == CONVENTION_DEEPSPEED ? deepspeed : FULL;                  \
    }
#include "models/tape/conventions.def"
#undef COUNT

static const struct {
    wide (*count)(enum convention c, const struct entry *e);
    const char *why;
} counts[OPS] = {
#define COUNT(name, simple, torch, fvcore, deepspeed, why) [OP_##name] = {count_##name, why},
#include "models/tape/conventions.def"
};
/* clang-format on */

const char *convention_name(enum convention c)
{
    return conventions[c].name;
}

const char *convention_doc(enum convention c)
{
    return conventions[c].doc;
}

const char *convention_reason(enum op op)
{
    return counts[op].why;
}

int64_t convention_flops(enum convention c, const struct entry *e)
{
    if (c == CONVENTION_FULL || (c == CONVENTION_SIMPLE && !counts[e->op].count))
        return e->flops;
    if (!counts[e->op].count || (conventions[c].forward_only && e->phase != PHASE_FORWARD))
        return 0;
    wide flops = counts[e->op].count(c, e);
    return flops < 0 || flops > INT64_MAX ? -1 : (int64_t)flops;
}

int64_t convention_total(enum convention c, const struct tape *t, enum op op)
{
    int64_t total = 0;
    for (int i = 0; i < tape_entry_count(t) && total >= 0; i++) {
        const struct entry *e = tape_entry(t, i);
        if (op != OPS && e->op != op)
            continue;
        int64_t flops = convention_flops(c, e);
        if (flops < 0 || __builtin_add_overflow(total, flops, &total))
            total = -1;
    }
    return total;
}
