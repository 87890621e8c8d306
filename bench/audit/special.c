#include <math.h>
#include <stdio.h>

#include "bench/audit/audit.h"
#include "kernels/rng.h"

/* Whether two values differ by more than their rounding. */
static bool apart(double x, double y)
{
    return !(fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y)));
}

/* The first output with an entry that is finite in b and not in a, and, unless they are null, differs between
 * the other two; null: none. */
static const char *less_finite(const struct operands *a, const struct operands *b, const struct operands *one,
                               const struct operands *other)
{
    for (const struct operand *p = NULL; (p = operands_output(a, p));) {
        struct mat x = *operand_mat(p, &a->args), y = *operand_mat(p, &b->args);
        for (int64_t r = 0; r < x.rows; r++)
            for (int64_t c = 0; c < x.cols; c++)
                if (!isfinite(mat_get(x, r, c)) && isfinite(mat_get(y, r, c)) &&
                    (!one || apart(mat_get(*operand_mat(p, &one->args), r, c),
                                   mat_get(*operand_mat(p, &other->args), r, c))))
                    return p->name;
    }
    return NULL;
}

/* Runs a kernel with another value of an input's entry. */
static struct operands *run_with(const struct audited *a, const struct operands *inputs,
                                 const struct kernel *k, struct mat m, double value)
{
    uint64_t seed = inputs->sample.seed;
    int64_t row = (int64_t)(rng_bits(seed, 0) % (uint64_t)m.rows),
            column = (int64_t)(rng_bits(seed, 1) % (uint64_t)m.cols);
    double before = mat_get(m, row, column);
    mat_set(m, row, column, value);
    struct operands *o = run_copy(a, inputs, k, 1);
    mat_set(m, row, column, before);
    return o;
}

/*
 * With NaN or infinity in an input. NaN is hidden if an output is finite that depends on the input, by two
 * other values of it, and that the reference makes NaN or infinite. The rest is worth a note: infinities that
 * clamped exponentials make finite; terms that are 0 in one of the two, and 0 times NaN in the other.
 */
static void try_value(const struct audited *a, const struct operands *inputs, const struct operand *p,
                      double value, char note[AUDIT_TEXT])
{
    static const double others[2] = {8, -8};
    enum op op = a->kernel->op;
    const struct kernel *exact = backend_kernel(&backend_ref, op, F64, NULL),
                        *ref = backend_kernel(&backend_ref, op, a->kernel->dtype, NULL);
    struct mat m = *operand_mat(p, &inputs->args);
    struct operands *ours = run_with(a, inputs, a->kernel, m, value),
                    *theirs = run_with(a, inputs, ref, m, value),
                    *one = run_with(a, inputs, exact, m, others[0]),
                    *other = run_with(a, inputs, exact, m, others[1]);
    const char *name = isnan(value) ? "NaN" : "infinity", *hidden = less_finite(theirs, ours, one, other),
               *less = less_finite(theirs, ours, NULL, NULL), *more = less_finite(ours, theirs, NULL, NULL);
    if (hidden && isnan(value))
        verdict_set(a, OUTCOME_FAIL, "hides NaN in %s: %s is finite (%s)", p->name, hidden, a->verdict->at);
    if ((less || more) && !*note)
        snprintf(note, AUDIT_TEXT, "with %s in %s, %s is %sfinite where the reference is%s (%s)", name,
                 p->name, less ? less : more, less ? "" : "not ", less ? " not" : "", a->verdict->at);
    operands_free(ours);
    operands_free(theirs);
    operands_free(one);
    operands_free(other);
}

void try_special(const struct audited *a, const struct operands *inputs, void *note)
{
    const struct op_info *info = op_info(a->kernel->op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *p = &info->operands[i];
        if (!operand_is_mat(p) || operand_writes(p) || p->dtype != DTYPE_NONE ||
            !mat_present(*operand_mat(p, &inputs->args)))
            continue;
        try_value(a, inputs, p, NAN, note);
        try_value(a, inputs, p, INFINITY, note);
    }
}

void check_special(const struct audited *a)
{
    char note[AUDIT_TEXT] = "";
    const char *refusal = NULL;
    int refused, visited = visit_samples(a, SAMPLES_FEW, try_special, note, &refusal, &refused);
    if (*note)
        verdict_set(a, OUTCOME_NOTE, "%s", note);
    say_passed(a, visited, refusal, "NaN and infinity spread as in the reference");
}
