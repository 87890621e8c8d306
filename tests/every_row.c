#include "tests/every_row.h"

#include "tests/sanitized.h"
#include "tests/test.h"

static void visit_backend(const struct backend *b, enum op op, int bits, visitor *visit,
                          const struct operands *inputs, const struct operands *oracle)
{
    for (int i = 0; i < b->count; i++)
        if (b->kernels[i].op == op && b->kernels[i].dtype == inputs->dtype &&
            (b->kernels[i].bits == TF32_BITS) == (bits == TF32_BITS) &&
            kernel_supports(&b->kernels[i], op_options(op, &inputs->args)))
            visit(b, &b->kernels[i], inputs, oracle);
}

void visit_bits(enum op op, int bits, visitor *visit, const struct operands *inputs,
                const struct operands *oracle)
{
    visit_backend(&backend_ref, op, bits, visit, inputs, oracle);
    visit_backend(&backend_oracle, op, bits, visit, inputs, oracle);
    for (const struct backend *const *b = backend_cpu_all(); *b; b++)
        if (*b == backend_cpu() || *b == backend_cpu()->base || !env_set("GTMARK_SMALL"))
            visit_backend(*b, op, bits, visit, inputs, oracle);
}

void visit_all(enum op op, visitor *visit, const struct operands *inputs, const struct operands *oracle)
{
    visit_bits(op, 0, visit, inputs, oracle);
}

const char *row_label(const struct backend *b, const struct kernel *k, const struct sample *s)
{
    static char text[300];
    snprintf(text, sizeof text,
             "%s/%s %s %s, N %d M %d D %d H %d B %d E %d, act %s, absent %x, acc %x, seed %d", b->name,
             k->variant, op_info(k->op)->name, dtype_name(k->dtype), (int)s->dims[DIM_N], (int)s->dims[DIM_M],
             (int)s->dims[DIM_D], (int)s->dims[DIM_H], (int)s->dims[DIM_B], (int)s->dims[DIM_E],
             activation_name(s->act), s->absent, s->acc, (int)s->seed);
    return text;
}

struct operands *row_run(const struct operands *inputs, const struct backend *b, const struct kernel *k,
                         int threads, int64_t row0, int64_t row1)
{
    struct operands *o = operands_copy(inputs, k->dtype, inputs->sample.pad);
    if (!operands_run(o, k, threads, row0, row1))
        fail_msg("%s: overruns its scratch", row_label(b, k, &o->sample));
    if (!operands_guarded(o))
        fail_msg("%s: writes outside of its operands", row_label(b, k, &o->sample));
    return o;
}

/* The loops of ref and of the oracle know nothing of threads. Under sanitizers two divide rows as three do.
 */
static bool has_threads(const struct backend *b)
{
    return b != &backend_ref && b != &backend_oracle;
}

void check_row(const struct backend *b, const struct kernel *k, const struct operands *inputs,
               const struct operands *oracle)
{
    struct operands *one = row_run(inputs, b, k, 1, 0, 0);
    const char *worst;
    double error = operands_error(one, oracle, &worst);
    if (!(error <= kernel_allowance(k)))
        fail_msg("%s: %s has %g times the allowed error", row_label(b, k, &one->sample), worst, error);
    const char *small = getenv("GTMARK_SMALL");
    bool few = SANITIZED || (small && strcmp(small, "least") == 0);
    for (int threads = one->sample.absent || few ? 3 : 2; threads <= 3 && has_threads(b); threads++) {
        struct operands *many = row_run(inputs, b, k, threads, 0, 0);
        if (!operands_same_bits(one, many))
            fail_msg("%s: %d threads give other bits than 1", row_label(b, k, &one->sample), threads);
        operands_free(many);
    }
    operands_free(one);
}
