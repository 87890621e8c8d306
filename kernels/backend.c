/* The tables of the reference backends and of plans, generated from ops.def, and of the oracle; the lookup in
 * a chain of backends. */
#include "kernels/backend.h"

#include "kernels/converted.h"
#include "kernels/cuda/beside.h"
#include "kernels/oracle/oracle.h"
#include "kernels/ref/ref.h"

#include <math.h>
#include <string.h>

static const struct kernel ref_kernels[] = {
#define OP(name, doc)                                                                                        \
    {OP_##name, "ref", TYPE_f32, ref_##name##_f32, ref_##name##_f32_scratch, NULL, NULL},                    \
        CONVERTED(OP_##name, "ref", TYPE_tf32, NULL), CONVERTED(OP_##name, "ref", TYPE_bf16, NULL),          \
        {OP_##name, "ref", TYPE_f64, ref_##name##_f64, ref_##name##_f64_scratch, NULL, NULL},                \
        CONVERTED(OP_##name, "ref", TYPE_tf64, NULL),
#include "kernels/ops_list.h"
};

/* Counts do not depend on the dtype. */
static const struct kernel count_kernels[] = {
#define OP(name, doc)                                                                                        \
    {OP_##name, "count", TYPE_f32, ref_##name##_count, ref_##name##_count_scratch, NULL, NULL},              \
        {OP_##name, "count", TYPE_bf16, ref_##name##_count, ref_##name##_count_scratch, NULL, NULL},         \
        {OP_##name, "count", TYPE_f64, ref_##name##_count, ref_##name##_count_scratch, NULL, NULL},
#include "kernels/ops_list.h"
};

/* tf32 is no variant of its own. */
static const struct kernel plan_kernels[] = {
#define OP(name, doc)                                                                                        \
    {OP_##name, "cuda", TYPE_f32, NULL, NULL, NULL, NULL},                                                   \
        {OP_##name, "cuda", TYPE_tf32, converted_run, NULL, NULL, NULL},                                     \
        {OP_##name, "cuda", TYPE_bf16, NULL, NULL, NULL, NULL},
#include "kernels/ops_list.h"
};

static bool none(const struct kernel *k)
{
    (void)k;
    return false;
}

static const struct device plan_device = {.alignment = CUDA_ALIGNMENT,
                                          .beside = CUDA_WORKSPACE + CUDA_RESERVE,
                                          .per_entry = CUDA_LAUNCH,
                                          .tied = none};

const struct backend backend_cuda_plan = {
    .name = "cuda",
    .doc = "plans for a GPU",
    .kernels = plan_kernels,
    .count = sizeof plan_kernels / sizeof *plan_kernels,
    .device = &plan_device,
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

#if HAVE_CBLAS
/* Of the oracle's ops attention alone has options. */
static bool drops_alone(unsigned options)
{
    return !(options & ~(unsigned)OPTION_attention_dropout);
}
#endif

static const struct kernel oracle_kernels[] = {
#if HAVE_CBLAS
#define ROW(op, scratch_f32, scratch_f64)                                                                    \
    {OP_##op, "blas", TYPE_f64, oracle_##op##_f64, scratch_f64, NULL, drops_alone},                          \
        CONVERTED(OP_##op, "blas", TYPE_tf64, drops_alone),                                                  \
        {OP_##op, "blas", TYPE_f32, oracle_##op##_f32, scratch_f32, NULL, drops_alone},                      \
        CONVERTED(OP_##op, "blas", TYPE_bf16, drops_alone),
#define ROW_PLAIN(op)   ROW(op, NULL, NULL)
#define ROW_SCRATCH(op) ROW(op, oracle_##op##_scratch_f32, oracle_##op##_scratch_f64)
    ORACLE_OPS(ROW_PLAIN, ROW_SCRATCH)
#endif
        {0},
};

const struct backend backend_oracle = {
    .name = "oracle",
    .doc = "products by CBLAS, the rest by the reference",
    .kernels = oracle_kernels,
    .count = sizeof oracle_kernels / sizeof *oracle_kernels - 1, /* without the empty row at the end */
    .base = &backend_ref,
};

bool kernel_supports(const struct kernel *k, unsigned options)
{
    return !k->supports || k->supports(options);
}

const struct kernel *backend_form_kernel(const struct backend *b, enum op op, unsigned options,
                                         enum dtype dtype, const char *variant)
{
    for (; b; b = b->base)
        for (int i = 0; i < b->count; i++) {
            const struct kernel *k = &b->kernels[i];
            if (k->op == op && (!dtype || k->dtype == dtype) &&
                (!variant || strcmp(k->variant, variant) == 0) && kernel_supports(k, options))
                return k;
        }
    return NULL;
}

const struct kernel *backend_bits_kernel(const struct backend *b, enum op op, unsigned options,
                                         enum dtype dtype, int bits, const char *variant)
{
    const struct kernel *other = backend_form_kernel(b, op, options, dtype, variant);
    for (; b && bits && op_has_factors(op); b = b->base)
        for (int i = 0; i < b->count; i++) {
            const struct kernel *k = &b->kernels[i];
            if (k->op == op && k->dtype == dtype && k->bits == bits &&
                (!variant || strcmp(k->variant, variant) == 0) && kernel_supports(k, options))
                return k;
        }
    return other;
}

const struct kernel *backend_kernel(const struct backend *b, enum op op, enum dtype dtype,
                                    const char *variant)
{
    return backend_form_kernel(b, op, 0, dtype, variant);
}

double kernel_allowance(const struct kernel *k)
{
    bool rounds = k->dtype == F32 && k->bits < 24 && k->run != converted_run;
    return rounds ? ldexp(100, 11 - k->bits) : 1;
}

double kernel_rounding(const struct kernel *k)
{
    return k->dtype == BF16 && k->run != converted_run && op_has_factors(k->op) ? BF16_ROUNDING : 0;
}
