/*
 * Faults planted in kernels must show in the row. This program has its own cpu backend, which wraps the real
 * one's kernels and corrupts their results; then it runs the benchmark's main as a user would.
 */
#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/sweep/harness.h"
#include "models/tape/count.h"
#include "models/tape/tape_internal.h"
#include "tests/planted.h"
#include "tests/tapes.h"
#include "tests/test.h"

/* The kernels for any machine, which isa.c would not select here. */
extern const struct backend cpu_base_backend;

enum planted_fault {
    NONE,
    ROW_1025,
    ANY_ROW,
    NO_BIAS_GRADIENT,
    NOT_A_NUMBER,
    FIRST_OUTPUT,
    FIRST_GRADIENT,
    SQUARE_ALLOCATION,
    TF32
};

static enum planted_fault planted;
static int calls; /* of the planted kernels, since the fault was planted */

static void run_real(enum op op, const void *args)
{
    backend_kernel(&cpu_base_backend, op, F32, NULL)->run(args);
}

static int64_t scratch_real(enum op op, const void *args)
{
    const struct kernel *k = backend_kernel(&cpu_base_backend, op, F32, NULL);
    return k->scratch ? k->scratch(args) : 0;
}

/* A copy truncated to 10 mantissa bits, allocated. */
static struct mat in_tf32(struct mat m)
{
    uint32_t *to = malloc((size_t)mat_bytes(m));
    assert_non_null(to);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            to[i * m.cols + k] = ((const uint32_t *)m.data)[i * m.ld + k] & ~UINT32_C(0x1fff);
    m.data = to;
    m.ld = m.cols;
    return m;
}

static void tf32_linear(const void *args)
{
    struct linear_args a = *(const struct linear_args *)args;
    a.x = in_tf32(a.x);
    a.w = in_tf32(a.w);
    run_real(OP_linear, &a);
    free(a.x.data);
    free(a.w.data);
}

static void faulty_linear(const void *args)
{
    const struct linear_args *a = args;
    if (planted == TF32) {
        tf32_linear(args);
        return;
    }
    run_real(OP_linear, args);
    bool inexact = planted == ROW_1025 || planted == ANY_ROW;
    for (int64_t i = planted == ANY_ROW ? 0 : 1024; inexact && i < a->y.rows; i++)
        ((float *)a->y.data)[i * a->y.ld] *= 1.001f;
    if ((planted == NOT_A_NUMBER && a->act) || (planted == FIRST_OUTPUT && a->y.cols == 1 && calls++ == 0))
        ((float *)a->y.data)[mat_size(a->y) / 2] = NAN;
}

static void faulty_linear_backward(const void *args)
{
    struct linear_backward_args a = *(const struct linear_backward_args *)args;
    if (planted == NO_BIAS_GRADIENT && mat_present(a.db)) {
        memset(a.db.data, 0, (size_t)mat_bytes(a.db));
        a.db = (struct mat){0};
    }
    run_real(OP_linear_backward, &a);
    if (planted == FIRST_GRADIENT && calls++ == 0)
        *(float *)a.dw.data = NAN;
}

static void faulty_attention(const void *args)
{
    const struct attention_args *a = args;
    size_t square = (size_t)(a->q.rows * a->q.rows) * sizeof(float);
    volatile char *scores = planted == SQUARE_ALLOCATION ? malloc(square) : NULL;
    for (size_t i = 0; scores && i < square; i += 1024)
        scores[i] = 1;
    run_real(OP_attention, args);
    free((void *)(uintptr_t)scores);
}

static int64_t linear_scratch(const void *args)
{
    return scratch_real(OP_linear, args);
}

static int64_t linear_backward_scratch(const void *args)
{
    return scratch_real(OP_linear_backward, args);
}

static int64_t attention_scratch(const void *args)
{
    return scratch_real(OP_attention, args);
}

const struct backend *backend_cpu(void)
{
    static const struct kernel kernels[] = {
        {OP_linear, "planted", TYPE_f32, faulty_linear, linear_scratch, NULL, NULL},
        {OP_linear, "tf32", TYPE_tf32, tf32_linear, linear_scratch, NULL, NULL},
        {OP_linear_backward, "planted", TYPE_f32, faulty_linear_backward, linear_backward_scratch, NULL,
         NULL},
        {OP_attention, "planted", TYPE_f32, faulty_attention, attention_scratch, NULL, NULL},
    };
    static const struct backend faulty = {.name = "faulty",
                                          .doc = "kernels with planted faults",
                                          .kernels = kernels,
                                          .count = sizeof kernels / sizeof *kernels,
                                          .base = &cpu_base_backend};
    return &faulty;
}

const struct backend *const *backend_cpu_all(void)
{
    static const struct backend *const all[] = {&cpu_base_backend, NULL};
    return all;
}

static const struct bench bench = {
    .name = "bench_faults", .doc = "planted faults", .axis = AXIS_NODES, .values = "100"};

static int run_bench(int argc, char **argv)
{
    return bench_main(&bench, argc, argv);
}

static struct planted_row run_words(enum planted_fault fault, const char *words)
{
    planted = fault;
    calls = 0;
    struct planted_row row = planted_run(run_bench, words);
    planted = NONE;
    return row;
}

/* Runs the benchmark under a fault with a kernel for linear layers; what it says of the first row. */
static struct planted_row run_with(const char *impl, enum planted_fault fault, const char *nodes,
                                   const char *check_budget)
{
    char words[256];
    snprintf(words, sizeof words,
             "--model graph_transformer --nodes %s --hidden 16 --heads 2 --layers 1 --runs 1 --warmup 0 "
             "--impl %s --check-budget %s",
             nodes, impl, check_budget);
    return run_words(fault, words);
}

static void expect_ok(enum planted_fault fault, const char *nodes, const char *check_budget)
{
    struct planted_row row = run_with("linear=planted", fault, nodes, check_budget);
    assert_string_equal(row.status, "ok");
    assert_int_equal(row.exit, 0);
}

static void expect_wrong(enum planted_fault fault, const char *nodes, const char *check_budget,
                         const char *where)
{
    struct planted_row row = run_with("linear=planted", fault, nodes, check_budget);
    assert_int_equal(row.exit, 1);
    assert_string_equal(row.status, "wrong");
    if (!strstr(row.reason, where))
        fail_msg("the reason does not name %s: %s", where, row.reason);
}

static void test_sound_kernels_pass(void **state)
{
    (void)state;
    expect_ok(NONE, "1100", "0");
    if (!getenv("GTMARK_SMALL"))
        expect_ok(NONE, "1100", "60");
}

static void test_fault_from_row_1025(void **state)
{
    (void)state;
    expect_ok(ROW_1025, "1000", "0"); /* the faulty code is not reached */
    expect_wrong(ROW_1025, "2000", "0", "linear y of");
    if (!getenv("GTMARK_SMALL"))
        expect_wrong(ROW_1025, "2000", "60", "linear y of");
}

static void test_dropped_bias_gradient(void **state)
{
    (void)state;
    expect_wrong(NO_BIAS_GRADIENT, "50", "60", "linear_backward db");
    expect_wrong(NO_BIAS_GRADIENT, "50", "0", "linear_backward db");
}

static void test_not_a_number(void **state)
{
    (void)state;
    expect_wrong(NOT_A_NUMBER, "50", "60", "inf times");
    expect_wrong(NOT_A_NUMBER, "50", "0", "inf times");
}

/*
 * A value that is not finite in the timed run alone: the check starts from the initial state, and finds
 * nothing.
 */
static void test_not_finite_while_timed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        expect_wrong(FIRST_OUTPUT, "50", i ? "0" : "60",
                     "forward: after the timed runs output is not finite");
        expect_wrong(FIRST_GRADIENT, "50", i ? "0" : "60",
                     "step: after the timed runs head.weight is not finite");
    }
}

/* Errors of TF32 rounding are within its own limits but beyond those of f32. */
static void test_tf32_has_limits_of_its_own(void **state)
{
    (void)state;
    expect_wrong(TF32, "50", "60", "times the limit");
    expect_wrong(TF32, "50", "0", "linear y of");
    for (int i = 0; i < 2; i++) {
        struct planted_row row = run_with("linear=tf32", NONE, "50", i ? "0" : "60");
        if (row.exit != 0 || !strstr(row.reason, "cut operands ("))
            fail_msg("%s: %s", row.status, row.reason);
    }
}

/*
 * In networks of width 1 nothing averages rounding errors, and norms over the only column leave means and
 * gradients of exactly zero. That is not wrong; kernels that are off by 0.1 % are.
 */
static void test_width_1(void **state)
{
    (void)state;
    static const char *const parts[] = {"--norm batch",
                                        "--norm graph",
                                        "--norm batch --pool sum",
                                        "--norm graph --pool sum",
                                        "--norm none --pool max",
                                        "--norm graph --task node",
                                        "--norm batch --task node"};
    int seeds = getenv("GTMARK_SMALL") ? 1 : 4;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (int seed = 0; seed <= 2 * seeds; seed++) {
            char words[256];
            enum planted_fault fault = seed ? NONE : ANY_ROW;
            snprintf(words, sizeof words,
                     "--nodes 60 --hidden 1 --heads 1 --layers 4 --runs 1 --warmup 0 --threads 1 --seed %d "
                     "--impl linear=planted --check-budget %d %s",
                     1 + seed / 2, seed % 2 ? 60 : 0, parts[p]);
            struct planted_row row = run_words(fault, words);
            if (strcmp(row.status, fault == NONE ? "ok" : "wrong") != 0)
                fail_msg("%s: %s: %s", words, row.status, row.reason);
        }
}

static void test_square_allocation(void **state)
{
    (void)state;
    if (getenv("GTMARK_SMALL"))
        skip(); /* the sanitizers' allocator needs memory of its own */
    expect_wrong(SQUARE_ALLOCATION, "2000", "60", "more resident memory than planned");
}

/*
 * --against between this program with a fault and without, as a script that sets or clears GTMARK_FAULT, must
 * end with the status, or if that is EITHER, with 0, or with 1 because this one is slower. The output is to
 * be freed.
 */
enum { EITHER = -1 };
static char *against(bool faulty, const char *more, int status)
{
    char self[PATH_MAX] = "", path[] = "/tmp/gtmark-faults-XXXXXX", old[64], command[2 * PATH_MAX], *out;
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    assert_non_null(mkdtemp(path));
    snprintf(old, sizeof old, "%s/old", path);
    FILE *script = fopen(old, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\nGTMARK_FAULT=%s exec '%s' \"$@\"\n", faulty ? "" : "1", self);
    assert_true(fclose(script) == 0 && chmod(old, 0700) == 0);
    snprintf(command, sizeof command,
             "GTMARK_FAULT=%s '%s' --nodes 50 --hidden 16 --heads 2 --layers 1 --threads 1 --phase forward "
             "--warmup 0 --runs 1 --budget 1 --impl linear=planted --against %s %s 2>&1",
             faulty ? "1" : "", self, old, more);
    size_t size;
    FILE *in = popen(command, "r"), *stream = open_memstream(&out, &size);
    assert_true(in && stream);
    for (int c; (c = getc(in)) != EOF;)
        putc(c, stream);
    int ended = pclose(in);
    fclose(stream);
    if (status == EITHER)
        status = strstr(out, "\nmissed: 1 slower\n") != NULL;
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != status)
        fail_msg("%s: exit status %d\n%s", command, WEXITSTATUS(ended), out);
    assert_true(unlink(old) == 0 && rmdir(path) == 0);
    return out;
}

/* A build with wrong results does not pass, however fast; a wrong old build is no basis. */
static void test_against_checks_both(void **state)
{
    (void)state;
    char *out = against(true, "", 1);
    assert_non_null(strstr(out, "missed: row 1: wrong by this build: linear y of input: the error is "));
    assert_null(strstr(out, "round 1 of"));
    free(out);
    if (getenv("GTMARK_SMALL"))
        return;
    out = against(false, "", 1);
    assert_non_null(strstr(out, "inconclusive: the baseline is wrong: linear y of input: "));
    assert_non_null(strstr(out, "missed: 1 not compared"));
    free(out);
    out = against(true, "--no-check --gate allow-uncompared,allow-unchecked", EITHER); /* not looked at */
    assert_non_null(strstr(out, "round 1 of"));
    assert_null(strstr(out, "is wrong"));
    assert_non_null(strstr(out, "note: 1 of 1 rows unchecked (--no-check)"));
    free(out);
}

static struct mat pooled(struct tape *t)
{
    struct mat x = input_uniform(t, "x", all_rows(5), 3), w = param(t, "w", 2, 3, 3);
    struct mat y = op(t, linear, .x = x, .w = w)->y;
    return op(t, mean_error, .y = y, .target = input_uniform(t, "target", all_rows(5), 2), .power = 2)->loss;
}

/* A formula that is off by one differs from the loops' count. */
static void test_formula_off_by_one(void **state)
{
    (void)state;
    struct mat loss;
    struct tape *t = tape_in_double(pooled, &loss);
    struct cost total = cost_add(tape_cost(t, PHASE_FORWARD), tape_cost(t, PHASE_BACKWARD));
    assert_int_equal(tape_count(t, INT64_MAX), total.flops);
    t->main.entries[0].flops++;
    total = cost_add(tape_cost(t, PHASE_FORWARD), tape_cost(t, PHASE_BACKWARD));
    assert_int_not_equal(tape_count(t, INT64_MAX), total.flops);
    tape_free(t);
}

/* With arguments a benchmark, with faulty kernels if the environment says so. */
int main(int argc, char **argv)
{
    const char *fault = getenv("GTMARK_FAULT");
    planted = fault && *fault ? ANY_ROW : NONE;
    if (argc > 1)
        return bench_main(&bench, argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound_kernels_pass),         cmocka_unit_test(test_fault_from_row_1025),
        cmocka_unit_test(test_dropped_bias_gradient),      cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_square_allocation),          cmocka_unit_test(test_formula_off_by_one),
        cmocka_unit_test(test_tf32_has_limits_of_its_own), cmocka_unit_test(test_not_finite_while_timed),
        cmocka_unit_test(test_against_checks_both),        cmocka_unit_test(test_width_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
