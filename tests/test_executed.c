/*
 * Counting executed FLOPs: hardware counters, failing child processes, and toys under valgrind, as which this
 * program runs itself. Programs and encodings are in test_executed_entries.c.
 */
#include <math.h>
#include <unistd.h>

#include "bench/base/child.h"
#include "bench/flops/counters.h"
#include "kernels/blas.h"
#include "tests/executed.h"
#include "tests/test.h"

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
    needs_valgrind();
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
    if (!HAVE_CBLAS)
        skip();
    needs_valgrind();
    assert_true(count_toy("toy_gemm", "toy_gemm", 60, f, &error));
    double wanted = 2.0 * GEMM * GEMM * GEMM;
    assert_true(fabs((double)f[0].flops - wanted) <= 0.02 * wanted);
}

static void test_child_fails(void **state)
{
    (void)state;
    struct executed_flops f[2];
    struct message error = {""};
    needs_valgrind();
    assert_false(count_toy("toy_fails", "toy_fails", 60, f, &error));
    assert_string_equal(error.text, "valgrind ended with exit status 3: the toy is broken");
    assert_false(count_toy("toy_sse", "no_such_function", 60, f, &error));
    assert_string_equal(error.text, "valgrind saw no call of no_such_function");
    assert_false(count_toy("toy_endless", "toy_endless", 0.5, f, &error));
    assert_string_equal(error.text, "takes more than 0.5 s under valgrind");
}

int main(int argc, char **argv)
{
    char unopened[256];
    if (argc > 1) { /* opened beforehand, which is not counted */
        blas_open(1, unopened, sizeof unopened);
        return play(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_children),    cmocka_unit_test(test_counters),
        cmocka_unit_test(test_known_loops), cmocka_unit_test(test_product),
        cmocka_unit_test(test_child_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
