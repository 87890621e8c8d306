/*
 * Every row of the CUDA table on the GPU: compared with ref in double, at shapes around the sizes of warps,
 * tiles and grids, with guards around every matrix, operands with and without the alignment for vector loads,
 * every choice of optional operands, with and without accumulation, and reproducible to the bit.
 *
 * Each op is a test; all are skipped without a GPU, and ops without a row always. GTMARK_SMALL=1 omits the
 * larger shapes, as needed under compute-sanitizer; GTMARK_OP=NAME tests one op, GTMARK_PRECISION=NAME one of
 * f32, tf32 and bf16.
 */
#include "bench/audit/audit.h"
#include "kernels/cuda/plan.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <math.h>

/* In the order of enum dim: 1, 2, N, M, D, H, B, E; P follows. */
static const int64_t shapes[][DIMS] = {
    {1, 2, 1, 1, 1, 1, 1, 1, 0},
    {1, 2, 2, 3, 2, 1, 2, 0, 0},
    {1, 2, 7, 4, 12, 3, 3, 30, 0},
    {1, 2, 13, 17, 11, 1, 2, 20, 0},
    {1, 2, 33, 31, 24, 4, 5, 100, 0},
    {1, 2, 67, 129, 40, 5, 4, 333, 0},
    /*
     * attention with several rows per thread, for heads of each width, on a device with two multiprocessors;
     * last blocks with a few rows, full, and without one row
     */
    {1, 2, 263, 3, 16, 2, 1, 300, 0},
    {1, 2, 259, 3, 24, 2, 1, 300, 0},
    {1, 2, 133, 3, 64, 2, 1, 300, 0},
    {1, 2, 64, 3, 128, 2, 1, 300, 0},
    {1, 2, 47, 3, 200, 2, 1, 300, 0},
    /*
     * every kernel at least once: rows of norms in 4 and 8 vectors per lane or longer than registers, with
     * attention with one row per thread; edges' heads in 2 and 4 vectors per lane, too wide for the dense one
     */
    {1, 2, 3, 4, 512, 8, 2, 6, 0},
    {1, 2, 3, 4, 1024, 8, 1, 6, 0},
    {1, 2, 3, 4, 32, 1, 1, 6, 0},
    {1, 2, 3, 4, 256, 1, 1, 6, 0},
    {1, 2, 3, 4, 260, 1, 1, 6, 0},
    {1, 2, 3, 4, 512, 1, 1, 6, 0},
    {1, 2, 3, 4, 1032, 1, 1, 6, 0},
    {1, 2, 64, 64, 128, 8, 1, 64, 0},
    {1, 2, 131, 1, 96, 3, 2, 700, 0},
    {1, 2, 257, 36, 256, 2, 3, 1500, 0},
    {1, 2, 300, 257, 64, 4, 300, 900, 0},
    {1, 2, 1031, 19, 36, 2, 40, 4100, 0},
    {1, 2, 130, 1030, 1028, 16, 1, 2000, 0},
    /*
     * enough rows, and enough heads and nodes for attention with several rows per thread, for up to 150
     * multiprocessors, with heads of each width for which there are kernels
     */
    {1, 2, 5000, 4, 8, 1, 2, 20000, 0},
    {1, 2, 263, 3, 1200, 150, 1, 300, 0},
    {1, 2, 259, 3, 1800, 150, 1, 300, 0},
    {1, 2, 133, 3, 4800, 150, 1, 300, 0},
    {1, 2, 67, 3, 9600, 150, 1, 300, 0},
    {1, 2, 35, 3, 15000, 150, 1, 300, 0},
};

enum {
    SMALL_SHAPES = 18,
    LARGE_SHAPES = 5, /* from this shape on, absent operands are not varied, and distances less */
    WIDE_SHAPES = 24  /* from this shape on, a device of two multiprocessors gains nothing but hours */
};

/*
 * Of an entry computed in float, relative to it and to the usual one; and of a product of this depth on
 * tensor cores. These add at least 8 products to a sum at a time, all shifted to the exponent of the largest
 * and cut off below its last bit (M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of
 * NVIDIA tensor cores", 2021): a step's 8 products and its result each lose less than 2^-23 of the largest,
 * so depth / 8 steps lose less than 9/8 depth 2^-23 of the largest sum. Cut towards zero, the results'
 * losses, in the mean half of these, may have one sign and add up: at a depth of 8192 to 6e-5, beyond what
 * adding in float may be off by.
 */
#define FLOAT_ERROR         1e-5
#define TENSOR_ERROR(depth) (1.125 * (double)(depth)*0x1p-23)

/* The arithmetic of a row: the type of its operands, and the significant bits of factors. */
static const struct arithmetic {
    const char *name;
    enum dtype dtype;
    int bits;
} arithmetics[] = {{"f32", TYPE_f32}, {"tf32", TYPE_tf32}, {"bf16", TYPE_bf16}};

struct op_on_device {
    enum op op;
    const struct opened_device *device;
};

static int shapes_for(const struct opened_device *d)
{
    struct device_facts facts;
    if (env_set("GTMARK_SMALL"))
        return SMALL_SHAPES;
    bool narrow = d->backend->device->facts(0, &facts) && facts.multiprocessors <= 2;
    return narrow ? WIDE_SHAPES : (int)(sizeof shapes / sizeof *shapes);
}

static bool is_dense_attention(enum op op)
{
    return op == OP_attention || op == OP_attention_backward;
}

/*
 * What dense attention on tensor cores rounds besides operands adds to its error in the 2-norm:
 * probabilities, in the gradient these, ds, and in TF32 y, in BF16 each output. Rounding to `bits` bits is
 * off by at most 2^-bits of a significand of 1 or more, in the mean of squares by 2^-bits / sqrt(3); terms
 * with independent errors add as squares, as the terms themselves do if their signs are random.
 */
static double rounding_error(const struct kernel *k)
{
    int roundings = k->dtype == BF16 || k->op == OP_attention_backward ? 2 : 1;
    return sqrt(roundings / 3.0) * ldexp(1, -k->bits);
}

static bool splits_factors(const struct kernel *k)
{
    return strcmp(k->variant, "3xtf32") == 0;
}

/*
 * The same where floats are sums of two in TF32, in units of 2^-24, in the mean of squares. Of an operand the
 * last bit is lost in every fourth case: 1 for each of the two; what is left out is the product of their
 * small parts: 2^-22 / 3. A sum of 8 such products has lost what is below the last bit of the largest, 2 /
 * sqrt(3) for each and for the sum (tests/emulator/matrices.h): together 4 of the sum, in the 2-norm. There
 * are two such sums after each other, of scores and of values; in the gradient four, with dy v' and delta.
 */
static double splitting_error(const struct kernel *k)
{
    return sqrt(k->op == OP_attention_backward ? 4 : 2) * 4 * 0x1p-24;
}

/*
 * A quarter of the limits for all devices. Where 2500 terms are added in float, one after the other, the
 * error is 0.08 of these; in attention over as many keys, with an exp2 that is off by 2^-22, it is 0.06.
 * Products of a library in TF32 round what they read.
 */
static double allowed(const struct kernel *k)
{
    double in_float = k->op == OP_attention ? 1e-5 : 1e-4; /* operands_error */
    double limit = in_float + (k->dtype == BF16 ? BF16_ROUNDING : 0) + kernel_rounding(k);
    if (splits_factors(k))
        return (0.08 * in_float + splitting_error(k)) / limit;
    if (k->bits < 24 && is_dense_attention(k->op))
        return (0.25 * in_float + rounding_error(k)) / limit;
    return k->dtype == BF16 ? 1 : k->bits < 24 ? 1000 : 0.25;
}

/*
 * Whether every output in BF16 is the exact one, rounded once, to the nearest: between those of what is off
 * by what computing in float may be.
 */
static bool rounded_once(const struct operands *ours, const struct operands *oracle, double error)
{
    for (const struct operand *p = NULL; (p = operands_output(oracle, p));) {
        struct mat y = *operand_mat(p, &ours->args), exact = *operand_mat(p, &oracle->args);
        double usual = mat_norm(exact) / sqrt((double)mat_size(exact));
        for (int64_t i = 0; i < y.rows && y.dtype == BF16; i++)
            for (int64_t k = 0; k < y.cols; k++) {
                double got = mat_get(y, i, k), want = mat_get(exact, i, k);
                double off = error * fmax(usual, fabs(want));
                if (!(float_of_bf16(bf16_of_double(want - off)) <= got &&
                      got <= float_of_bf16(bf16_of_double(want + off))))
                    return false;
            }
    }
    return true;
}

static double error_in_float(const struct sample *s)
{
    int64_t depth = s->op == OP_linear            ? s->dims[DIM_D]
                    : s->op == OP_linear_backward ? max_of(s->dims[DIM_N], s->dims[DIM_M])
                                                  : 0;
    return FLOAT_ERROR + TENSOR_ERROR(depth);
}

/* Ops whose kernels round factors of products that they compute: slopes of activations, and shares of keys.
 */
static bool rounds_factors(const struct sample *s)
{
    return is_dense_attention(s->op) || (s->op == OP_linear_backward && s->act);
}

static const char *label(const struct kernel *k, const struct sample *s, bool aligned)
{
    static char text[300];
    snprintf(text, sizeof text,
             "cuda/%s %s %s, N %d M %d D %d H %d B %d E %d, act %s, absent %x, acc %x, pad %d%s", k->variant,
             op_info(k->op)->name, dtype_name(k->dtype), (int)s->dims[DIM_N], (int)s->dims[DIM_M],
             (int)s->dims[DIM_D], (int)s->dims[DIM_H], (int)s->dims[DIM_B], (int)s->dims[DIM_E],
             activation_name(s->act), s->absent, s->acc, (int)s->pad, aligned ? ", aligned" : "");
    return text;
}

/* Adds to factors of so many bits what our kernels' rounding to these takes away: nearly half of the last
 * one. */
static void add_to_factors(struct operands *o, int bits)
{
    const struct op_info *info = op_info(o->sample.op);
    const uint32_t most = (1u << (23 - bits)) - 1;
    for (int p = 0; p < info->operand_count; p++) {
        struct mat m =
            info->operands[p].factor ? *operand_mat(&info->operands[p], &o->args) : (struct mat){0};
        for (int64_t i = 0; i < m.rows; i++)
            for (int64_t k = 0; k < m.cols; k++) {
                uint32_t *x = (uint32_t *)m.data + i * m.ld + k;
                *x += *x << 1 == 0 ? 0 : (i + k) % 2 ? most : -most;
            }
    }
}

static struct operands *run_device_copy(const struct operands *inputs, const struct kernel *k,
                                        const struct opened_device *d, int64_t pad, bool aligned)
{
    struct operands *o = operands_copy(inputs, inputs->dtype, pad);
    if (k->dtype == F32 && k->bits < 24 && is_dense_attention(k->op))
        add_to_factors(o, k->bits);
    if (!operands_run_on(o, k, d, aligned))
        fail_msg("%s: overruns its scratch", label(k, &o->sample, aligned));
    if (!operands_guarded(o))
        fail_msg("%s: writes outside of its operands", label(k, &o->sample, aligned));
    return o;
}

/* Ops that round each entry once have the bits of the reference in float. */
static void check_bits(const struct operands *inputs, const struct operands *ours, const struct kernel *k)
{
    if (k->dtype == BF16 || (k->op != OP_dropout && k->op != OP_dropout_backward))
        return;
    struct operands *ref = operands_copy(inputs, F32, 0);
    operands_run(ref, backend_kernel(&backend_ref, k->op, F32, NULL), 1, 0, 0);
    if (!operands_same_bits(ours, ref))
        fail_msg("%s: the bits are not those of ref", label(k, &ours->sample, false));
    operands_free(ref);
}

static void check_way(const struct operands *inputs, const struct operands *oracle, const struct kernel *k,
                      const struct opened_device *d, int64_t pad, bool aligned, bool twice)
{
    struct operands *once = run_device_copy(inputs, k, d, pad, aligned);
    const char *worst;
    once->rounding = rounds_factors(&once->sample) ? once->rounding : 0;
    double error = operands_error(once, oracle, &worst);
    if (!(error <= allowed(k)))
        fail_msg("%s: %s has %g times the allowed error", label(k, &once->sample, aligned), worst, error);
    struct operands *again = twice ? run_device_copy(inputs, k, d, pad, aligned) : NULL;
    if (again && !operands_same_bits(once, again))
        fail_msg("%s: two runs give different bits", label(k, &once->sample, aligned));
    if (!rounds_factors(&once->sample) && !rounded_once(once, oracle, error_in_float(&once->sample)))
        fail_msg("%s: results are not those in double, rounded once", label(k, &once->sample, aligned));
    check_bits(inputs, once, k);
    operands_free(once);
    if (again)
        operands_free(again);
}

/* The row after `after`, or the first, of the op in this arithmetic, with the options of these operands. */
static const struct kernel *next_row(const struct operands *o, const struct backend *b, struct arithmetic a,
                                     const struct kernel *after)
{
    for (const struct kernel *k = after ? after + 1 : b->kernels; k < b->kernels + b->count; k++)
        if (k->op == o->sample.op && k->dtype == a.dtype && k->bits == a.bits &&
            kernel_supports(k, op_options(k->op, &o->args)))
            return k;
    return NULL;
}

/*
 * Checks one sample with every row of its op in this arithmetic, of whose bits random values are, all but
 * those that cast rounds, and so is what a forward op saves of them. Only f32 has all distances between
 * rows, at the shapes where all is varied: they matter to addresses. Returns false if there is no such
 * sample.
 */
static bool check_sample(const struct sample *s, struct arithmetic a, bool all, const struct opened_device *d)
{
    struct sample narrow = *s;
    narrow.bits = a.bits < 24 && s->op != OP_cast ? a.bits : 0;
    struct operands *exact = operands_new(&narrow, F64);
    const struct kernel *k = exact ? next_row(exact, d->backend, a, NULL) : NULL;
    if (!k) {
        operands_free(exact);
        return false;
    }
    struct operands *inputs = operands_copy(exact, a.dtype, s->pad);
    struct operands *oracle = operands_copy(inputs, F64, 0);
    operands_run(oracle, backend_kernel(&backend_ref, s->op, F64, "ref"), 1, 0, 0);
    all = all && a.bits == 24;
    for (; k; k = next_row(exact, d->backend, a, k)) {
        check_way(inputs, oracle, k, d, s->pad, false, all);
        check_way(inputs, oracle, k, d, !all && s->seed % 2 ? 4 : 0, true, true);
        if (all)
            check_way(inputs, oracle, k, d, 4, true, false);
    }
    operands_free(exact);
    operands_free(inputs);
    operands_free(oracle);
    return true;
}

/* What the reference makes NaN is not finite. */
static void check_nan(const struct sample *s, const struct opened_device *d)
{
    struct operands *inputs = operands_new(s, F32);
    for (int i = 0; inputs && i < d->backend->count; i++) {
        const struct kernel *k = &d->backend->kernels[i];
        struct audit_verdict verdict = {.outcome = OUTCOME_NONE};
        const struct audited a = {.kernel = k, .device = d, .verdict = &verdict};
        char note[AUDIT_TEXT] = "";
        if (k->op == s->op && kernel_supports(k, op_options(s->op, &inputs->args)))
            try_special(&a, inputs, note);
        if (verdict.outcome == OUTCOME_FAIL)
            fail_msg("%s %s", label(k, s, true), verdict.text);
    }
    if (inputs)
        operands_free(inputs);
}

/* Linear attention, whose products take long on the emulated device. */
static bool is_slow(enum op op)
{
    return op >= OP_performer_keys && op <= OP_performer_attention_backward;
}

/*
 * Dense attention has no kernel for heads so wide, and says so. Scores of GATv2 are not divided by the root
 * of the width, so their rounding grows with it.
 */
static bool too_wide(const struct sample *s)
{
    int64_t columns = s->dims[DIM_D] / s->dims[DIM_H];
    return (is_dense_attention(s->op) && !attention_width(columns)) ||
           (s->op == OP_gatv2_backward && columns > 260) ||
           (is_slow(s->op) && (columns > 100 || s->dims[DIM_N] > 40));
}

/* Of the library for the emulated device, which alone has it; null elsewhere. */
static void *emulated(const char *function)
{
    void *library = dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, function) : NULL;
}

/* All kernels loop over what their blocks in y leave; heads have a block each in z. */
static void expect_loops_in_y(const char *op)
{
    int (*unasked)(void) = (int (*)(void))emulated("emulated_unasked");
    if (unasked && unasked() > 0)
        fail_msg("%s: a kernel does not loop over what its blocks in y leave", op);
}

static void test_op(void **state)
{
    static struct sample cases[CASES_MAX];
    const struct op_on_device *on = *state;
    const char *only = getenv("GTMARK_PRECISION");
    if (!on->device->context || !backend_kernel(on->device->backend, on->op, DTYPE_NONE, NULL))
        skip();
    int checked = 0;
    for (int i = 0; i < shapes_for(on->device); i++) {
        struct sample base = {.op = on->op, .seed = (uint64_t)i + 1, .pad = i % 4};
        memcpy(base.dims, shapes[i], sizeof base.dims);
        if (too_wide(&base))
            continue;
        bool all = i < (is_slow(on->op) ? 2 : LARGE_SHAPES);
        int variations = operands_cases(&base, all, cases);
        for (int c = 0; c < variations; c++)
            for (size_t a = 0; a < sizeof arithmetics / sizeof *arithmetics; a++)
                if (!only || strcmp(only, arithmetics[a].name) == 0)
                    checked += check_sample(&cases[c], arithmetics[a], all, on->device);
    }
    if (!checked)
        fail_msg("%s: no operands could be made", op_info(on->op)->name);
    struct sample base = {.op = on->op, .seed = 1};
    memcpy(base.dims, shapes[2], sizeof base.dims);
    int variations = operands_cases(&base, false, cases);
    for (int c = 0; c < variations; c++)
        if (!cases[c].acc)
            check_nan(&cases[c], on->device);
    expect_loops_in_y(op_info(on->op)->name);
}

/*
 * Products in each way: with the library's algorithms, of which the emulated device finds the one of this
 * number the fastest, in parts of their depth, and where it refuses a result of one row or column. Each has
 * shapes of its own, since a choice is kept.
 */
static void check_products(enum op op, const int64_t *size, int number, const struct opened_device *d)
{
    static struct sample cases[CASES_MAX];
    struct sample base = {.op = op, .seed = (uint64_t)number};
    memcpy(base.dims, (int64_t[DIMS]){1, 2, size[0] + 10 * number, size[1], size[2], 1, 1, 1},
           sizeof base.dims);
    int variations = operands_cases(&base, size[0] < 100, cases);
    for (int c = 0; c < variations; c++)
        for (size_t a = 0; a < sizeof arithmetics / sizeof *arithmetics; a++)
            if (cases[c].act == ACT_NONE || cases[c].act == ACT_RELU)
                check_sample(&cases[c], arithmetics[a], false, d);
}

/*
 * Sums of positive terms, of which tensor cores cut each: all errors have one sign, and what computing in
 * float may be off by is too little a limit for the emulated device's.
 */
static void test_deep_sums(void **state)
{
    const struct opened_device *device = *state;
    struct sample deep = {.op = OP_linear, .dims = {1, 2, 16, 64, 8192, 1, 1, 1}, .seed = 1, .bits = 8};
    if (!device->context)
        skip();
    deep.absent = ~0u;
    struct operands *exact = operands_new(&deep, F64);
    assert_non_null(exact);
    const struct linear_args *a = &exact->args.linear;
    for (int64_t i = 0; i < mat_size(a->x); i++)
        mat_set(a->x, 0, i, fabs(mat_get(a->x, 0, i)));
    for (int64_t i = 0; i < mat_size(a->w); i++)
        mat_set(a->w, 0, i, fabs(mat_get(a->w, 0, i)));
    struct operands *inputs = operands_copy(exact, BF16, 0), *oracle = operands_copy(inputs, F64, 0);
    operands_run(oracle, backend_kernel(&backend_ref, OP_linear, F64, "ref"), 1, 0, 0);
    const struct kernel *k = backend_kernel(device->backend, OP_linear, BF16, NULL);
    struct operands *ours = run_device_copy(inputs, k, device, 0, true);
    assert_true(rounded_once(ours, oracle, error_in_float(&deep)));
    if (emulated("emulated_kernels"))
        assert_false(rounded_once(ours, oracle, FLOAT_ERROR));
    operands_free(exact);
    operands_free(inputs);
    operands_free(oracle);
    operands_free(ours);
}

static void test_products(void **state)
{
    const struct opened_device *device = *state;
    static const int64_t sizes[][3] = {{7, 1, 27}, {8, 6, 1}, {2, 8, 26}, {1201, 12, 5}, {1203, 4, 64}};
    if (!device->context)
        skip();
    for (int number = 3; number <= 9; number += 6) {
        setenv("GTMARK_EMULATED_FASTEST", number == 3 ? "3" : "9", 1);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_products(OP_linear, sizes[i], number, device);
            check_products(OP_linear_backward, sizes[i], number, device);
        }
    }
    unsetenv("GTMARK_EMULATED_FASTEST");
}

/* Scores of edges that are exactly at the clamp, and beyond it, where 1 / sqrt(width) is exact. */
static void check_ties(int64_t width, struct arithmetic a, const struct opened_device *d)
{
    enum op op = OP_sparse_attention_backward;
    struct sample s = {.op = op, .dims = {1, 2, 33, 31, 4 * width, 4, 1, 100}, .seed = 1};
    s.absent = operands_without(op, OPTION_sparse_attention_backward_edges);
    struct operands *exact = operands_new(&s, F64);
    const struct kernel *kernel = next_row(exact, d->backend, a, NULL);
    struct mat q = operand_of(exact, "q"), k = operand_of(exact, "k"), c = operand_of(exact, "c");
    double clamp = exact->args.sparse_attention_backward.clamp, beyond = clamp * (1 + 0x1p-7);
    const double scores[] = {clamp, -clamp, beyond, -beyond};
    for (int64_t n = 0; n < q.cols; n++) {
        for (int64_t i = 0; i < q.rows; i++) {
            mat_set(q, i, n, sqrt((double)width));
            mat_set(k, i, n, n % width ? 0 : scores[i % 4]);
        }
        for (int64_t e = 0; e < c.rows; e++)
            mat_set(c, e, n, 1);
    }
    struct operands *inputs = operands_copy(exact, a.dtype, 0), *oracle = operands_copy(inputs, F64, 0);
    operands_run(oracle, backend_kernel(&backend_ref, op, F64, "ref"), 1, 0, 0);
    check_way(inputs, oracle, kernel, d, 0, true, false);
    operands_free(exact);
    operands_free(inputs);
    operands_free(oracle);
}

static void test_ties_of_the_clamp(void **state)
{
    const struct opened_device *device = *state;
    if (!device->context)
        skip();
    for (int64_t width = 1; width <= 16; width *= 4) {
        check_ties(width, arithmetics[0], device);
        check_ties(width, arithmetics[2], device);
    }
}

/* Templates are kernels for each of their arguments. */
static void test_all_kernels_were_launched(void **state)
{
    (void)state;
    char idle[4096];
    int (*kernels)(char *, size_t) = (int (*)(char *, size_t))emulated("emulated_kernels");
    if (!kernels)
        skip();
    int count = kernels(idle, sizeof idle);
    fputs(idle, stderr);
    if (*idle)
        fail_msg("of %d kernels the tests launch all but those above", count);
}

int main(void)
{
    static struct op_on_device states[OPS];
    static struct CMUnitTest tests[OPS + 4];
    struct opened_device device = operands_device();
    if (!device.context)
        fprintf(stderr, "no GPU: %s\n", device.why);
    for (enum op op = 0; op < OPS; op++) {
        states[op] = (struct op_on_device){op, &device};
        tests[op] = (struct CMUnitTest){op_info(op)->name, test_op, NULL, NULL, &states[op]};
    }
    tests[OPS] = (struct CMUnitTest)cmocka_unit_test_prestate(test_products, &device);
    tests[OPS + 1] = (struct CMUnitTest)cmocka_unit_test_prestate(test_ties_of_the_clamp, &device);
    tests[OPS + 2] = (struct CMUnitTest)cmocka_unit_test_prestate(test_deep_sums, &device);
    tests[OPS + 3] = (struct CMUnitTest)cmocka_unit_test(test_all_kernels_were_launched);
    cmocka_set_test_filter(getenv("GTMARK_OP")); /* null: none */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    operands_device_close(&device);
    return failed;
}
