/*
 * Executed FLOPs: hardware counters, failing child processes, and a full run under valgrind. For these, this
 * program runs itself: with the name of a toy, or as a benchmark.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/base/child.h"
#include "bench/base/scratch.h"
#include "bench/cli/arguments.h"
#include "bench/cli/command_line.h"
#include "bench/flops/executed.h"
#include "bench/row/workload.h"
#include "bench/sweep/harness.h"
#include "models/tape/tape.h"
#include "tests/encodings.h"
#include "tests/sanitized.h"
#if HAVE_CBLAS
#include <cblas.h>
#endif

static const struct bench bench = {
    .name = "test_executed", .doc = "a test", .axis = AXIS_NODES, .values = "8"};

/* --- toys: actions of the child, by the name of its first argument */

enum { ROUNDS = 1000, GEMM = 192 };

#if ISA_X86
enum { SSE_FLOPS = 1 + 4 + 1 + 2, AVX2_FLOPS = 16 + 2 + 8 };

#define LOOP(body)                                                                                           \
    int rounds = ROUNDS;                                                                                     \
    __asm__ volatile("xorps %%xmm0, %%xmm0\n xorps %%xmm1, %%xmm1\n1:\n" body "dec %0\n jnz 1b"              \
                     : "+r"(rounds)                                                                          \
                     :                                                                                       \
                     : "xmm0", "xmm1", "cc")

__attribute__((noinline)) void toy_sse(void)
{
    LOOP("addss %%xmm0, %%xmm1\n mulps %%xmm0, %%xmm1\n sqrtsd %%xmm0, %%xmm1\n divpd %%xmm0, %%xmm1\n"
         "maxps %%xmm0, %%xmm1\n ucomiss %%xmm0, %%xmm1\n cvtss2sd %%xmm0, %%xmm1\n xorps %%xmm1, %%xmm1\n");
}

__attribute__((noinline, target("avx2,fma"))) void toy_avx2(void)
{
    LOOP("vfmadd231ps %%ymm0, %%ymm0, %%ymm1\n vfmadd132sd %%xmm0, %%xmm0, %%xmm1\n"
         "vhaddps %%ymm0, %%ymm0, %%ymm1\n vpaddd %%ymm0, %%ymm0, %%ymm1\n");
    __asm__ volatile("vzeroupper" ::: "xmm0", "xmm1");
}
#else
enum { SSE_FLOPS, AVX2_FLOPS };

void toy_sse(void)
{
}

void toy_avx2(void)
{
}
#endif

__attribute__((noinline)) void toy_gemm(void)
{
#if HAVE_CBLAS
    static float a[GEMM * GEMM], b[GEMM * GEMM], c[GEMM * GEMM];
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, GEMM, GEMM, GEMM, 1, a, GEMM, b, GEMM, 0, c, GEMM);
#endif
}

__attribute__((noinline)) void toy_endless(void)
{
    for (;;)
        sleep(1);
}

__attribute__((noinline)) void toy_fails(void)
{
    fprintf(stderr, "note: not this line\nthe toy is broken\n\n");
    exit(3);
}

static const struct toy {
    const char *name;
    void (*run)(void);
} toys[] = {{"toy_sse", toy_sse},
            {"toy_avx2", toy_avx2},
            {"toy_gemm", toy_gemm},
            {"toy_endless", toy_endless},
            {"toy_fails", toy_fails}};

/* Runs a toy twice: only the first call must be counted. */
static int play(const char *name)
{
    backend_cpu(); /* makes the BLAS serial: only the calling thread is counted */
    for (size_t i = 0; i < sizeof toys / sizeof *toys; i++)
        if (strcmp(toys[i].name, name) == 0) {
            toys[i].run();
            toys[i].run();
        }
    return 0;
}

/* --- children */

static void assert_no_child(void)
{
    errno = 0;
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_children(void **state)
{
    (void)state;
    pid_t child;
    struct message error = {""};
    static const char *const missing[] = {"gtmark-no-such-program", NULL};
    static const char *const three[] = {"sh", "-c", "exit 3", NULL}, *const killed[] = {"sh", "-c",
                                                                                        "kill -9 $$", NULL};
    static const char *const endless[] = {"sleep", "1000", NULL};
    assert_false(child_start(&child, missing, NULL, NULL, &error));
    assert_string_equal(error.text, "gtmark-no-such-program is not installed");
    assert_true(child_start(&child, three, NULL, NULL, &error));
    assert_false(child_succeeded("sh", child_wait(child), &error));
    assert_string_equal(error.text, "sh ended with exit status 3");
    assert_true(child_start(&child, killed, NULL, NULL, &error));
    assert_false(child_succeeded("sh", child_wait(child), &error));
    assert_non_null(strstr(error.text, "sh ended by signal 9"));
    int status;
    assert_true(child_start(&child, endless, NULL, NULL, &error));
    assert_false(child_ended(child, &status));
    child_kill(child);
    assert_no_child();
}

/* --- hardware counters */

static void nothing(void *context)
{
    (void)context;
}

static void toy_as_run(void *context)
{
    (void)context;
    toy_sse();
}

static void test_counters(void **state)
{
    (void)state;
    struct counters c;
    struct message error = {""};
    int64_t idle, busy;
    if (!counters_open(&c, &error)) {
        assert_true(strlen(error.text) > 10);
        assert_int_equal(c.count, 0);
        return;
    }
    bool good = counters_measure(&c, 2, nothing, NULL, &idle, &error) &&
                counters_measure(&c, 2, toy_as_run, NULL, &busy, &error);
    counters_close(&c);
    if (!good) { /* available but unreliable: prints what it read */
        assert_non_null(strstr(error.text, "hardware counters: "));
        return;
    }
    assert_true(llabs(busy - idle - ROUNDS * SSE_FLOPS) <= ROUNDS * SSE_FLOPS / 100);
}

/* --- under valgrind */

/* Valgrind cannot run sanitized programs. */
static bool valgrind_works(void)
{
    static const char *const arguments[] = {"valgrind", "--version", NULL};
    pid_t child;
    struct message error;
    return ISA_X86 && !SANITIZED && disassembly_available(&error) &&
           child_start(&child, arguments, NULL, NULL, &error) && child_wait(child) == 0;
}

static bool count_toy(const char *toy, const char *function, double seconds, struct executed_flops *flops,
                      struct message *error)
{
    const char *arguments[] = {toy, NULL};
    char directory[PATH_MAX];
    struct stat s;
    assert_true(scratch_make(directory, error));
    bool counted = executed_by_valgrind(arguments, function, directory, seconds, flops, error);
    scratch_remove(directory);
    assert_int_equal(stat(directory, &s), -1);
    assert_no_child();
    return counted;
}

static void test_known_loops(void **state)
{
    (void)state;
    struct executed_flops f;
    struct message error = {""};
    if (!valgrind_works())
        skip();
    if (!count_toy("toy_sse", "toy_sse", 60, &f, &error))
        fail_msg("%s", error.text);
    assert_int_equal(f.flops, ROUNDS * SSE_FLOPS);
    assert_int_equal(f.register_bytes, 16);
#if ISA_X86
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
        assert_true(count_toy("toy_avx2", "toy_avx2", 60, &f, &error));
        assert_int_equal(f.flops, ROUNDS * AVX2_FLOPS);
        assert_int_equal(f.register_bytes, 32);
    }
#endif
}

static void test_product(void **state)
{
    (void)state;
    struct executed_flops f;
    struct message error = {""};
    if (!HAVE_CBLAS || !valgrind_works())
        skip();
    assert_true(count_toy("toy_gemm", "toy_gemm", 60, &f, &error));
    double wanted = 2.0 * GEMM * GEMM * GEMM;
    assert_true(fabs((double)f.flops - wanted) <= 0.02 * wanted);
}

static void test_child_fails(void **state)
{
    (void)state;
    struct executed_flops f;
    struct message error = {""};
    if (!valgrind_works())
        skip();
    assert_false(count_toy("toy_fails", "toy_fails", 60, &f, &error));
    assert_string_equal(error.text, "valgrind ended with exit status 3: the toy is broken");
    assert_false(count_toy("toy_sse", "no_such_function", 60, &f, &error));
    assert_string_equal(error.text, "valgrind saw no call of no_such_function");
    assert_false(count_toy("toy_endless", "toy_endless", 0.5, &f, &error));
    assert_string_equal(error.text, "one run takes more than 0.5 s under valgrind");
}

/* --- the command line of a row */

static void parse(const struct bench *b, char **words, struct options *o)
{
    struct message error;
    int count = 0;
    while (words[count])
        count++;
    if (!options_parse(b, count, words, o, &error))
        fail_msg("%s", error.text);
}

/* The options that a row's child receives on its command line. */
static void parse_child(const struct bench *b, const struct options *o, int64_t row, struct options *child)
{
    char **words = arguments_of(o, row, "forward"), **all = NULL;
    size_t count = 0;
    while (words[count])
        count++;
    all = calloc(count + 2, sizeof *all);
    all[0] = "test";
    memcpy(all + 1, words, count * sizeof *all);
    parse(b, all, child);
    free(all);
    arguments_free(words);
}

/* For all axes: the child's only row has the same work as the row it counts for. */
static void check_child(const struct bench *b, const struct options *o, int64_t row)
{
    struct options child;
    char ours[17], theirs[17];
    parse_child(b, o, row, &child);
    struct config c = config_at(o, row), only = config_at(&child, 0);
    assert_int_equal(config_count(&child), 1);
    config_work(&c, o->seed, ours);
    config_work(&only, child.seed, theirs);
    assert_string_equal(ours, theirs);
    assert_int_equal(only.parts.pe.solver, c.parts.pe.solver);
    assert_int_equal(only.parts.attention, c.parts.attention);
    assert_ptr_equal(only.kernel, c.kernel);
    assert_int_equal(only.threads, 1);
    options_free(&child);
}

static void test_words_of_rows(void **state)
{
    (void)state;
    needs_lapack();
    static char *words[] = {"test",
                            "--pe=none,lap:4,rwse:4",
                            "--solver=auto,iterative",
                            "--nodes=10,20",
                            "--attention=dense,none",
                            "--device=ref",
                            "--graph=er,grid",
                            "--degree=2.5,3",
                            NULL};
    struct options o;
    parse(&bench, words, &o);
    assert_int_equal(config_count(&o), 4 * 2 * 2 * 2 * 2);
    for (int64_t row = 0; row < config_count(&o); row++)
        check_child(&bench, &o, row);
    options_free(&o);
}

/* Sizes found by a search, and single ops. */
static void test_words_of_kernels_and_sizes(void **state)
{
    (void)state;
    static const struct bench kernels = {
        .name = "test_kernels", .doc = "a test", .axis = AXIS_NODES, .values = "8", .kernels = true};
    static char *ops[] = {"test", "--op=add,linear", "--hidden=8,16", NULL};
    static char *sized[] = {"test", "--layers=1,2", "--find-max-nodes=memory:1GiB", NULL};
    struct options o;
    parse(&kernels, ops, &o);
    assert_true(config_count(&o) >= 4);
    for (int64_t row = 0; row < config_count(&o); row++)
        check_child(&kernels, &o, row);
    options_free(&o);
    parse(&bench, sized, &o);
    o.largest.nodes = calloc(2, sizeof *o.largest.nodes);
    o.largest.nodes[0] = 70;
    o.largest.nodes[1] = 50;
    assert_int_equal(config_count(&o), 2);
    for (int64_t row = 0; row < 2; row++)
        check_child(&bench, &o, row);
    options_free(&o);
}

/* --- a row */

static void tiny_step(struct options *o)
{
    static char *const arguments[] = {"test",      "--device=ref", "--layers=1", "--hidden=16",
                                      "--heads=2", "--act=relu",   "--seed=3",   NULL};
    enum { COUNT = sizeof arguments / sizeof *arguments - 1 };
    struct message error;
    assert_true(options_parse(&bench, COUNT, (char **)arguments, o, &error));
}

static bool measure(enum count_mode mode, int64_t analytic, struct executed *e, struct message *error)
{
    struct options o;
    tiny_step(&o);
    char **arguments = arguments_of(&o, 0, "step");
    struct executed_request r = {.mode = mode,
                                 .no_counters = "no hardware counters: switched off for a test",
                                 .threads = 2,
                                 .analytic = analytic,
                                 .backend = o.device.backend,
                                 .arguments = (const char *const *)arguments};
    bool measured = executed_measure(&r, e, error);
    arguments_free(arguments);
    options_free(&o);
    return measured;
}

static int64_t analytic_flops(void)
{
    struct options o;
    tiny_step(&o);
    struct config c = config_at(&o, 0);
    struct workload w;
    struct message error;
    assert_true(workload_plan(&w, &o, &c, &error));
    struct recording r = workload_record(&w, PROGRAM_STEP);
    struct cost cost = {0};
    for (enum phase p = 0; p < PHASES; p++)
        cost = cost_add(cost, tape_cost(r.tape, p));
    tape_free(r.tape);
    workload_close(&w);
    options_free(&o);
    return cost.flops;
}

static void test_reasons(void **state)
{
    (void)state;
    struct executed e;
    struct message error;
    assert_false(measure(COUNT_OFF, 1, &e, &error));
    assert_string_equal(error.text, "switched off (--count off)");
    assert_false(measure(COUNT_COUNTERS, 1, &e, &error));
    assert_string_equal(error.text, "no hardware counters: switched off for a test");
    assert_false(measure(COUNT_VALGRIND, executed_flops_max + 1, &e, &error));
    assert_string_equal(error.text, "more than 3e+09 analytic FLOPs: too slow under valgrind");
    assert_false(measure(COUNT_AUTO, -1, &e, &error));
    assert_string_equal(error.text, "no hardware counters: switched off for a test; "
                                    "more than 3e+09 analytic FLOPs: too slow under valgrind");
}

/* The reference does little more than the formulas count: exponentials and roots are more than one FLOP. */
static void test_row(void **state)
{
    (void)state;
    struct executed e;
    struct message error = {""};
    if (!valgrind_works())
        skip();
    int64_t analytic = analytic_flops();
    if (!measure(COUNT_AUTO, analytic, &e, &error))
        fail_msg("%s", error.text);
    assert_string_equal(e.source, "callgrind: base, 1 thread (timed: base, 2)");
    assert_true((double)e.flops > 0.95 * (double)analytic && (double)e.flops < 1.5 * (double)analytic);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return argv[1][0] == '-' ? bench_main(&bench, argc, argv) : play(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_known_loops),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_child_fails),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_words_of_rows),
        cmocka_unit_test(test_words_of_kernels_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
