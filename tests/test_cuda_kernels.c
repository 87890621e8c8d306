/*
 * Every row of the CUDA table on the GPU: compared with ref in double, at shapes around the sizes of warps,
 * tiles and grids, with guards around every matrix, operands with and without the alignment for vector loads,
 * every choice of optional operands, with and without accumulation, and reproducible to the bit.
 *
 * Each op is a test; all are skipped without a GPU, and ops without a row always. GTMARK_SMALL=1 omits the
 * larger shapes, as needed under compute-sanitizer; GTMARK_OP=NAME tests one op.
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
    {1, 2, 3, 4, 1028, 1, 1, 6, 0},
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
    SMALL_SHAPES = 17,
    LARGE_SHAPES = 5, /* from this shape on, only accumulation and options are varied, not absent operands */
    WIDE_SHAPES = 23  /* from this shape on, a device of two multiprocessors gains nothing but hours */
};

/* Of an entry computed in float, relative to it and to the usual one. */
#define FLOAT_ERROR 1e-5

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

/*
 * A quarter of the limits for all devices. Where 2500 terms are added in float, one after the other, the
 * error is 0.08 of these; in attention over as many keys, with an exp2 that is off by 2^-22, it is 0.06. TF32
 * rounds operands to 2^-11 rather than 2^-24.
 */
static double allowed(const struct kernel *k)
{
    return k->dtype == BF16 ? 1 : k->bits < 24 ? 1000 : 0.25;
}

/*
 * Whether every output in BF16 is the exact one, rounded once, to the nearest: between those of what is off
 * by what computing in float may be.
 */
static bool rounded_once(const struct operands *ours, const struct operands *oracle)
{
    for (const struct operand *p = NULL; (p = operands_output(oracle, p));) {
        struct mat y = *operand_mat(p, &ours->args), exact = *operand_mat(p, &oracle->args);
        double usual = mat_norm(exact) / sqrt((double)mat_size(exact));
        for (int64_t i = 0; i < y.rows && y.dtype == BF16; i++)
            for (int64_t k = 0; k < y.cols; k++) {
                double got = mat_get(y, i, k), want = mat_get(exact, i, k);
                double off = FLOAT_ERROR * fmax(usual, fabs(want));
                if (!(float_of_bf16(bf16_of_double(want - off)) <= got &&
                      got <= float_of_bf16(bf16_of_double(want + off))))
                    return false;
            }
    }
    return true;
}

/* Ops whose kernels round factors of products that they compute: slopes of activations, and shares of keys.
 */
static bool rounds_factors(const struct sample *s)
{
    return s->op == OP_attention || s->op == OP_attention_backward || (s->op == OP_linear_backward && s->act);
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

static struct operands *run_copy(const struct operands *inputs, const struct kernel *k,
                                 const struct opened_device *d, int64_t pad, bool aligned)
{
    struct operands *o = operands_copy(inputs, inputs->dtype, pad);
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
    struct operands *once = run_copy(inputs, k, d, pad, aligned);
    const char *worst;
    double error = operands_error(once, oracle, &worst);
    if (!(error <= allowed(k)))
        fail_msg("%s: %s has %g times the allowed error", label(k, &once->sample, aligned), worst, error);
    struct operands *again = twice ? run_copy(inputs, k, d, pad, aligned) : NULL;
    if (again && !operands_same_bits(once, again))
        fail_msg("%s: two runs give different bits", label(k, &once->sample, aligned));
    if (!rounds_factors(&once->sample) && !rounded_once(once, oracle))
        fail_msg("%s: results are not those in double, rounded once", label(k, &once->sample, aligned));
    check_bits(inputs, once, k);
    operands_free(once);
    if (again)
        operands_free(again);
}

/* Whether a kernel of its op has the options of a sample. */
static bool is_supported(const struct operands *o, const struct backend *b)
{
    bool any = false;
    for (int i = 0; i < b->count; i++)
        any = any || (b->kernels[i].op == o->sample.op &&
                      kernel_supports(&b->kernels[i], op_options(o->sample.op, &o->args)));
    return any;
}

/* Checks every kernel of the op and the type of its operands. In BF16 addresses and bits are as in F32. */
static void check_type(const struct operands *exact, enum dtype dtype, const struct opened_device *d)
{
    const struct sample *s = &exact->sample;
    struct operands *inputs = operands_copy(exact, dtype, s->pad);
    struct operands *oracle = operands_copy(inputs, F64, 0);
    operands_run(oracle, backend_kernel(&backend_ref, s->op, F64, "ref"), 1, 0, 0);
    for (int i = 0; i < d->backend->count; i++) {
        const struct kernel *k = &d->backend->kernels[i];
        if (k->op != s->op || k->dtype != dtype || !kernel_supports(k, op_options(s->op, &exact->args)))
            continue;
        check_way(inputs, oracle, k, d, s->pad, false, dtype == F32);
        check_way(inputs, oracle, k, d, 0, true, true);
        if (dtype == F32)
            check_way(inputs, oracle, k, d, 4, true, false); /* the same kernels, other distances */
    }
    operands_free(inputs);
    operands_free(oracle);
}

/*
 * Checks one sample with every kernel of its op. Returns false if there is no such sample. In BF16 what a
 * forward op saves is of operands that are BF16.
 */
static bool check_sample(const struct sample *s, const struct opened_device *d)
{
    struct sample narrow = *s;
    struct operands *exact = operands_new(s, F64);
    if (!exact || !is_supported(exact, d->backend)) {
        operands_free(exact);
        return false;
    }
    check_type(exact, F32, d);
    operands_free(exact);
    if (!backend_kernel(d->backend, s->op, BF16, NULL))
        return true;
    narrow.bits = 8;
    exact = operands_new(&narrow, F64);
    check_type(exact, BF16, d);
    operands_free(exact);
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
    bool dense = s->op == OP_attention || s->op == OP_attention_backward;
    return (dense && !attention_width(columns)) || (s->op == OP_gatv2_backward && columns > 260) ||
           (is_slow(s->op) && (columns > 100 || s->dims[DIM_N] > 40));
}

static void test_op(void **state)
{
    static struct sample cases[CASES_MAX];
    const struct op_on_device *on = *state;
    if (!on->device->context || !backend_kernel(on->device->backend, on->op, DTYPE_NONE, NULL))
        skip();
    int checked = 0;
    for (int i = 0; i < shapes_for(on->device); i++) {
        struct sample base = {.op = on->op, .seed = (uint64_t)i + 1, .pad = i % 4};
        memcpy(base.dims, shapes[i], sizeof base.dims);
        if (too_wide(&base))
            continue;
        int variations = operands_cases(&base, i < (is_slow(on->op) ? 2 : LARGE_SHAPES), cases);
        for (int c = 0; c < variations; c++)
            checked += check_sample(&cases[c], on->device);
    }
    if (!checked)
        fail_msg("%s: no operands could be made", op_info(on->op)->name);
    struct sample base = {.op = on->op, .seed = 1};
    memcpy(base.dims, shapes[2], sizeof base.dims);
    int variations = operands_cases(&base, false, cases);
    for (int c = 0; c < variations; c++)
        if (!cases[c].acc)
            check_nan(&cases[c], on->device);
}

/* Of the library for the emulated device, which alone knows: templates are kernels for each of their
 * arguments. */
static void test_all_kernels_were_launched(void **state)
{
    (void)state;
    char idle[4096];
    void *library = dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_LOCAL);
    int (*kernels)(char *, size_t) =
        library ? (int (*)(char *, size_t))dlsym(library, "emulated_kernels") : NULL;
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
    static struct CMUnitTest tests[OPS + 1];
    struct opened_device device = operands_device();
    if (!device.context)
        fprintf(stderr, "no GPU: %s\n", device.why);
    for (enum op op = 0; op < OPS; op++) {
        states[op] = (struct op_on_device){op, &device};
        tests[op] = (struct CMUnitTest){op_info(op)->name, test_op, NULL, NULL, &states[op]};
    }
    tests[OPS] = (struct CMUnitTest)cmocka_unit_test(test_all_kernels_were_launched);
    cmocka_set_test_filter(getenv("GTMARK_OP")); /* null: none */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    operands_device_close(&device);
    return failed;
}
