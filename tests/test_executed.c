/*
 * Executed FLOPs: hardware counters, failing child processes, and programs and encodings under valgrind,
 * whole and entry by entry. For these, this program runs itself: with the name of a toy, or captured calls.
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
#include "bench/cli/command_line.h"
#include "bench/flops/captured.h"
#include "bench/flops/executed.h"
#include "bench/row/workload.h"
#include "kernels/blas.h"
#include "models/encodings/compute.h"
#include "models/tape/tape.h"
#include "tests/encodings.h"
#include "tests/sanitized.h"

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
    static float a[GEMM * GEMM], b[GEMM * GEMM], c[GEMM * GEMM];
    blas()->sgemm(BLAS_ROW_MAJOR, BLAS_NO_TRANS, BLAS_NO_TRANS, GEMM, GEMM, GEMM, 1, a, GEMM, b, GEMM, 0, c,
                  GEMM);
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

/* --- small models, as toys too */

struct small {
    char *words; /* the options refer to them */
    struct options options;
    struct workload work;
    struct encoding encoding;
    struct recording program;
};

/* Scores of attention beyond what is computed in one pass. */
static void enlarge_scores(struct tape *t)
{
    for (int i = 0; i < tape_parameter_count(t); i++) {
        const char *name;
        struct mat w = tape_view(t, tape_parameter(t, i, &name));
        for (int64_t k = 0; k < mat_size(w) && strstr(name, "qkv.weight"); k++)
            ((float *)w.data)[k] *= 100;
    }
}

/*
 * Opens what a text of these words describes: a program ("forward", "step", or "encoding"), "large" for large
 * scores, and flags.
 */
static void model_open(struct small *m, const char *text, int threads)
{
    static const char *const defaults[] = {"--layers=2", "--hidden=32", "--heads=2", "--nodes=30"};
    char *words[16] = {"test"};
    int count = 1;
    struct message error;
    m->words = strdup(text);
    for (char *word = strtok(m->words, " "); word; word = strtok(NULL, " "))
        if (*word == '-')
            words[count++] = word;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!memmem(text, strlen(text), defaults[i], strcspn(defaults[i], "=")))
            words[count++] = (char *)defaults[i];
    if (!options_parse(&bench, count, words, &m->options, &error))
        fail_msg("%s", error.text);
    struct config c = config_at(&m->options, 0);
    c.threads = threads;
    assert_true(workload_generate(&m->work, &m->options, &c, &error));
    m->encoding = (struct encoding){0};
    m->program = (struct recording){0};
    if (strstr(text, "encoding"))
        return;
    m->program = workload_record(&m->work, strstr(text, "step") ? PROGRAM_STEP : PROGRAM_FORWARD);
    assert_true(tape_layout(m->program.tape));
    tape_init(m->program.tape);
    if (strstr(text, "large"))
        enlarge_scores(m->program.tape);
}

static void model_close(struct small *m)
{
    if (m->program.tape)
        tape_free(m->program.tape);
    workload_close(&m->work);
    options_free(&m->options);
    free(m->words);
}

__attribute__((noinline)) void toy_program(struct tape *t)
{
    tape_run(t);
    __asm__ volatile("");
}

__attribute__((noinline)) void toy_encoding(const struct small *m)
{
    char error[256];
    struct encoding e;
    struct encoding_options with = {.threads = 1};
    if (!encoding_compute(&m->work.config.parts.pe, &m->work.batch, &with, &e, error, sizeof error))
        exit(4);
    encoding_free(&e);
}

static int play_model(const char *text)
{
    struct small m;
    model_open(&m, text, 1);
    if (m.program.tape)
        toy_program(m.program.tape);
    else
        toy_encoding(&m);
    model_close(&m);
    return 0;
}

/* --- the toys */

static const struct toy {
    const char *name;
    void (*run)(void);
} toys[] = {{"toy_sse", toy_sse},
            {"toy_avx2", toy_avx2},
            {"toy_gemm", toy_gemm},
            {"toy_endless", toy_endless},
            {"toy_fails", toy_fails}};

/* Runs a toy twice. */
static int play(const char *name)
{
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
    static const char *const names[] = {"valgrind", "objdump"};
    bool works = ISA_X86 && !SANITIZED;
    for (size_t i = 0; i < 2 && works; i++) {
        const char *arguments[] = {names[i], "--version", NULL};
        pid_t child;
        struct message error;
        works = child_start(&child, arguments, NULL, NULL, &error) && child_wait(child) == 0;
    }
    return works;
}

static bool count_calls(struct valgrind_run run, struct executed_flops *flops, struct message *error)
{
    char directory[PATH_MAX];
    struct stat s;
    assert_true(scratch_make(directory, error));
    run.directory = directory;
    bool counted = executed_by_valgrind(&run, flops, error);
    scratch_remove(directory);
    assert_int_equal(stat(directory, &s), -1);
    assert_no_child();
    return counted;
}

static bool count_toy(const char *toy, const char *function, double seconds, struct executed_flops *flops,
                      struct message *error)
{
    const char *const arguments[] = {toy, NULL};
    return count_calls((struct valgrind_run){arguments, function, 2, NULL, seconds, false}, flops, error);
}

static void test_known_loops(void **state)
{
    (void)state;
    struct executed_flops f[2];
    struct message error = {""};
    if (!valgrind_works())
        skip();
    if (!count_toy("toy_sse", "toy_sse", 60, f, &error))
        fail_msg("%s", error.text);
    for (int call = 0; call < 2; call++) {
        assert_int_equal(f[call].flops, ROUNDS * SSE_FLOPS);
        assert_int_equal(f[call].register_bytes, 16);
    }
#if ISA_X86
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
        assert_true(count_toy("toy_avx2", "toy_avx2", 60, f, &error));
        assert_int_equal(f[1].flops, ROUNDS * AVX2_FLOPS);
        assert_int_equal(f[1].register_bytes, 32);
    }
#endif
}

static void test_product(void **state)
{
    (void)state;
    struct executed_flops f[2];
    struct message error = {""};
    if (!HAVE_CBLAS || !valgrind_works())
        skip();
    assert_true(count_toy("toy_gemm", "toy_gemm", 60, f, &error));
    double wanted = 2.0 * GEMM * GEMM * GEMM;
    assert_true(fabs((double)f[0].flops - wanted) <= 0.02 * wanted);
}

static void test_child_fails(void **state)
{
    (void)state;
    struct executed_flops f[2];
    struct message error = {""};
    if (!valgrind_works())
        skip();
    assert_false(count_toy("toy_fails", "toy_fails", 60, f, &error));
    assert_string_equal(error.text, "valgrind ended with exit status 3: the toy is broken");
    assert_false(count_toy("toy_sse", "no_such_function", 60, f, &error));
    assert_string_equal(error.text, "valgrind saw no call of no_such_function");
    assert_false(count_toy("toy_endless", "toy_endless", 0.5, f, &error));
    assert_string_equal(error.text, "takes more than 0.5 s under valgrind");
}

/* --- entries */

/* The FLOPs of a whole program or encoding, run in one call. */
static struct executed_flops whole(const char *text, bool base)
{
    const char *const arguments[] = {"model", text, NULL};
    const char *function = strstr(text, "encoding") ? "toy_encoding" : "toy_program";
    struct executed_flops flops;
    struct message error;
    if (!count_calls((struct valgrind_run){arguments, function, 1, NULL, 300, base}, &flops, &error))
        fail_msg("%s: %s", text, error.text);
    return flops;
}

static struct executed_request request_of(enum count_mode mode, struct counted_entries *entries, int threads)
{
    return (struct executed_request){.mode = mode,
                                     .no_counters = "no hardware counters: switched off for a test",
                                     .entries = entries,
                                     .backend = backend_cpu(),
                                     .threads = threads};
}

/* The same by its entries. */
static struct executed by_entries(const char *text, enum count_mode mode, struct counted_entries *entries,
                                  int threads)
{
    struct small m;
    struct executed e;
    struct message error;
    model_open(&m, text, threads);
    struct executed_request how = request_of(mode, entries, threads);
    bool good = m.program.tape
                    ? executed_by_tape(&how, m.program.tape, &e, &error)
                    : executed_by_encoding(&how, &m.work.config.parts.pe, &m.work.batch, 1000, &e, &error);
    if (!good)
        fail_msg("%s: %s", text, error.text);
    model_close(&m);
    return e;
}

/* The sum is that of the whole program; the long test tries every model. */
static void test_sum_of_entries(void **state)
{
    (void)state;
    static const char *const models[] = {"gps",
                                         "gps_sparse --norm=batch",
                                         "graph_transformer --attention=unfused --act=relu",
                                         "sparse_transformer --batch=3 --norm=graph",
                                         "gin --degree=9",
                                         "gps --impl=linear=blas --impl=linear_backward=blas",
                                         "gps large",
                                         "gps_sparse large --nodes=50",
                                         "gin --device=ref"};
    if (!valgrind_works())
        skip();
    for (size_t i = 0; i < sizeof models / sizeof *models; i += getenv("GTMARK_SOAK") ? 1 : 3)
        for (int step = 0; step < 2; step++) {
            char text[128];
            struct counted_entries entries = {0};
            snprintf(text, sizeof text, "%s --model=%s", step ? "step" : "forward", models[i]);
            int64_t wanted = whole(text, true).flops;
            for (int threads = 1; threads <= 2; threads++)
                if (by_entries(text, COUNT_BASE, &entries, threads).flops != wanted)
                    fail_msg("%s: not %lld", text, (long long)wanted);
            counted_entries_free(&entries);
        }
}

/* With the instruction set closest to the timed one. */
static void test_closest_set(void **state)
{
    (void)state;
    static const char text[] = "step --model=gps --nodes=13";
    if (!valgrind_works())
        skip();
    struct counted_entries entries = {0};
    struct executed e = by_entries(text, COUNT_VALGRIND, &entries, 1);
    assert_int_equal(e.flops, whole(text, false).flops);
    bool avx2 = strcmp(backend_cpu()->name, "cpu-base") != 0;
    assert_string_equal(e.isa, avx2 ? "avx2" : "base");
    assert_int_equal(e.threads, 1);
    if (strcmp(backend_cpu()->name, "cpu-avx512") != 0)
        assert_string_equal(e.differences, "");
    counted_entries_free(&entries);
}

/* What a sweep has counted is not counted again. */
static void test_entries_are_shared(void **state)
{
    (void)state;
    if (!valgrind_works())
        skip();
    struct counted_entries entries = {0};
    struct executed two = by_entries("step --model=gps", COUNT_BASE, &entries, 1);
    int known = entries.count;
    assert_true(known > 20);
    assert_int_equal(by_entries("step --model=gps", COUNT_BASE, &entries, 2).flops, two.flops);
    assert_int_equal(entries.count, known);
    struct executed four = by_entries("step --model=gps --layers=4", COUNT_BASE, &entries, 1);
    assert_int_equal(entries.count, known + 1); /* adamw, of all parameters at once */
    assert_true(four.flops > two.flops);
    by_entries("step --model=gps --seed=7", COUNT_BASE, &entries, 1);
    assert_true(entries.count > known + 1); /* another graph */
    assert_true(entries.count < 2 * known);
    counted_entries_free(&entries);
}

static void test_encodings(void **state)
{
    (void)state;
    static const char *const encodings[] = {
        "encoding --pe=rwse:8 --nodes=200", "encoding --pe=lap:4",
        "encoding --pe=lap:4 --graph=grid --nodes=100 --solver=iterative"};
    if (!valgrind_works())
        skip();
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strstr(encodings[i], "lap"))
            needs_lapack();
        struct executed e = by_entries(encodings[i], COUNT_AUTO, NULL, 2);
        assert_true(e.flops > 1000);
        assert_int_equal(e.flops, whole(encodings[i], true).flops);
        assert_string_equal(e.isa, "base");
    }
}

static void expect_reason(enum count_mode mode, struct small *m, const char *reason)
{
    struct counted_entries entries = {0};
    struct executed_request how = request_of(mode, &entries, 2);
    struct executed e;
    struct message error;
    assert_false(executed_by_tape(&how, m->program.tape, &e, &error));
    assert_string_equal(error.text, reason);
    assert_int_equal(entries.count, 0);
    assert_false(executed_by_encoding(&how, &m->work.config.parts.pe, &m->work.batch,
                                      executed_base_flops_max + 1, &e, &error));
    assert_string_equal(error.text, reason);
    counted_entries_free(&entries);
}

static void test_reasons(void **state)
{
    (void)state;
    struct small m;
    model_open(&m, "forward --nodes=300 --hidden=512 --layers=1 --ffn=8192", 2);
    expect_reason(COUNT_OFF, &m, "switched off (--count off)");
    expect_reason(COUNT_COUNTERS, &m, "no hardware counters: switched off for a test");
    expect_reason(COUNT_VALGRIND, &m, "more than 3e+09 analytic FLOPs: too slow under valgrind");
    model_close(&m);
}

/* The reference does little more than the formulas count: exponentials and roots are more than one FLOP. */
static void test_reference(void **state)
{
    (void)state;
    struct small m;
    struct executed e;
    struct message error;
    struct counted_entries entries = {0};
    if (!valgrind_works())
        skip();
    model_open(&m, "step --device=ref --act=relu", 2);
    double analytic = (double)tape_total(m.program.tape).flops;
    struct executed_request how = request_of(COUNT_AUTO, &entries, 2);
    how.backend = &backend_ref;
    if (!executed_by_tape(&how, m.program.tape, &e, &error))
        fail_msg("%s", error.text);
    model_close(&m);
    counted_entries_free(&entries);
    assert_string_equal(e.source, "callgrind: base, 1 thread (timed: base, 2)");
    assert_string_equal(e.isa, "base");
    assert_string_equal(e.differences, "threads");
    assert_true((double)e.flops > 0.95 * analytic && (double)e.flops < 1.5 * analytic);
}

int main(int argc, char **argv)
{
    char unopened[256];
    if (argc > 1) /* as capture_run does: the opening is not counted */
        blas_open(1, unopened, sizeof unopened);
    if (argc == 3)
        return strcmp(argv[1], capture_word) == 0 ? capture_run(argv[2]) : play_model(argv[2]);
    if (argc == 2)
        return play(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_children),    cmocka_unit_test(test_counters),
        cmocka_unit_test(test_known_loops), cmocka_unit_test(test_product),
        cmocka_unit_test(test_child_fails), cmocka_unit_test(test_sum_of_entries),
        cmocka_unit_test(test_closest_set), cmocka_unit_test(test_entries_are_shared),
        cmocka_unit_test(test_encodings),   cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
