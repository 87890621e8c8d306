/* The reference backends' tables, generated from ops.def, and the lookup through a chain of backends. */
#include "kernels/backend.h"

#include "kernels/ref/ref.h"

#include <math.h>
#include <string.h>

static const struct kernel ref_kernels[] = {
#define OP(name, doc)                                                                                        \
    {OP_##name, "ref", TYPE_f32, ref_##name##_f32, ref_##name##_f32_scratch, NULL},                          \
        {OP_##name, "ref", TYPE_f64, ref_##name##_f64, ref_##name##_f64_scratch, NULL},
#include "kernels/ops_list.h"
};

/* Counts do not depend on the dtype. */
static const struct kernel count_kernels[] = {
#define OP(name, doc)                                                                                        \
    {OP_##name, "count", TYPE_f32, ref_##name##_count, ref_##name##_count_scratch, NULL},                    \
        {OP_##name, "count", TYPE_f64, ref_##name##_count, ref_##name##_count_scratch, NULL},
#include "kernels/ops_list.h"
};

const struct backend backend_ref = {
    .name = "ref",
    .doc = "scalar loops, the definition of every op",
    .kernels = ref_kernels,
    .count = sizeof ref_kernels / sizeof *ref_kernels,
};

const struct backend backend_count = {
    .name = "count",
    .doc = "ref's loops over a type that only counts FLOPs",
    .kernels = count_kernels,
    .count = sizeof count_kernels / sizeof *count_kernels,
};

const struct kernel *backend_kernel(const struct backend *b, enum op op, enum dtype dtype,
                                    const char *variant)
{
    for (; b; b = b->base)
        for (int i = 0; i < b->count; i++) {
            const struct kernel *k = &b->kernels[i];
            if (k->op == op && (!dtype || k->dtype == dtype) &&
                (!variant || strcmp(k->variant, variant) == 0))
                return k;
        }
    return NULL;
}

double kernel_allowance(const struct kernel *k)
{
    return k->bits < 24 ? ldexp(100, 11 - k->bits) : 1;
}
