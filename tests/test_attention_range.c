/*
 * Attention with scores far from zero, over several blocks of keys: kernels for every instruction set against
 * ref in double. Scores within about 30 of zero need no maximum subtracted, larger ones do, and a block of
 * queries may contain both; ref always subtracts it.
 */
#include "kernels/backend.h"
#include "kernels/rng.h"
#include "tests/test.h"

#include <math.h>

enum { N = 700, HEADS = 2, FIRST = 90 /* rows of the first of two graphs */ };

/* Entries uniform in [-size, size), with row i scaled by 1 + growth i / N. */
static struct mat matrix(uint64_t key, int64_t width, double size, double growth, enum dtype dtype)
{
    struct mat m = {.rows = N, .cols = width, .ld = width, .dtype = dtype};
    m.data = calloc((size_t)mat_size(m), dtype_size(dtype));
    assert_non_null(m.data);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < width; k++) {
            double row = size * (1 + growth * (double)i / N) * 0x1p-23;
            float x = (float)(rng_int24(key, (uint64_t)(i * width + k)) * row);
            if (dtype == F32)
                ((float *)m.data)[i * width + k] = x;
            else
                ((double *)m.data)[i * width + k] = x;
        }
    return m;
}

static double entry(struct mat m, int64_t i)
{
    return m.dtype == F32 ? (double)((float *)m.data)[i] : ((double *)m.data)[i];
}

static double relative_error(struct mat a, struct mat r)
{
    double difference = 0, size = 0;
    for (int64_t i = 0; i < mat_size(r); i++) {
        difference += (entry(a, i) - entry(r, i)) * (entry(a, i) - entry(r, i));
        size += entry(r, i) * entry(r, i);
    }
    return sqrt(difference / size);
}

static struct attention_args attend(const struct backend *b, int64_t width, double size, double growth,
                                    enum dtype dtype, int64_t at[3])
{
    struct attention_args a = {.call = {.threads = 1}, .heads = HEADS};
    a.q = matrix(1, width, size, growth, dtype);
    a.k = matrix(2, width, size, 0, dtype);
    a.v = matrix(3, width, 1, 0, dtype);
    a.y = matrix(4, width, 1, 0, dtype);
    a.lse = (struct mat){.rows = N, .cols = HEADS, .ld = HEADS, .dtype = F64};
    a.lse.data = calloc(N * HEADS, sizeof(double));
    a.graphs = (struct offsets){{.data = at, .rows = 3, .cols = 1, .ld = 1, .dtype = I64},
                                FIRST * FIRST + (N - FIRST) * (N - FIRST)};
    const struct kernel *k = backend_kernel(b, OP_attention, dtype, NULL);
    size_t scratch = ((size_t)k->scratch(&a) + 63) / 64 * 64;
    a.call.scratch = aligned_alloc(64, scratch);
    assert_non_null(a.call.scratch);
    k->run(&a);
    return a;
}

static void release(struct attention_args *a)
{
    void *all[] = {a->q.data, a->k.data, a->v.data, a->y.data, a->lse.data, a->call.scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void expect_close(int64_t width, double size, double growth, double limit)
{
    int64_t at[] = {0, FIRST, N};
    struct attention_args oracle = attend(&backend_ref, width, size, growth, F64, at);
    for (const struct backend *const *b = backend_cpu_all(); *b; b++) {
        struct attention_args ours = attend(*b, width, size, growth, F32, at);
        double y = relative_error(ours.y, oracle.y), lse = relative_error(ours.lse, oracle.lse);
        if (!(y < limit && lse < limit))
            fail_msg("%s: y is off by %g, lse by %g, allowed %g", (*b)->name, y, lse, limit);
        release(&ours);
    }
    release(&oracle);
}

TEST(test_small_scores)
{
    expect_close(24, 1, 0, 1e-6);
}

/* From about 10 to about 200 in one graph. */
TEST(test_small_and_large_scores)
{
    expect_close(24, 3, 12, 1e-4);
}

/* exp overflows beyond 88. */
TEST(test_very_large_scores)
{
    expect_close(24, 30, 0, 1e-3);
}

/*
 * Heads deeper than a panel of a product, with scores so large that their rounding errors are huge: no
 * exponent may exceed that of the largest score, and y must be finite.
 */
TEST(test_wide_heads)
{
    expect_close(2 * 300, 8, 0, 1e-4);
    expect_close(2 * 300, 1e15, 0, INFINITY);
}
