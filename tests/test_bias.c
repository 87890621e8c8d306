/*
 * Attention with a bias: beside what the tests of all rows compare, a bias of zeros against none, hidden
 * pairs, and a bias without a gradient; of every row of the CPU, and of a GPU if there is one.
 */
#include <math.h>

#include "tests/every_row.h"
#include "tests/test.h"

/* A row that supports these options; a device on which operands_run does not work has `device`. */
typedef void row_visitor(const struct kernel *k, const struct opened_device *device, void *context);

static void visit_rows(enum op op, unsigned options, row_visitor *visit, void *context)
{
    struct opened_device gpu = operands_device();
    for (const struct backend *const *b = backend_cpu_all(); *b; b++)
        visit(backend_kernel(*b, op, F32, NULL), NULL, context);
    for (int i = 0; gpu.context && i < gpu.backend->count; i++)
        if (gpu.backend->kernels[i].op == op && kernel_supports(&gpu.backend->kernels[i], options))
            visit(&gpu.backend->kernels[i], &gpu, context);
    operands_device_close(&gpu);
}

static void run_on(struct operands *o, const struct kernel *k, const struct opened_device *device)
{
    assert_true(device ? operands_run_on(o, k, device, false) : operands_run(o, k, 2, 0, 0));
    assert_true(operands_guarded(o));
}

static struct operands *run_copy(const struct operands *exact, const struct kernel *k,
                                 const struct opened_device *device)
{
    struct operands *o = operands_copy(exact, k->dtype, 1);
    run_on(o, k, device);
    return o;
}

/* The 2-norm of errors beside that of results: what products round, and in float. */
static double limit_of(const struct kernel *k)
{
    return 1e-5 + (k->bits < 24 ? 8 * ldexp(1, -k->bits) : 0);
}

/* Operands of attention and of its backward op, with the same values where names are equal. */
struct sides {
    struct operands *forward, *backward;
};

static struct operands *operands_for(enum op op, const struct sample *s, unsigned options)
{
    struct sample its = *s;
    its.op = op;
    its.absent = operands_without(op, options);
    struct operands *o = operands_new(&its, F64);
    assert_non_null(o);
    return o;
}

static void set_entries(struct mat to, struct mat from)
{
    for (int64_t i = 0; i < to.rows; i++)
        for (int64_t k = 0; k < to.cols; k++)
            mat_set(to, i, k, mat_get(from, i, k));
}

/* Runs the reference in double; what the backward op reads of the forward one is of this bias. */
static void run_both(struct sides *s)
{
    assert_true(operands_run(s->forward, backend_kernel(&backend_ref, OP_attention, F64, NULL), 1, 0, 0));
    set_entries(operand_of(s->backward, "y"), operand_of(s->forward, "y"));
    set_entries(operand_of(s->backward, "lse"), operand_of(s->forward, "lse"));
}

static void sides_free(struct sides *s)
{
    operands_free(s->forward);
    operands_free(s->backward);
}

/* How a case sets the bias of query i and key j, of graphs of one size. */
typedef double bias_at(int64_t i, int64_t j, int head);

static struct sides sides_with(const struct sample *s, unsigned options, bias_at *bias)
{
    struct sides both = {operands_for(OP_attention, s, options),
                         operands_for(OP_attention_backward, s, options)};
    struct mat to[] = {operand_of(both.forward, "bias"), operand_of(both.backward, "bias")};
    for (int side = 0; side < 2; side++)
        for (int64_t pair = 0; bias && pair < to[side].rows; pair++)
            for (int64_t h = 0; h < to[side].cols; h++)
                mat_set(to[side], pair, h, bias(pair / s->dims[DIM_N], pair % s->dims[DIM_N], (int)h));
    run_both(&both);
    return both;
}

static const unsigned other_options[] = {0, OPTION_attention_mask, OPTION_attention_dropout,
                                         OPTION_attention_mask | OPTION_attention_dropout};
enum { OTHERS = sizeof other_options / sizeof *other_options };

/* One graph, since these cases know the pairs of one. */
static struct sample sample_of(int64_t nodes)
{
    return (struct sample){.dims = {1, 2, nodes, 1, 24, 3, 1}, .seed = 5, .pad = 1};
}

static double zero(int64_t i, int64_t j, int head)
{
    (void)i, (void)j, (void)head;
    return 0;
}

/* Operands, and what the oracle has of these, which another form computed in double. */
struct compared {
    const struct operands *inputs, *oracle;
};

static double difference_of(struct mat a, struct mat r, double *size)
{
    double difference = *size = 0;
    for (int64_t i = 0; i < r.rows; i++)
        for (int64_t c = 0; c < r.cols; c++) {
            if (isinf(mat_get(r, i, c)))
                continue;
            difference = hypot(difference, mat_get(a, i, c) - mat_get(r, i, c));
            *size = hypot(*size, mat_get(r, i, c));
        }
    return difference;
}

/* Elements that are finite: lse of queries that see nothing is not. */
static void expect_close(const struct kernel *k, const struct operands *ours, const struct operands *oracle,
                         const char *name)
{
    double size, difference = difference_of(operand_of(ours, name), operand_of(oracle, name), &size);
    if (!(difference <= limit_of(k) * size))
        fail_msg("%s %s: %s is off by %g of %g", op_info(k->op)->name, k->variant, name, difference, size);
}

static void expect_as(const struct kernel *k, const struct opened_device *device, void *context)
{
    const struct compared *c = context;
    struct operands *ran = run_copy(c->inputs, k, device);
    for (const struct operand *p = NULL; (p = operands_output(c->oracle, p));)
        expect_close(k, ran, c->oracle, p->name);
    operands_free(ran);
}

TEST(test_zeros)
{
    struct sample s = sample_of(70);
    for (int i = 0; i < OTHERS; i++) {
        unsigned options = other_options[i] | OPTION_attention_bias;
        struct sides with = sides_with(&s, options, zero);
        struct sides without = sides_with(&s, other_options[i], NULL);
        struct operands *gradients = operands_copy(without.backward, F64, 0);
        operands_run(gradients, backend_kernel(&backend_ref, OP_attention_backward, F64, NULL), 1, 0, 0);
        visit_rows(OP_attention, options, expect_as, &(struct compared){with.forward, without.forward});
        visit_rows(OP_attention_backward, options, expect_as, &(struct compared){with.backward, gradients});
        operands_free(gradients);
        sides_free(&with);
        sides_free(&without);
    }
}

/*
 * Query 1 sees nothing, in any head; query 2 nothing in head 0; query 3 nothing before key 270; and of all
 * others a third of the keys is hidden.
 */
static bool is_hidden(int64_t i, int64_t j, int head)
{
    return i == 1 || (i == 2 && head == 0) || (i == 3 && j < 270) || (i > 3 && (i + 2 * j + head) % 3 == 0);
}

static double hides(int64_t i, int64_t j, int head)
{
    return is_hidden(i, j, head) ? -INFINITY : sin((double)(3 * i + j + 7 * head));
}

/* In double, exp of this is 0 too, unless all scores of a query are as low. */
static double lowers(int64_t i, int64_t j, int head)
{
    return is_hidden(i, j, head) ? -1e30 : hides(i, j, head);
}

static bool sees_nothing(int64_t i, int head)
{
    return i == 1 || (i == 2 && head == 0);
}

/* Exactly 0 where nothing is seen; a head of y or dq is 8 columns. */
static void expect_hidden(const struct kernel *k, const struct opened_device *device, void *context)
{
    const struct compared *c = context;
    struct operands *ran = run_copy(c->inputs, k, device);
    bool backward = k->op == OP_attention_backward;
    struct mat y = operand_of(ran, backward ? "dq" : "y"), lse = operand_of(ran, "lse");
    for (int64_t i = 0; i < y.rows; i++)
        for (int head = 0; head < lse.cols; head++) {
            bool nothing = sees_nothing(i, head);
            assert_true(nothing == (mat_get(lse, i, head) == -INFINITY));
            for (int64_t n = head * 8; n < head * 8 + 8; n++)
                assert_true(nothing == (mat_get(y, i, n) == 0));
            for (int64_t j = 0; backward && j < y.rows; j++)
                if (is_hidden(i, j, head))
                    assert_true(mat_get(operand_of(ran, "dbias"), i * y.rows + j, head) == 0);
        }
    for (const struct operand *p = NULL; (p = operands_output(c->oracle, p));)
        expect_close(k, ran, c->oracle, p->name);
    operands_free(ran);
}

/* Of the reference in double against lower scores, where nothing else is lowered; then of all kernels. */
TEST(test_hidden_pairs)
{
    struct sample s = sample_of(300);
    for (int i = 0; i < OTHERS; i++) {
        unsigned options = other_options[i] | OPTION_attention_bias;
        struct sides hidden = sides_with(&s, options, hides), low = sides_with(&s, options, lowers);
        struct mat y = operand_of(hidden.forward, "y"), same = operand_of(low.forward, "y");
        for (int64_t q = 0; q < y.rows; q++)
            for (int64_t c = 0; c < y.cols; c++)
                if (!sees_nothing(q, (int)c / 8))
                    assert_true(mat_get(y, q, c) == mat_get(same, q, c));
        struct operands *gradients = operands_copy(hidden.backward, F64, 0);
        operands_run(gradients, backend_kernel(&backend_ref, OP_attention_backward, F64, NULL), 1, 0, 0);
        visit_rows(OP_attention, options, expect_hidden, &(struct compared){hidden.forward, hidden.forward});
        visit_rows(OP_attention_backward, options, expect_hidden,
                   &(struct compared){hidden.backward, gradients});
        operands_free(gradients);
        sides_free(&hidden);
        sides_free(&low);
    }
}

/* A query that saw nothing so far, and one that sees nothing more: of the CPU. */
TEST(test_folded_into_nothing)
{
    struct sample s = sample_of(40);
    struct operands *o = operands_for(OP_attention, &s, OPTION_attention_fold | OPTION_attention_bias);
    struct mat from = operand_of(o, "from"), lse = operand_of(o, "from_lse"), bias = operand_of(o, "bias");
    int64_t keys = bias.rows / from.rows;
    for (int64_t c = 0; c < from.cols; c++) {
        mat_set(from, 1, c, 0);
        mat_set(from, 2, c, 0);
    }
    for (int64_t h = 0; h < lse.cols; h++) {
        mat_set(lse, 1, h, -INFINITY);
        mat_set(lse, 2, h, -INFINITY);
        for (int64_t j = 0; j < 2 * keys; j++)
            mat_set(bias, 2 * keys + j, h, -INFINITY);
    }
    struct operands *oracle =
        row_run(o, &backend_ref, backend_kernel(&backend_ref, OP_attention, F64, NULL), 1, 0, 0);
    for (const struct backend *const *b = backend_cpu_all(); *b; b++) {
        const struct kernel *k = backend_kernel(*b, OP_attention, F32, NULL);
        struct operands *ran = run_copy(o, k, NULL);
        struct mat y = operand_of(ran, "y"), ours = operand_of(ran, "lse");
        expect_close(k, ran, oracle, "y");
        for (int64_t h = 0; h < lse.cols; h++) {
            assert_true(mat_get(ours, 2, h) == -INFINITY && mat_get(y, 2, 8 * h) == 0);
            assert_true(isfinite(mat_get(ours, 1, h)) && mat_get(y, 1, 8 * h) != 0);
            assert_true(fabs(mat_get(ours, 3, h) - mat_get(lse, 3, h)) < 1e-6);
        }
        operands_free(ran);
    }
    operands_free(o);
    operands_free(oracle);
}

static void expect_same(const struct kernel *k, const struct opened_device *device, void *context)
{
    struct operands *with = run_copy(context, k, device), *without = operands_copy(context, k->dtype, 1);
    without->args.attention_backward.dbias = (struct mat){0};
    run_on(without, k, device);
    assert_true(operands_same_bits(without, with));
    operands_free(with);
    operands_free(without);
}

/* Without dbias the other gradients have the bits that they have with it. */
TEST(test_without_a_gradient)
{
    struct sample s = sample_of(70);
    struct sides both = sides_with(&s, OPTION_attention_bias, hides);
    visit_rows(OP_attention_backward, OPTION_attention_bias, expect_same, both.backward);
    sides_free(&both);
}

/* More than a task of the backward pass has. */
TEST(test_many_heads)
{
    struct sample s = {.dims = {1, 2, 40, 1, 2 * 18, 18, 2}, .seed = 6};
    struct operands *inputs = operands_for(OP_attention_backward, &s, OPTION_attention_bias);
    struct operands *oracle = operands_copy(inputs, F64, 0), *narrow = operands_copy(inputs, F32, 1);
    assert_true(
        operands_run(oracle, backend_kernel(&backend_ref, OP_attention_backward, F64, NULL), 1, 0, 0));
    visit_all(OP_attention_backward, check_row, narrow, oracle);
    operands_free(inputs);
    operands_free(oracle);
    operands_free(narrow);
}
