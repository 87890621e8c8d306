/*
 * Products of kernels/cpu/gemm.h with every number of rows and what follows them in registers, of each
 * instruction set that this processor has: against sums in double. Operands end where they say, and nothing
 * is written below the last row.
 */
#define ISA base
#include "kernels/cpu/gemm.h"
#include "tests/test.h"

#include <math.h>

enum { ROWS = 60, MOST_COLS = 71, MOST_DEPTH = 9, LD = 96, END = GEMM_BIASED + 1 };

struct products {
    bool have;
    int64_t lanes;
    void (*pack)(int64_t, int64_t, struct gemm_in, float *);
    void (*packed)(int64_t, int64_t, int64_t, struct gemm_in, const float *, float *, int64_t, bool);
    void (*biased)(int64_t, int64_t, int64_t, struct gemm_in, const float *, float *, int64_t, const float *);
    void (*fused)(int64_t, int64_t, int64_t, struct gemm_in, const float *, float *, int64_t,
                  struct gemm_end);
    void (*outer)(int64_t, int64_t, int64_t, struct gemm_in, struct gemm_in, float *, int64_t, bool, float *);
};

#define DECLARE(isa)                                                                                         \
    void cpu_##isa##_gemm_pack(int64_t, int64_t, struct gemm_in, float *);                                   \
    void cpu_##isa##_gemm_packed(int64_t, int64_t, int64_t, struct gemm_in, const float *, float *, int64_t, \
                                 bool);                                                                      \
    void cpu_##isa##_gemm_biased(int64_t, int64_t, int64_t, struct gemm_in, const float *, float *, int64_t, \
                                 const float *);                                                             \
    void cpu_##isa##_gemm_fused(int64_t, int64_t, int64_t, struct gemm_in, const float *, float *, int64_t,  \
                                struct gemm_end);                                                            \
    void cpu_##isa##_gemm_outer(int64_t, int64_t, int64_t, struct gemm_in, struct gemm_in, float *, int64_t, \
                                bool, float *);
#define PRODUCTS(isa, have, lanes)                                                                           \
    {                                                                                                        \
        have, lanes, cpu_##isa##_gemm_pack, cpu_##isa##_gemm_packed, cpu_##isa##_gemm_biased,                \
            cpu_##isa##_gemm_fused, cpu_##isa##_gemm_outer                                                   \
    }
#if ISA_X86 && ISA_avx2 && ISA_avx512
#define OTHERS 1
extern const struct backend cpu_avx2_backend, cpu_avx512_backend;
DECLARE(avx2)
DECLARE(avx512)

static bool has(const struct backend *its)
{
    const struct backend *const *all = backend_cpu_all();
    while (*all && *all != its)
        all++;
    return *all;
}
#endif

static struct products products_of(int i)
{
    const struct products all[] = {
        PRODUCTS(base, true, GEMM_LANES),
#if OTHERS
        PRODUCTS(avx2, has(&cpu_avx2_backend), 8),
        PRODUCTS(avx512, has(&cpu_avx512_backend), 16),
#endif
    };
    return i < (int)(sizeof all / sizeof *all) ? all[i] : (struct products){0};
}

/* Of one shape: a is m x k and b is k x n, both along their rows, and c has the room of m rows. */
struct shape {
    struct products f;
    int64_t m, n, k, width; /* width: n in whole vectors */
    float *a, *a_columns, *b, *packed, *c, *p, *shift, *sums, *bias;
};

static float *floats(int64_t count)
{
    float *x = malloc((size_t)count * sizeof(float));
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(i * 37 % 61 - 30) / 31;
    return x;
}

static struct shape shape_of(struct products f, int64_t m, int64_t n, int64_t k)
{
    struct shape s = {.f = f, .m = m, .n = n, .k = k, .width = round_up(n, f.lanes)};
    s.a = floats(m * k);
    s.a_columns = floats(m * k);
    s.b = floats(k * n);
    s.packed = floats(k * s.width + GEMM_GAP);
    s.c = floats((m - 1) * LD + s.width);
    s.p = floats((m - 1) * LD + s.width);
    s.shift = floats(m);
    s.sums = floats(m * f.lanes);
    s.bias = floats(n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < k; p++)
            s.a_columns[p * m + i] = s.a[i * k + p];
    f.pack(k, n, gemm_in(s.b, n), s.packed);
    return s;
}

static void shape_free(struct shape s)
{
    float *all[] = {s.a, s.a_columns, s.b, s.packed, s.c, s.p, s.shift, s.sums, s.bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static double product(const struct shape *s, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t p = 0; p < s->k; p++)
        sum += (double)s->a[i * s->k + p] * (double)s->b[p * s->n + j];
    return sum;
}

static double ended(const struct shape *s, int kind, int64_t i, int64_t j)
{
    double x = product(s, i, j), shift = s->shift[i], p = s->p[i * LD + j];
    switch (kind) {
    case GEMM_WEIGHTS:
        return exp2(x);
    case GEMM_PROBABILITIES:
        return exp2(fmin(x - shift, 0));
    case GEMM_GRADIENTS:
        return p * (x - shift);
    case GEMM_BIASED:
        return exp2(x + p * M_LOG2E - shift);
    default:
        return x;
    }
}

static void expect(const struct shape *s, const char *what, int64_t i, int64_t j, double is, double wanted)
{
    if (!(fabs(is - wanted) <= 3e-6 * (1 + fabs(wanted))))
        fail_msg("%s, %d lanes, %d x %d x %d: (%d, %d) is %g instead of %g", what, (int)s->f.lanes, (int)s->m,
                 (int)s->n, (int)s->k, (int)i, (int)j, is, wanted);
}

/* C is what the product adds to `before`, and for a bias that of the column. */
static void expect_product(const struct shape *s, const char *what, double before, bool biased)
{
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++)
            expect(s, what, i, j, s->c[i * LD + j],
                   product(s, i, j) + before + (biased ? (double)s->bias[j] : 0));
}

static void expect_products(const struct shape *s)
{
    struct gemm_in a[] = {gemm_in(s->a, s->k), gemm_transposed(s->a_columns, s->m)};
    for (int w = 0; w < 2; w++) {
        s->f.packed(s->m, s->n, s->k, a[w], s->packed, s->c, LD, false);
        expect_product(s, w ? "a product along columns" : "a product", 0, false);
        for (int64_t i = 0; i < s->m; i++)
            for (int64_t j = 0; j < s->n; j++)
                s->c[i * LD + j] = 1;
        s->f.packed(s->m, s->n, s->k, a[w], s->packed, s->c, LD, true);
        expect_product(s, "a product that is added", 1, false);
    }
    s->f.biased(s->m, s->n, s->k, a[0], s->packed, s->c, LD, s->bias);
    expect_product(s, "a product with a bias", 0, true);
    float *scratch = floats(gemm_outer_scratch(s->m, s->n) + GEMM_DEPTH * 2 * 16);
    s->f.outer(s->m, s->n, s->k, a[1], gemm_in(s->b, s->n), s->c, LD, false, scratch);
    expect_product(s, "an outer product", 0, false);
    free(scratch);
}

static void expect_ended(struct shape *s, int kind)
{
    static const char *const names[END] = {"a product of whole depth", "weights", "probabilities",
                                           "gradients", "biased weights"};
    memset(s->sums, 0, (size_t)(s->m * s->f.lanes) * sizeof(float));
    struct gemm_end end = {.kind = (enum gemm_kind)kind, .shift = s->shift, .p = s->p, .sums = s->sums};
    s->f.fused(s->m, s->n, s->k, gemm_in(s->a, s->k), s->packed, s->c, LD, end);
    for (int64_t i = 0; i < s->m; i++) {
        double sum = 0, wanted = 0;
        for (int64_t j = 0; j < s->n; j++) {
            expect(s, names[kind], i, j, s->c[i * LD + j], ended(s, kind, i, j));
            wanted += ended(s, kind, i, j);
        }
        for (int64_t l = 0; l < s->f.lanes; l++)
            sum += s->sums[i * s->f.lanes + l];
        if (kind == GEMM_WEIGHTS)
            expect(s, "the sum of weights", i, 0, sum / (double)s->n, wanted / (double)s->n);
    }
}

TEST(products_of_all_heights)
{
    static const int64_t cols[] = {1, 16, 31, 32, MOST_COLS}, depths[] = {1, 4, MOST_DEPTH};
    struct products f;
    for (int i = 0; f = products_of(i), f.lanes; i++)
        for (int64_t m = 1; f.have && m <= ROWS; m++)
            for (size_t n = 0; n < sizeof cols / sizeof *cols; n++)
                for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
                    struct shape s = shape_of(f, m, cols[n], depths[k]);
                    expect_products(&s);
                    for (int kind = GEMM_STORE; kind < END; kind++)
                        expect_ended(&s, kind);
                    shape_free(s);
                }
}

/* A matrix, packed along its columns, is as packed along its rows. */
TEST(both_ways_of_packing)
{
    enum { COLS = 70, DEPTH = 83 };
    struct products f;
    for (int i = 0; f = products_of(i), f.lanes; i++)
        for (int64_t n = 1; f.have && n <= COLS; n++) {
            float *rows = floats(DEPTH * n), *columns = floats(DEPTH * n);
            float *a = floats(DEPTH * round_up(n, f.lanes)), *b = floats(DEPTH * round_up(n, f.lanes));
            for (int64_t p = 0; p < DEPTH; p++)
                for (int64_t j = 0; j < n; j++)
                    columns[j * DEPTH + p] = rows[p * n + j];
            f.pack(DEPTH, n, gemm_in(rows, n), a);
            f.pack(DEPTH, n, gemm_transposed(columns, DEPTH), b);
            int64_t panel = f.lanes == GEMM_LANES ? GEMM_COLS : 2 * f.lanes;
            for (int64_t j = 0; j < n; j++) {
                int64_t first = j / panel * panel, width = round_up(min_of(panel, n - first), f.lanes);
                for (int64_t p = 0; p < DEPTH; p++) {
                    int64_t at = first * DEPTH + p * width + j - first;
                    assert_true(a[at] == rows[p * n + j] && b[at] == a[at]);
                }
            }
            free(rows), free(columns), free(a), free(b);
        }
}
