/*
 * Interposed functions: this program's own malloc, mmap and cblas_sgemm override the library's.
 *
 * Our code must not call the allocator while a tape is replayed; and time spent in a library must show in the
 * medians, call by call.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#include "analysis/statistics/statistics.h"
#include "bench/time/sample.h"
#include "models/layers/model.h"
#include "tests/sanitized.h"

/* The sanitizers interpose the allocator themselves. */
#if !SANITIZED
/* Inlined, they would see their caller's caller. */
#define NOINLINE __attribute__((noinline))

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern char __executable_start, etext;

/* Volatile, because compilers assume that malloc does not access these variables. */
static volatile bool armed;
static volatile int calls;

/*
 * Counts calls from this program's own code, not from libraries. free is excluded: the OpenMP runtime's last
 * action is a tail call to free, which looks like a call from us.
 */
static void note(const void *caller)
{
    if (__atomic_load_n(&armed, __ATOMIC_RELAXED) && (const char *)caller >= &__executable_start &&
        (const char *)caller < &etext)
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

NOINLINE void *malloc(size_t size)
{
    note(__builtin_return_address(0));
    return __libc_malloc(size);
}

NOINLINE void *calloc(size_t count, size_t size)
{
    note(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

NOINLINE void *realloc(void *p, size_t size)
{
    note(__builtin_return_address(0));
    return __libc_realloc(p, size);
}

NOINLINE void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    note(__builtin_return_address(0));
    void *(*real)(void *, size_t, int, int, int, off_t);
    *(void **)&real = dlsym(RTLD_NEXT, "mmap");
    return real(at, size, protection, flags, fd, offset);
}
#endif

static struct recording record_step(struct batch *b, const char *linear_variant)
{
    struct graph_config g = {.family = "er", .nodes = 150, .degree = 4, .graphs = 2, .seed = 1};
    struct model_config c = {.layers = 2,
                             .hidden = 32,
                             .heads = 4,
                             .ffn = 64,
                             .act = ACT_GELU,
                             .attention = ATTENTION_DENSE,
                             .mpnn = MPNN_GIN};
    struct tape_config t = {
        .backend = backend_cpu(), .dtype = F32, .threads = linear_variant ? 1 : 2, .seed = 1};
    t.variant[OP_linear] = linear_variant;
    char error[256];
    assert_true(batch_generate(b, &g, error, sizeof error));
    struct recording r = program_record(PROGRAM_STEP, &c, b, NULL, t);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

static void test_replay_allocates_nothing(void **state)
{
    (void)state;
#if SANITIZED
    skip();
#else
    struct batch b;
    struct recording r = record_step(&b, NULL);
    armed = true;
    tape_run(r.tape);
    tape_run(r.tape);
    armed = false;
    assert_int_equal(calls, 0);
    armed = true;
    void *volatile planted = malloc(150 * 150 * sizeof(float)); /* proves that the check can fail */
    armed = false;
    free(planted);
    assert_int_equal(calls, 1);
    calls = 0;
    tape_free(r.tape);
    batch_free(&b);
#endif
}

#if HAVE_CBLAS
#include <cblas.h>

static bool slow;
static int products;

/* Keeps the library linked, which this program would otherwise not need. */
void (*const volatile library)(void) = (void (*)(void))cblas_dgemm;

void cblas_sgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb, blasint m,
                 blasint n, blasint k, float alpha, const float *a, blasint lda, const float *b, blasint ldb,
                 float beta, float *c, blasint ldc)
{
    static void (*real)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint, blasint,
                        blasint, float, const float *, blasint, const float *, blasint, float, float *,
                        blasint);
    if (!real && library)
        *(void **)&real = dlsym(RTLD_NEXT, "cblas_sgemm");
    __atomic_add_fetch(&products, 1, __ATOMIC_RELAXED);
    if (slow)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    real(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static double median_of(struct tape *t)
{
    struct sampling rule = {.warmup = 1, .runs = 3};
    struct samples s = sample_tape(t, &rule);
    double median = summarize(s.seconds, (size_t)s.n).median;
    samples_free(&s);
    return median;
}

/* Each of a step's calls takes 5 ms more, and the median must increase by at least that. */
static void test_slow_products_show_in_the_median(void **state)
{
    (void)state;
    struct batch b;
    struct recording r = record_step(&b, "blas");
    products = 0;
    tape_run(r.tape);
    int per_run = products;
    assert_true(per_run >= 8);
    slow = true;
    double median = median_of(r.tape);
    slow = false;
    assert_true(median >= 0.005 * per_run);
    assert_true(median - 0.005 * per_run < 10 * 0.005 * per_run);
    tape_free(r.tape);
    batch_free(&b);
}
#else
static void test_slow_products_show_in_the_median(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay_allocates_nothing),
        cmocka_unit_test(test_slow_products_show_in_the_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
