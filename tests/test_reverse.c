/* Special cases of the reverse pass, each against central differences in double. */
#include <math.h>

#include "models/layers/layers.h"
#include "tests/tapes.h"
#include "tests/test.h"

enum { ROWS = 5, WIDTH = 6 };

static struct mat start(struct tape *t)
{
    return linear(t, "start", input_uniform(t, "x", all_rows(ROWS), 3), WIDTH, ACT_GELU);
}

static struct mat finish(struct tape *t, struct mat y)
{
    struct mat target = input_uniform(t, "target", all_rows(y.rows), y.cols);
    return mean_squared_error(t, "loss", y, target);
}

static struct mat sum(struct tape *t, struct mat a, struct mat b)
{
    return op(t, add, .a = a, .b = b)->y;
}

/* Both operands of an add are the same matrix: its gradient is twice that of the sum. */
static struct mat doubled(struct tape *t)
{
    struct mat x = start(t);
    return finish(t, sum(t, x, x));
}

/* Three consumers, one of them a residual add whose gradient is shared. */
static struct mat fan_out(struct tape *t)
{
    struct mat x = start(t);
    struct mat a = linear(t, "a", x, WIDTH, ACT_RELU), b = linear(t, "b", x, WIDTH, ACT_GELU_TANH);
    return finish(t, sum(t, sum(t, a, x), b));
}

/* The shared gradient of an add gets a contribution before the other operand has read it. */
static struct mat late_reader(struct tape *t)
{
    struct mat early = start(t);
    struct mat x = linear(t, "x", early, WIDTH, ACT_NONE);
    struct mat late = linear(t, "late", x, WIDTH, ACT_GELU);
    return finish(t, sum(t, sum(t, early, x), late));
}

/* Residual chains: every gradient is passed on twice. */
static struct mat chain(struct tape *t)
{
    struct mat x = start(t);
    x = add_norm(t, "n1", NORM_LAYER, x, ffn(t, "l1", MLP_UNFUSED, x, 3, ACT_GELU, 0), NULL);
    x = add_norm(t, "n2", NORM_LAYER, x, ffn(t, "l2", MLP_UNFUSED, x, 4, ACT_RELU, 0), NULL);
    return finish(t, sum(t, x, x));
}

/* Column ranges of one matrix: overlapping ones, and unused columns. */
static struct mat columns(struct tape *t)
{
    struct mat x = start(t);
    struct mat left = mat_cols(x, 0, 3), middle = mat_cols(x, 1, 3);
    struct mat a = linear(t, "a", left, 2, ACT_NONE), b = linear(t, "b", middle, 2, ACT_GELU);
    return finish(t, sum(t, a, b));
}

/* A branch of a single op reads the shared gradient while accumulating into it, so a copy is needed. */
static struct mat short_branch(struct tape *t)
{
    struct mat x = start(t);
    return finish(t, sum(t, x, linear(t, "l", x, WIDTH, ACT_GELU)));
}

/* Column ranges of an add, whose gradient cannot be shared as a whole. */
static struct mat column_sums(struct tape *t)
{
    struct mat x = start(t);
    return finish(t, sum(t, mat_cols(x, 0, 4), mat_cols(x, 2, 4)));
}

/* Self-attention over graphs of 1, 3 and 1 nodes: three column ranges of one projection. */
static struct mat ragged_attention(struct tape *t)
{
    static const int64_t at[] = {0, 1, 4, 5};
    struct structure s = {.graphs = {.at = input_copy(t, "graphs", I64, 4, 1, at), .pairs = 1 + 9 + 1}};
    struct mat x = start(t);
    struct mat y =
        add_norm(t, "norm", NORM_LAYER, x, attention(t, "attention", ATTENTION_DENSE, x, &s, 2, 0), &s);
    return finish(t, pool(t, "pool", POOL_MEAN, y, &s.graphs));
}

/* A parameter used by two ops, and one whose gradient is passed on unchanged. */
static struct mat shared_parameter(struct tape *t)
{
    struct mat x = input_uniform(t, "x", all_rows(ROWS), WIDTH);
    struct mat w = param(t, "w", WIDTH, WIDTH, WIDTH), p = param(t, "p", ROWS, WIDTH, WIDTH);
    struct mat y = op(t, linear, .x = x, .w = w, .act = ACT_GELU)->y;
    y = op(t, linear, .x = sum(t, y, p), .w = w)->y;
    return finish(t, sum(t, y, p));
}

#define CHECKS(name)                                                                                         \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        double error = gradient_error(name);                                                                 \
        if (!(error < 1e-7))                                                                                 \
            fail_msg("relative error %g", error);                                                            \
    }
CHECKS(doubled)
CHECKS(fan_out)
CHECKS(late_reader)
CHECKS(chain)
CHECKS(columns)
CHECKS(column_sums)
CHECKS(short_branch)
CHECKS(ragged_attention)
CHECKS(shared_parameter)

/* A parameter that the loss does not depend on has a zero gradient, written by the tape. */
static struct mat unused_parameter(struct tape *t)
{
    struct mat x = start(t);
    param(t, "unused", 3, 4, 1);
    return finish(t, x);
}

static void test_unused_parameter(void **state)
{
    (void)state;
    struct mat loss;
    struct tape *t = tape_in_double(unused_parameter, &loss);
    struct mat m = tape_parameter(t, tape_parameter_count(t) - 1, NULL), g = tape_gradient(t, m);
    assert_int_equal(mat_size(g), 12);
    int fills = 0; /* of the loss's gradient, and of the parameter's */
    for (int i = 0; i < tape_entry_count(t); i++)
        fills += tape_entry(t, i)->op == OP_fill;
    assert_int_equal(fills, 2);
    for (int i = 0; i < 12; i++)
        ((double *)g.data)[i] = 1;
    tape_run(t);
    for (int i = 0; i < 12; i++)
        assert_true(((double *)g.data)[i] == 0);
    tape_free(t);
}

/* Residual adds share gradients: a chain of layers copies only if both operands of a sum are the same. */
static void test_sharing_saves_copies(void **state)
{
    (void)state;
    struct mat loss;
    struct tape *t = tape_in_double(chain, &loss);
    int copies = 0;
    for (int i = 0; i < tape_entry_count(t); i++)
        copies += tape_entry(t, i)->op == OP_copy;
    assert_int_equal(copies, 2); /* for the last sum, x + x */
    tape_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubled),
        cmocka_unit_test(test_fan_out),
        cmocka_unit_test(test_late_reader),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_column_sums),
        cmocka_unit_test(test_short_branch),
        cmocka_unit_test(test_ragged_attention),
        cmocka_unit_test(test_shared_parameter),
        cmocka_unit_test(test_unused_parameter),
        cmocka_unit_test(test_sharing_saves_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
