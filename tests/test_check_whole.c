/* The comparison of a whole program with double: what it allows, and what it finds. */
#include "models/layers/check.h"
#include "tests/batches.h"
#include "tests/test.h"

/* --- gradients that are small beside the others */

enum { SMALL_ROWS = 5 };

/* y = x w' + 1e-3 (x v') 1: the gradient of v, of SMALL_ROWS rows, is about a thousandth of the others. */
static struct recording record_small_gradient(const struct backend *backend, enum dtype dtype)
{
    struct tape_config tape = {.backend = backend, .dtype = dtype, .training = true, .threads = 1, .seed = 3};
    struct tape *t = tape_new(&tape);
    struct mat x = input_uniform(t, "x", all_rows(8), 6), target = input_uniform(t, "target", all_rows(8), 4);
    struct mat w = param(t, "w", 4, 6, 6), v = param(t, "v", SMALL_ROWS, 6, 6);
    struct mat u = param_constant(t, "u", 4, SMALL_ROWS, 1e-3);
    struct mat a = op(t, linear, .x = x, .w = w)->y, h = op(t, linear, .x = x, .w = v)->y;
    struct mat y = op(t, add, .a = a, .b = op(t, linear, .x = h, .w = u)->y)->y;
    struct mat loss = op(t, mean_error, .y = y, .target = target, .power = 2)->loss;
    tape_keep(t, y);
    tape_keep(t, loss);
    tape_backward(t, loss);
    assert_true(tape_layout(t));
    tape_init(t);
    return (struct recording){.tape = t, .output = y, .loss = loss};
}

/* Spoils the gradient of the weight of this shape. */
static void spoil(const void *args, int64_t rows, int64_t cols)
{
    const struct linear_backward_args *a = args;
    backend_kernel(backend_cpu(), OP_linear_backward, F32, NULL)->run(args);
    for (int64_t i = 0; i < mat_size(a->dw) && a->dw.rows == rows && a->dw.cols == cols; i++)
        ((float *)a->dw.data)[i] *= 1.005F;
}

static void spoil_v(const void *args)
{
    spoil(args, SMALL_ROWS, 6);
}

static void spoil_u(const void *args)
{
    spoil(args, 4, SMALL_ROWS);
}

/*
 * The floor is a hundredth of the size of all gradients: an error of a hundred thousandth of that size is
 * found. So is one of the last parameter.
 */
TEST(test_spoiled_gradients)
{
    void (*const spoilers[])(const void *) = {NULL, spoil_v, spoil_u};
    const char *const found[] = {NULL, "gradient of v", "gradient of u"};
    for (int i = 0; i < 3; i++) {
        struct kernel wrong = *backend_kernel(backend_cpu(), OP_linear_backward, F32, NULL);
        wrong.run = spoilers[i];
        struct backend spoiled = {
            .name = "spoiled", .kernels = &wrong, .count = i > 0, .base = backend_cpu()};
        struct recording ours = record_small_gradient(&spoiled, F32);
        struct recording oracle = record_small_gradient(&backend_oracle, F64);
        struct check c = {0};
        check_whole(&c, &ours, &oracle);
        assert_int_equal(c.excess > 1, i > 0);
        if (found[i])
            assert_string_equal(c.tensor, found[i]);
        tape_free(ours.tape);
        tape_free(oracle.tape);
    }
}

/* --- the error of float in a whole program */

static const struct model_config config = {.layers = 1,
                                           .hidden = 12,
                                           .heads = 3,
                                           .ffn = 20,
                                           .act = ACT_GELU,
                                           .mpnn = MPNN_GIN,
                                           .attention = ATTENTION_DENSE};

static void scale_linear(const void *args, float by)
{
    const struct linear_args *a = args;
    backend_kernel(backend_cpu(), OP_linear, F32, NULL)->run(args);
    for (int64_t i = 0; i < a->y.rows; i++)
        for (int64_t k = 0; k < a->y.cols; k++)
            ((float *)a->y.data)[i * a->y.ld + k] *= by;
}

static void scale_little(const void *args)
{
    scale_linear(args, 1 + 1e-4F);
}

static void scale_twice(const void *args)
{
    scale_linear(args, 1 + 2e-4F);
}

static void scale_more(const void *args)
{
    scale_linear(args, 1 + 5e-4F);
}

static void scale_much(const void *args)
{
    scale_linear(args, 1 + 1e-2F);
}

static struct recording ready(const struct backend *backend, enum dtype dtype, const struct model_config *c,
                              const struct batch *b)
{
    struct tape_config tape = {.backend = backend, .dtype = dtype, .threads = 2, .seed = 5};
    struct recording r = program_record(PROGRAM_FORWARD, c, b, NULL, tape);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

/* The excess of a program with one kernel replaced; with `rounded`, by the error that this one has. */
static double excess_of(enum op op, void (*run)(const void *args), const struct model_config *c,
                        struct recording *rounded)
{
    struct batch b = batch_er(20, 2);
    struct kernel other = *backend_kernel(backend_cpu(), op, F32, NULL);
    other.run = run ? run : other.run;
    struct backend replaced = {.name = "replaced", .kernels = &other, .count = 1, .base = backend_cpu()};
    struct recording ours = ready(&replaced, F32, c, &b), oracle = ready(&backend_oracle, F64, c, &b);
    struct check once = {0}, again = {0};
    check_whole(&once, &ours, &oracle);
    if (rounded) {
        assert_true(once.excess > 1);
        assert_true(check_whole_again(&again, &ours, &oracle, rounded));
    }
    tape_free(ours.tape);
    tape_free(oracle.tape);
    batch_free(&b);
    return rounded ? again.excess : once.excess;
}

/* Here the program in float is off by 1e-4: three times that passes, and no more. */
TEST(test_error_of_float)
{
    struct batch b = batch_er(20, 2);
    struct kernel kernel = *backend_kernel(backend_cpu(), OP_linear, F32, NULL);
    kernel.run = scale_little;
    struct backend little = {.name = "little", .kernels = &kernel, .count = 1, .base = backend_cpu()};
    struct recording rounded = ready(&little, F32, &config, &b);
    assert_true(excess_of(OP_linear, scale_twice, &config, &rounded) <= 1);
    double more = excess_of(OP_linear, scale_more, &config, &rounded);
    double much = excess_of(OP_linear, scale_much, &config, &rounded);
    assert_true(more > 1.4 && more < 2);
    assert_true(much > 10);
    tape_free(rounded.tape);
    batch_free(&b);
}

/* --- one node of many that are pooled */

static void spoil_last_node(const void *args)
{
    const struct add_layer_norm_args *a = args;
    backend_kernel(backend_cpu(), OP_add_layer_norm, F32, NULL)->run(args);
    for (int64_t k = 0; k < a->y.cols; k++)
        ((float *)a->y.data)[(a->y.rows - 1) * a->y.ld + k] *= 1 + 5e-4F;
}

/* An error of 5e-4 is far below the limit in a mean of a thousand. */
TEST(test_single_node)
{
    struct batch b = batch_er(1000, 1);
    struct kernel wrong = *backend_kernel(backend_cpu(), OP_add_layer_norm, F32, NULL);
    wrong.run = spoil_last_node;
    for (int i = 0; i < 2; i++) {
        struct backend spoiled = {.name = "spoiled", .kernels = &wrong, .count = i, .base = backend_cpu()};
        struct recording ours = ready(&spoiled, F32, &config, &b);
        struct recording oracle = ready(&backend_oracle, F64, &config, &b);
        struct check c = {0};
        check_whole(&c, &ours, &oracle);
        assert_int_equal(c.excess > 1, i);
        if (i == 1)
            assert_string_equal(c.tensor, "nodes before pooling");
        tape_free(ours.tape);
        tape_free(oracle.tape);
    }
    batch_free(&b);
}

/* --- inference with batch norm */

static void forget_mean(const void *args)
{
    struct batch_norm_inference_args a = *(const struct batch_norm_inference_args *)args;
    static float zeros[32];
    a.running_mean.data = zeros;
    backend_kernel(backend_cpu(), OP_batch_norm_inference, F32, NULL)->run(&a);
}

/*
 * With the running statistics at which a program begins, 0 and 1, the mean would not matter, and the features
 * of this model would grow until the last bit of a float decides which keys count.
 */
TEST(test_inference_with_batch_norm)
{
    static const struct model_config deep = {.layers = 14,
                                             .hidden = 16,
                                             .heads = 4,
                                             .ffn = 32,
                                             .act = ACT_RELU,
                                             .norm = NORM_BATCH,
                                             .mpnn = MPNN_GIN,
                                             .attention = ATTENTION_DENSE};
    assert_true(excess_of(OP_batch_norm_inference, NULL, &deep, NULL) < 0.5);
    assert_true(excess_of(OP_batch_norm_inference, forget_mean, &deep, NULL) > 100);
}
