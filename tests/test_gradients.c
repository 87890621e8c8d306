/*
 * Every op that has a backward op: for the objective sum(c * output), the gradients that the backward op
 * computes from c equal the objective's central differences, in double, at several shapes, for every
 * activation and choice of gradients; accumulated ones add to the previous contents.
 */
#include "bench/audit/operands.h"
#include "tests/test.h"

#include <math.h>

static const double step = 1e-5, limit = 1e-7;

/* sum(c * y) over the forward op's outputs y, where c is the backward op's dy. */
static double objective(const struct operands *inputs, const struct operands *backward)
{
    const struct op_info *info = op_info(inputs->sample.op);
    struct operands *forward = operands_copy(inputs, F64, 0);
    operands_run(forward, backend_kernel(&backend_ref, forward->sample.op, F64, NULL), 1, 0, 0);
    double sum = 0;
    for (int p = 0; p < info->operand_count; p++) {
        char name[64];
        snprintf(name, sizeof name, "d%s", info->operands[p].name);
        if (info->operands[p].role != ROLE_OUT && info->operands[p].role != ROLE_INOUT)
            continue;
        if (!operand_named(backward->sample.op, name))
            continue; /* a constant in gradients */
        struct mat y = *operand_mat(&info->operands[p], &forward->args), c = operand_of(backward, name);
        assert_int_equal(c.rows, y.rows);
        for (int64_t i = 0; i < y.rows; i++)
            for (int64_t k = 0; k < y.cols; k++)
                sum += mat_get(c, i, k) * mat_get(y, i, k);
    }
    operands_free(forward);
    return sum;
}

static double central_difference(const struct operands *forward, const struct operands *backward,
                                 struct mat z, int64_t i, int64_t k)
{
    double at = mat_get(z, i, k);
    mat_set(z, i, k, at + step);
    double above = objective(forward, backward);
    mat_set(z, i, k, at - step);
    double below = objective(forward, backward);
    mat_set(z, i, k, at);
    return (above - below) / (2 * step);
}

/* Writes the expected gradients to `expected`, a copy of the backward's operands before it ran. */
static void add_differences(const struct operands *forward, struct operands *expected)
{
    const struct op_info *info = op_info(expected->sample.op);
    for (int p = 0; p < info->operand_count; p++) {
        struct mat d = operand_is_mat(&info->operands[p]) ? *operand_mat(&info->operands[p], &expected->args)
                                                          : (struct mat){0};
        if (info->operands[p].role != ROLE_GRAD || !mat_present(d))
            continue;
        struct mat z = operand_of(forward, info->operands[p].name + 1);
        assert_int_equal(z.rows, d.rows);
        assert_int_equal(z.cols, d.cols);
        for (int64_t i = 0; i < d.rows; i++)
            for (int64_t k = 0; k < d.cols; k++) {
                double before = d.acc ? mat_get(d, i, k) : 0;
                mat_set(d, i, k, before + central_difference(forward, expected, z, i, k));
            }
    }
}

/* Whether the case exists. */
static bool check_case(enum op op, const struct sample *s)
{
    struct operands *backward = operands_new(s, F64);
    if (!backward)
        return false;
    struct operands *expected = operands_copy(backward, F64, 0);
    struct sample f = *s;
    f.op = op;
    f.absent = operands_without(op, op_options(s->op, &backward->args));
    f.acc = 0;
    struct operands *forward = operands_new(&f, F64);
    if (!forward) { /* all that it would compute has a row per edge, and there are none */
        operands_free(backward);
        operands_free(expected);
        return false;
    }
    add_differences(forward, expected);
    operands_run(backward, backend_kernel(&backend_ref, s->op, F64, NULL), 1, 0, 0);
    const char *worst;
    double error = operands_error(backward, expected, &worst) * 1e-11; /* relative to the limit in double */
    if (!(error <= limit))
        fail_msg("%s, act %s, absent %x, acc %x, N %d: %s differs by %g", op_info(s->op)->name,
                 activation_name(s->act), s->absent, s->acc, (int)s->dims[DIM_N], worst, error);
    operands_free(backward);
    operands_free(expected);
    operands_free(forward);
    return true;
}

static void test_op(void **state)
{
    static const int64_t shapes[][DIMS] = {
        {1, 2, 1, 2, 3, 1, 1, 2, 0}, {1, 2, 7, 4, 6, 2, 3, 19, 0}, {1, 2, 9, 5, 8, 1, 1, 0, 0}};
    static struct sample cases[CASES_MAX];
    enum op op = *(const enum op *)*state;
    int checked = 0;
    struct sample base = {.op = op_backward_of(op), .smooth = true};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int d = 0; d < DIMS; d++)
            base.dims[d] = shapes[i][d];
        base.seed = 20 + i;
        int count = operands_cases(&base, true, cases);
        for (int c = 0; c < count; c++)
            checked += check_case(op, &cases[c]);
    }
    if (!checked)
        fail_msg("%s: no operands could be made", op_info(base.op)->name);
}

int main(void)
{
    static enum op ops[OPS];
    struct CMUnitTest tests[OPS] = {{0}}; /* cmocka skips empty ones */
    for (enum op op = 0; op < OPS; op++) {
        if (op_backward_of(op) == OPS)
            continue;
        ops[op] = op;
        tests[op] = (struct CMUnitTest){op_info(op)->name, test_op, NULL, NULL, &ops[op]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
