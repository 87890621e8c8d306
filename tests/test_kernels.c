/*
 * Every row of every backend, tested from the ops' metadata: compared with ref in double, at awkward shapes,
 * with padded leading dimensions and guards around every matrix, with every choice of optional operands, with
 * and without accumulation, on one to three threads (bitwise the same; on one and three where operands are
 * absent), and for ref on ranges of rows.
 *
 * GTMARK_SMALL=1 omits the larger shapes, and all instruction sets but the best; GTMARK_SMALL=least also what
 * has more than some rows, and with most shapes the choices of operands, for emulated processors;
 * GTMARK_SOAK=1 adds random shapes.
 */
#include "kernels/converted.h"
#include "kernels/rng.h"
#include "tests/every_row.h"
#include "tests/sanitized.h"
#include "tests/test.h"

#include <malloc.h>
#include <math.h>

enum { NODES_CONVERTED = 110 };

/* The rows [row0, row1) of o equal full's, and the others are unchanged. */
static void expect_rows(const struct operands *o, const struct operands *full, const struct operands *before,
                        int64_t row0, int64_t row1, const char *what)
{
    const struct op_info *info = op_info(o->sample.op);
    for (int p = 0; p < info->operand_count; p++) {
        if (!operand_is_mat(&info->operands[p]) || !operand_writes(&info->operands[p]))
            continue;
        struct mat m = *operand_mat(&info->operands[p], &o->args);
        for (int64_t i = 0; i < m.rows; i++) {
            const struct operands *from = i >= row0 && i < row1 ? full : before;
            struct mat want = *operand_mat(&info->operands[p], &from->args);
            for (int64_t c = 0; c < m.cols; c++) {
                double x = mat_get(m, i, c), y = mat_get(want, i, c);
                if (!(x == y || (isnan(x) && isnan(y))))
                    fail_msg("%s: rows [%d, %d) of %s: row %d is wrong", what, (int)row0, (int)row1,
                             info->operands[p].name, (int)i);
            }
        }
    }
}

static void check_row_ranges(const struct operands *inputs, const struct operands *oracle)
{
    const struct kernel *k = backend_kernel(&backend_ref, inputs->sample.op, F64, NULL);
    int64_t N = inputs->sample.dims[DIM_N];
    const int64_t ranges[][2] = {{0, 1}, {N / 2, N / 2 + 2}, {N - 1, N}, {0, 1000000}, {1000000, 1000001}};
    struct operands *wide = operands_copy(inputs, F64, inputs->sample.pad);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        struct operands *o = row_run(wide, &backend_ref, k, 1, ranges[r][0], ranges[r][1]);
        expect_rows(o, oracle, wide, ranges[r][0], ranges[r][1], row_label(&backend_ref, k, &o->sample));
        operands_free(o);
    }
    operands_free(wide);
}

/* Whether each entry is that of x, rounded to BF16. */
static bool is_rounded(struct mat y, struct mat x)
{
    bool same = true;
    for (int64_t i = 0; i < y.rows; i++)
        for (int64_t k = 0; k < y.cols; k++) {
            double want = float_of_bf16(bf16_of_float((float)mat_get(x, i, k))), got = mat_get(y, i, k);
            same = same && (got == want || (isnan(got) && isnan(want)));
        }
    return same;
}

/* Operands in the type of a row, with the factors of its products in this many bits. */
static struct operands *converted(const struct operands *inputs, const struct kernel *k, int bits)
{
    struct operands *o = operands_copy(inputs, k->dtype, 0);
    const struct op_info *info = op_info(k->op);
    for (int p = 0; p < info->operand_count; p++) {
        struct mat m =
            info->operands[p].factor ? *operand_mat(&info->operands[p], &o->args) : (struct mat){0};
        for (int64_t i = 0; i < m.rows; i++)
            for (int64_t c = 0; c < m.cols; c++)
                mat_set(m, i, c, with_bits(mat_get(m, i, c), bits));
    }
    return o;
}

/*
 * A row that converts gives what the row that it runs gives on operands that are converted here: in BF16 the
 * same bits, rounded once, to the nearest, since no limit of errors tells one rounding from two.
 */
static void check_converted(const struct backend *b, const struct kernel *k, const struct operands *inputs,
                            const struct operands *oracle)
{
    (void)oracle;
    const struct kernel *over = converted_over(k);
    if (over == k)
        return;
    assert_true(over->op == k->op && over->dtype == (k->dtype == BF16 ? F32 : k->dtype) &&
                strcmp(over->variant, k->variant) == 0);
    struct operands *wide = converted(inputs, over, k->bits);
    struct operands *ran = row_run(wide, b, over, 2, 0, 0), *ours = row_run(inputs, b, k, 2, 0, 0);
    const struct op_info *info = op_info(k->op);
    for (int p = 0; p < info->operand_count; p++) {
        const struct operand *o = &info->operands[p];
        struct mat m =
            operand_is_mat(o) && operand_writes(o) ? *operand_mat(o, &ours->args) : (struct mat){0};
        if (m.dtype == BF16 && !is_rounded(m, *operand_mat(o, &ran->args)))
            fail_msg("%s: %s is not that in f32, rounded once", row_label(b, k, &inputs->sample), o->name);
    }
    const char *worst;
    double error = operands_error(ours, ran, &worst);
    if (!(error <= 1))
        fail_msg("%s: %s has %g times the allowed error", row_label(b, k, &inputs->sample), worst, error);
    operands_free(wide);
    operands_free(ran);
    operands_free(ours);
}

/* Checks values rounded to a type: an oracle in double on the same values, and all kernels of the type. */
static void check_type(const struct operands *exact, enum dtype dtype, bool ranges)
{
    const struct sample *s = &exact->sample;
    struct operands *inputs = operands_copy(exact, dtype, s->pad);
    struct operands *oracle = operands_copy(inputs, F64, 0);
    operands_run(oracle, backend_kernel(&backend_ref, s->op, F64, "ref"), 1, 0, 0);
    visit_all(s->op, check_row, inputs, oracle);
    if (dtype == BF16)
        visit_all(s->op, check_converted, inputs, oracle);
    if (ranges)
        check_row_ranges(inputs, oracle);
    if (dtype != BF16 && op_has_factors(s->op) && s->dims[DIM_N] <= NODES_CONVERTED)
        visit_bits(s->op, TF32_BITS, check_converted, inputs, oracle);
    operands_free(inputs);
    operands_free(oracle);
}

/*
 * Checks one sample in every type. Returns false if there is no such sample. In BF16 what a forward op saves
 * is of operands that are BF16, and there are no large ones: rows that convert differ in nothing else.
 * Sanitizers see the loops in double in every oracle.
 */
static bool check_sample(const struct sample *s, bool ranges)
{
    struct sample narrow = *s;
    struct operands *exact = operands_new(s, F64);
    if (!exact)
        return false;
    if (ranges || !SANITIZED)
        check_type(exact, F64, ranges);
    check_type(exact, F32, false);
    operands_free(exact);
    if (s->dims[DIM_N] > NODES_CONVERTED)
        return true;
    narrow.bits = 8;
    exact = operands_new(&narrow, F64);
    check_type(exact, BF16, false);
    operands_free(exact);
    return true;
}

/* Returns the number of samples of this shape. */
static int check_shape(enum op op, const int64_t dims[DIMS], uint64_t seed, bool all)
{
    static struct sample cases[CASES_MAX];
    struct sample base = {.op = op, .seed = seed, .pad = (int64_t)(seed % 4)};
    for (int d = 0; d < DIMS; d++)
        base.dims[d] = dims[d];
    int count = operands_cases(&base, all, cases), checked = 0;
    for (int i = 0; i < count; i++)
        checked += check_sample(&cases[i], all);
    return checked;
}

static bool least(void)
{
    const char *small = getenv("GTMARK_SMALL");
    return small && strcmp(small, "least") == 0;
}

static void test_op(void **state)
{
    enum op op = *(const enum op *)*state;
    int checked = 0;
    for (const struct operands_shape *s = operands_shapes; s->seed; s++)
        if (least() ? s->dims[DIM_N] < 8 : s->small || !env_set("GTMARK_SMALL"))
            checked += check_shape(op, s->dims, s->seed, s->all && (!least() || s->dims[DIM_N] == 2));
    if (!checked)
        fail_msg("%s: no operands could be made", op_info(op)->name);
}

static void test_random_shapes(void **state)
{
    (void)state;
    if (!env_set("GTMARK_SOAK"))
        skip();
    for (uint64_t seed = 100; seed < 200; seed++) {
        int64_t dims[DIMS] = {1, 2};
        dims[DIM_B] = 1 + (int64_t)(rng_bits(seed, 0) % 9);
        dims[DIM_N] = dims[DIM_B] + (int64_t)(rng_bits(seed, 1) % 300);
        dims[DIM_M] = 1 + (int64_t)(rng_bits(seed, 2) % 100);
        dims[DIM_H] = 1 + (int64_t)(rng_bits(seed, 3) % 8);
        dims[DIM_D] = dims[DIM_H] * (1 + (int64_t)(rng_bits(seed, 4) % 40));
        dims[DIM_E] = (int64_t)(rng_bits(seed, 5) % 1000);
        for (enum op op = 0; op < OPS; op++)
            if (!op_info(op)->exchange)
                check_shape(op, dims, seed, false);
    }
}

/*
 * Products deeper than a panel, gradients of more rows than are processed at a time, sums of several parts,
 * polynomials by columns, with a hub, and beyond the caches, and weights that are not small: these with the
 * last activation alone.
 */
static void test_beyond_a_block(void **state)
{
    (void)state;
    if (least())
        skip();
    static const struct {
        enum op op;
        int64_t dims[DIMS];
    } beyond[] = {
        {OP_linear, {1, 2, 5, 7, 700, 1, 1}},
        {OP_linear_backward, {1, 2, 9000, 3, 8, 1, 1}},
        {OP_mlp, {1, 2, 301, 50, 24, 1, 1}},
        {OP_mlp_backward, {1, 2, 301, 50, 24, 1, 1}},
        {OP_chebyshev, {1, 2, 9, 1, 24, 1, 1, 700}},
        {OP_chebyshev, {1, 2, 8200, 1, 32, 1, 1, 900}},
        {OP_embedding_backward, {1, 2, 2153, 3, 8, 1, 1}},
        {OP_performer_attention, {1, 2, 2153, 3, 8, 1, 1}},
        {OP_performer_attention_backward, {1, 2, 2153, 3, 8, 1, 1}},
        {OP_performer_keys, {1, 2, 2153, 3, 8, 1, 1}},
        {OP_attention_backward, {1, 2, 600, 1, 4, 1, 1}},
    };
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        assert_true(check_shape(beyond[i].op, beyond[i].dims, i + 5, false) > 0);
    for (int backward = 0; backward < 2; backward++) {
        struct sample s = {.dims = {1, 2, 193, 130, 257, 1, 1}, .act = ACT_KINDS - 1, .seed = 7, .pad = 1};
        s.op = backward ? OP_linear_backward : OP_linear;
        assert_true(check_sample(&s, false));
    }
}

/* Every float whose upper half is any: of its two neighbours in BF16 the nearer one, or the even one. */
static void test_rounding_to_bf16(void **state)
{
    (void)state;
    static const uint16_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    for (uint32_t upper = 0; upper <= UINT16_MAX; upper++)
        for (size_t i = 0; i < sizeof lower / sizeof *lower; i++) {
            uint32_t bits = upper << 16 | lower[i];
            float x;
            memcpy(&x, &bits, sizeof x);
            uint16_t got = bf16_of_float(x);
            if (isnan(x)) {
                assert_true(isnan(float_of_bf16(got)));
                continue;
            }
            bool up = lower[i] > 0x8000 || (lower[i] == 0x8000 && upper % 2);
            assert_int_equal(got, upper + up);
            assert_int_equal(bf16_of_double((double)x), got);
        }
    /* A double beside the middle of two, which is the middle as a float. */
    assert_int_equal(bf16_of_double(1 + 0x1p-8 + 0x1p-40), 0x3f81);
    assert_int_equal(bf16_of_double(1 + 0x1p-8 - 0x1p-40), 0x3f80);
    assert_int_equal(bf16_of_double(-1 - 0x1p-7 - 0x1p-8 + 0x1p-40), 0xbf81);
    assert_int_equal(bf16_of_double(1e-300), 0);
    /* The middle of two numbers of 11 bits, of which the upper, then the lower one is even; and beside it. */
    assert_true(with_bits(1 + 3 * 0x1p-11, 11) == 1 + 0x1p-9 && with_bits(1 + 0x1p-11, 11) == 1);
    assert_true(with_bits(-1 - 0x1p-11 - 0x1p-30, 11) == -1 - 0x1p-10 && with_bits(2 - 0x1p-12, 11) == 2);
    assert_int_equal(bf16_of_double(-1e300), 0xff80);
}

/* Prints, without failing, which ops the best table of this processor leaves to ref. */
static void test_every_op_has_a_kernel(void **state)
{
    (void)state;
    for (enum op op = 0; op < OPS; op++) {
        const struct kernel *k = backend_kernel(backend_cpu(), op, F32, NULL);
        assert_non_null(k);
        if (k == backend_kernel(&backend_ref, op, F32, NULL))
            print_message("cpu leaves %s to ref\n", op_info(op)->name);
        assert_ptr_equal(backend_kernel(backend_cpu(), op, F64, "ref"),
                         backend_kernel(&backend_ref, op, F64, NULL));
        assert_null(backend_kernel(backend_cpu(), op, F32, "nope"));
        assert_null(backend_kernel(&backend_ref, op, I64, NULL));
    }
}

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 28); /* otherwise a fifth of the time is that of mapping pages */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    static enum op ops[OPS];
    struct CMUnitTest tests[OPS + 4] = {
        cmocka_unit_test(test_every_op_has_a_kernel),
        cmocka_unit_test(test_rounding_to_bf16),
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_beyond_a_block),
    };
    for (enum op op = 0; op < OPS; op++) {
        if (op_info(op)->exchange)
            continue; /* tests/test_rank_programs.c; cmocka skips what has no function */
        ops[op] = op;
        tests[4 + op] = (struct CMUnitTest){op_info(op)->name, test_op, NULL, NULL, &ops[op]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
