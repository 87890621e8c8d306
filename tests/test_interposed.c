/*
 * Interposed functions: this program's own malloc, mmap and clock_gettime override the library's.
 *
 * Our code must not call the allocator while a tape is replayed; and time spent in a kernel must show in the
 * medians, call by call.
 */
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analysis/statistics/statistics.h"
#include "bench/time/sample.h"
#include "models/layers/model.h"
#include "tests/sanitized.h"
#include "tests/test.h"

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

static struct recording record_step(struct batch *b, const struct backend *backend)
{
    struct graph_config g = {.family = "er", .nodes = 150, .degree = 4, .graphs = 2, .seed = 1};
    struct model_config c = {.layers = 2,
                             .hidden = 32,
                             .heads = 4,
                             .ffn = 64,
                             .act = ACT_GELU,
                             .attention = ATTENTION_DENSE,
                             .mpnn = MPNN_GIN};
    struct tape_config t = {.backend = backend, .dtype = F32, .threads = 2, .seed = 1};
    char error[256];
    assert_true(batch_generate(b, &g, error, sizeof error));
    struct recording r = program_record(PROGRAM_STEP, &c, b, NULL, t);
    assert_true(tape_layout(r.tape));
    tape_init(r.tape);
    return r;
}

TEST(test_replay_allocates_nothing)
{
#if SANITIZED
    skip();
#else
    struct batch b;
    struct recording r = record_step(&b, backend_cpu());
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

/* A clock that stands still between calls that are planted, or nearly: whoever waits for a time goes on. */
static bool is_played;
static int64_t played; /* nanoseconds */
static int products;
enum { PRODUCT = 5000000 };

int clock_gettime(clockid_t id, struct timespec *now)
{
    if (!is_played)
        return (int)syscall(SYS_clock_gettime, id, now);
    played++;
    *now = (struct timespec){played / 1000000000, played % 1000000000};
    return 0;
}

static const struct kernel *timed_kernel(enum op op)
{
    return backend_kernel(backend_cpu(), op, F32, NULL);
}

static void slow_linear(const void *args)
{
    products++;
    played += PRODUCT;
    timed_kernel(OP_linear)->run(args);
}

static void slow_linear_backward(const void *args)
{
    products++;
    played += PRODUCT;
    timed_kernel(OP_linear_backward)->run(args);
}

static int64_t linear_scratch(const void *args)
{
    return timed_kernel(OP_linear)->scratch(args);
}

static int64_t linear_backward_scratch(const void *args)
{
    return timed_kernel(OP_linear_backward)->scratch(args);
}

static double median_of(struct tape *t)
{
    struct sampling rule = {.warmup = 1, .runs = 3};
    struct samples s = sample_tape(t, &rule);
    double median = summarize(s.seconds, (size_t)s.n).median;
    samples_free(&s);
    return median;
}

/* Each of a step's products takes 5 ms, and nothing else takes any time. */
TEST(test_slow_products_show_in_the_median)
{
    static const struct kernel slow[] = {
        {OP_linear, "slow", TYPE_f32, slow_linear, linear_scratch, NULL, NULL},
        {OP_linear_backward, "slow", TYPE_f32, slow_linear_backward, linear_backward_scratch, NULL, NULL}};
    const struct backend backend = {
        .name = "slow", .doc = "", .kernels = slow, .count = 2, .base = backend_cpu()};
    struct batch b;
    struct recording r = record_step(&b, &backend);
    products = 0;
    tape_run(r.tape);
    int per_run = products;
    assert_true(per_run >= 8);
    is_played = true;
    double median = median_of(r.tape);
    is_played = false;
    double expected = 1e-9 * PRODUCT * per_run;
    assert_true(median >= expected && median < expected + 1e-6);
    tape_free(r.tape);
    batch_free(&b);
}
