/*
 * Every row of every backend at extreme values: results that are finite in double are finite in float, and as
 * accurate as the type allows.
 */
#include "tests/every_row.h"
#include "tests/test.h"

#include <math.h>

static void expect_finite(const struct backend *b, const struct kernel *k, const struct operands *inputs,
                          const struct operands *oracle)
{
    (void)oracle;
    struct operands *o = row_run(inputs, b, k, 2, 0, 0);
    const struct op_info *info = op_info(k->op);
    for (int p = 0; p < info->operand_count; p++)
        if (operand_is_mat(&info->operands[p]) && operand_writes(&info->operands[p]) &&
            !isfinite(mat_norm(*operand_mat(&info->operands[p], &o->args))))
            fail_msg("%s: %s is not finite", row_label(b, k, &o->sample), info->operands[p].name);
    operands_free(o);
}

/* Floats near 1e4 are accurate to 1e-3, so exp of them to a relative 1e-3: the limit is 1 %, not 1e-5. */
static void expect_roughly(const struct backend *b, const struct kernel *k, const struct operands *inputs,
                           const struct operands *oracle)
{
    struct operands *o = row_run(inputs, b, k, 2, 0, 0);
    const char *worst;
    if (!(operands_error(o, oracle, &worst) <= 1000))
        fail_msg("%s: %s is off by more than 1 %%", row_label(b, k, &o->sample), worst);
    operands_free(o);
}

/* Sets every entry of a matrix to `size` or, in odd rows, to -size. */
static void set_magnitude(struct mat m, double size)
{
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            mat_set(m, i, k, i % 2 ? -size : size);
}

TEST(test_attention_of_large_logits)
{
    struct sample s = {.op = OP_attention, .dims = {1, 2, 37, 1, 32, 2, 2}, .seed = 5, .pad = 1};
    s.absent = operands_without(s.op, 0);
    struct operands *forward = operands_new(&s, F64);
    double size = sqrt(1e4 / sqrt(16)); /* sqrt(dh) size^2 = 1e4 */
    set_magnitude(forward->args.attention.q, size);
    set_magnitude(forward->args.attention.k, size);
    struct operands *inputs = operands_copy(forward, F32, 1);
    operands_run(forward, backend_kernel(&backend_ref, s.op, F64, NULL), 1, 0, 0);
    assert_true(fabs(mat_get(forward->args.attention.lse, 0, 0) - 1e4) < 10);
    visit_all(s.op, expect_finite, inputs, NULL);
    visit_all(s.op, expect_roughly, inputs, forward);

    s.op = OP_attention_backward;
    s.absent = operands_without(s.op, 0);
    struct operands *backward = operands_new(&s, F64);
    set_magnitude(backward->args.attention_backward.q, size);
    set_magnitude(backward->args.attention_backward.k, size);
    for (int64_t i = 0; i < s.dims[DIM_N]; i++) {
        for (int64_t h = 0; h < s.dims[DIM_H]; h++)
            mat_set(backward->args.attention_backward.lse, i, h, mat_get(forward->args.attention.lse, i, h));
        for (int64_t c = 0; c < s.dims[DIM_D]; c++)
            mat_set(backward->args.attention_backward.y, i, c, mat_get(forward->args.attention.y, i, c));
    }
    struct operands *narrow = operands_copy(backward, F32, 1);
    visit_all(s.op, expect_finite, narrow, NULL);
    operands_free(forward);
    operands_free(inputs);
    operands_free(backward);
    operands_free(narrow);
}

TEST(test_softmax_of_large_scores)
{
    struct sample s = {.op = OP_attention_softmax, .dims = {1, 2, 37, 1, 32, 2, 2}, .seed = 5, .pad = 1};
    struct operands *inputs = operands_new(&s, F32);
    struct mat scores = inputs->args.attention_softmax.s;
    for (int64_t h = 0; h < scores.rows; h++)
        for (int64_t j = 0; j < scores.cols; j++)
            mat_set(scores, h, j, (h ? -1e4 : 1e4) + (double)(j % 7));
    struct operands *oracle = operands_copy(inputs, F64, 0);
    operands_run(oracle, backend_kernel(&backend_ref, s.op, F64, NULL), 1, 0, 0);
    visit_all(s.op, check_row, inputs, oracle);
    operands_free(inputs);
    operands_free(oracle);
}

/* The maximum of a hub's pieces, and of other parts of a sum, is not that of them and zero. */
TEST(test_maximum_of_negative_values)
{
    static const struct {
        enum op op;
        const char *of;
    } maxima[] = {{OP_edge_pool, "x"}, {OP_pna_pool, "b"}, {OP_max_pool, "x"}};
    for (size_t i = 0; i < sizeof maxima / sizeof *maxima; i++) {
        struct sample s = {.op = maxima[i].op, .dims = {1, 2, 9, 1, 11, 1, 1, 2400}, .seed = 6};
        struct operands *inputs = operands_new(&s, F32);
        struct mat x = operand_of(inputs, maxima[i].of);
        for (int64_t r = 0; r < x.rows; r++)
            for (int64_t k = 0; k < x.cols; k++)
                mat_set(x, r, k, -1 - fabs(mat_get(x, r, k)));
        struct operands *oracle = operands_copy(inputs, F64, 0);
        operands_run(oracle, backend_kernel(&backend_ref, s.op, F64, NULL), 1, 0, 0);
        visit_all(s.op, check_row, inputs, oracle);
        operands_free(inputs);
        operands_free(oracle);
    }
}

/* Of a label that is right the loss is exp(-|y|), of one that is wrong |y|: neither is rounded away. */
TEST(test_loss_of_large_logits)
{
    for (int v = 0; v < 20; v++) {
        struct sample s = {.op = OP_binary_cross_entropy, .dims = {1, 2, 1, 1, 1, 1, 1}, .seed = 9};
        struct operands *inputs = operands_new(&s, F32);
        mat_set(inputs->args.binary_cross_entropy.y, 0, 0, (v % 2 ? -15 : 15) * (2 + v / 4));
        mat_set(inputs->args.binary_cross_entropy.label, 0, 0, v / 2 % 2);
        struct operands *oracle = operands_copy(inputs, F64, 0);
        operands_run(oracle, backend_kernel(&backend_ref, s.op, F64, NULL), 1, 0, 0);
        visit_all(s.op, check_row, inputs, oracle);
        operands_free(inputs);
        operands_free(oracle);
    }
}

/* In linear layers of width 1 with weight 1, the input is the activation's argument. */
TEST(test_activations_of_large_values)
{
    static const double values[] = {-1e4, -50, -10, -6, -3, -1, -1e-3, 0, 1e-3, 1, 3, 6, 10, 50, 1e4};
    enum { COUNT = sizeof values / sizeof *values };
    for (int act = 0; act < ACT_KINDS; act++)
        for (int v = 0; v < COUNT; v++) {
            struct sample s = {.op = OP_linear, .dims = {1, 2, 1, 1, 1, 1, 1}, .act = act, .seed = 9};
            struct operands *o = operands_new(&s, F32);
            mat_set(o->args.linear.x, 0, 0, values[v]);
            mat_set(o->args.linear.w, 0, 0, 1);
            mat_set(o->args.linear.b, 0, 0, 0);
            visit_all(s.op, expect_finite, o, NULL);
            operands_free(o);

            s.op = OP_linear_backward;
            o = operands_new(&s, F32);
            mat_set(o->args.linear_backward.pre, 0, 0, values[v]);
            visit_all(s.op, expect_finite, o, NULL);
            operands_free(o);
        }
}

/* Many arguments of an activation at once, large and small, compared with double. */
TEST(test_activations_over_their_range)
{
    for (int act = 0; act < ACT_KINDS; act++)
        for (int backward = 0; backward < 2; backward++) {
            struct sample s = {.dims = {1, 2, 8193, 1, 1, 1, 1}, .act = act, .seed = 11};
            s.op = backward ? OP_linear_backward : OP_linear;
            struct operands *inputs = operands_new(&s, F32);
            struct mat z = backward ? inputs->args.linear_backward.pre : inputs->args.linear.x;
            for (int64_t i = 0; i < z.rows; i++)
                mat_set(z, i, 0, (double)(i - 4096) / 400);
            if (!backward) {
                mat_set(inputs->args.linear.w, 0, 0, 1);
                mat_set(inputs->args.linear.b, 0, 0, 0);
            }
            struct operands *oracle = operands_copy(inputs, F64, 0);
            operands_run(oracle, backend_kernel(&backend_ref, s.op, F64, NULL), 1, 0, 0);
            visit_all(s.op, check_row, inputs, oracle);
            operands_free(inputs);
            operands_free(oracle);
        }
}
