/*
 * Arithmetic and lookups of CUDA kernels (kernels/cuda/math.h and search.h), from the same source on the
 * host: activations and their derivatives against libm in double, the online softmax of parts against the
 * softmax of the whole, and block numbers against enumeration. Then the grids of dense attention (plan.h):
 * they cover the work and are valid launch configurations.
 */
#include "kernels/cuda/math.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/search.h"
#include "kernels/rng.h"
#include "tests/test.h"

enum { POINTS = 400000 };

/* A test's stream of random integers from 0 to limit - 1. */
struct random {
    uint64_t key, count;
};

static int64_t random_below(struct random *r, int64_t limit)
{
    return (rng_int24(r->key, r->count++) + (1 << 23)) % limit;
}

static double uniform(struct random *r)
{
    return rng_int24(r->key, r->count++) * 0x1p-23;
}

static void expect_below(const char *what, double error, double bound)
{
    if (!(error <= bound))
        fail_msg("%s is off by %g, allowed %g", what, error, bound);
}

static double exact(int act, bool slope, double x)
{
    double cdf = 0.5 * erfc(-x * 0.70710678118654752440);
    double density = 0.39894228040143267794 * exp(-0.5 * x * x);
    double root = 0.79788456080286535588, t = tanh(root * (x + 0.044715 * x * x * x));
    switch (act) {
    case ACT_GELU:
        return slope ? cdf + x * density : x * cdf;
    case ACT_GELU_TANH:
        return slope ? 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x)
                     : 0.5 * x * (1 + t);
    case ACT_RELU:
        return slope ? x > 0 : x > 0 ? x : 0;
    default:
        return slope ? 1 : x;
    }
}

/* The error on [-12, 12]: in the 2-norm on [-6, 6], and the maximum everywhere. */
static void check_activation(int act, bool slope)
{
    double difference = 0, size = 0, worst = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = (float)(-12 + 24.0 * i / (POINTS - 1));
        double y = exact(act, slope, x),
               d = (slope ? activation_backward(act, x, 1) : activation(act, x)) - y;
        worst = fmax(worst, fabs(d));
        if (fabsf(x) > 6)
            continue;
        difference += d * d;
        size += y * y;
    }
    char what[64];
    snprintf(what, sizeof what, "%s%s", activation_name(act), slope ? "'" : "");
    expect_below(what, sqrt(difference / size), 1e-7);
    expect_below(what, worst, 1e-6);
}

TEST(test_activations)
{
    for (int act = ACT_NONE; act < ACT_KINDS; act++) {
        check_activation(act, false);
        check_activation(act, true);
    }
}

/* For large arguments an activation is the identity or 0; no overflow leads to NaN. */
TEST(test_activations_far_out)
{
    for (int act = ACT_GELU; act < ACT_KINDS; act++)
        for (float x = 30; x < 1e38f; x *= 10) {
            assert_true(activation(act, x) == x);
            assert_true(activation(act, -x) == 0);
            assert_true(activation_backward(act, x, 2) == 2);
            assert_true(activation_backward(act, -x, 2) == 0);
        }
    assert_true(activation(ACT_RELU, 0) == 0 && activation_backward(ACT_RELU, 0, 1) == 0);
    assert_true(activation_backward(ACT_NONE, -3, 5) == 5);
}

/* The state of a set of scores, exponents of 2. */
struct part {
    float top, sum;
};

static struct part part_of(const float *scores, int count)
{
    struct part p = {-INFINITY, 0};
    for (int i = 0; i < count; i++)
        p.top = softmax_top(p.top, scores[i]);
    for (int i = 0; i < count; i++)
        p.sum += softmax_weight(scores[i], p.top);
    return p;
}

static struct part merged(struct part a, struct part b)
{
    float top = softmax_top(a.top, b.top);
    return (struct part){top, a.sum * softmax_weight(a.top, top) + b.sum * softmax_weight(b.top, top)};
}

/* Scores in random parts, including empty ones, against all at once in double. */
static void check_softmax(struct random *r, double range)
{
    enum { COUNT = 200 };
    float scores[COUNT];
    for (int i = 0; i < COUNT; i++)
        scores[i] = (float)(range * uniform(r));
    struct part all = {-INFINITY, 0};
    for (int from = 0, count; from < COUNT; from += count) {
        count = (int)random_below(r, 20);
        count = from + count < COUNT ? count : COUNT - from;
        struct part p = part_of(scores + from, count);
        all = random_below(r, 2) ? merged(all, p) : merged(p, all);
    }
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < COUNT; i++)
        top = fmax(top, scores[i]);
    for (int i = 0; i < COUNT; i++)
        sum += exp2(scores[i] - top);
    assert_true(all.top == (float)top);
    expect_below("the sum of merged parts", fabs(all.sum / sum - 1), 1e-6);
    double lse = (top + log2(sum)) * 0.69314718055994530942;
    expect_below("lse", fabs(softmax_lse(all.top, all.sum) - lse) / fmax(1, fabs(lse)), 3e-7);
}

TEST(test_softmax)
{
    struct random r = {.key = 1};
    for (int i = 0; i < 200; i++)
        for (double range = 1e-3; range < 1e6; range *= 10)
            check_softmax(&r, range);
}

TEST(test_empty_softmax)
{
    struct part empty = part_of(NULL, 0), one = {3, 1};
    struct part both = merged(empty, empty), left = merged(one, empty), right = merged(empty, one);
    assert_true(both.top == -INFINITY && both.sum == 0);
    assert_true(left.top == 3 && left.sum == 1 && right.top == 3 && right.sum == 1);
}

enum { GRAPHS = 12, LD = 3 };

/* Bounds of `count` ranges of random sizes of at least `least`, LD apart, with no bounds in between. */
static void random_bounds(struct random *r, int64_t at[], int count, int least)
{
    for (int i = 0; i <= GRAPHS * LD; i++)
        at[i] = -1;
    at[0] = 0;
    for (int g = 0; g < count; g++)
        at[(g + 1) * LD] = at[g * LD] + least + random_below(r, random_below(r, 3) ? 4 : 40);
}

/*
 * Numbers are ordered: each graph's blocks, the last with the remaining rows, then at most one empty block.
 */
static void check_blocks(const int64_t at[], int count, int64_t size)
{
    int64_t number = 0, end = block_count(at[count * LD], count, size);
    for (int g = 0; g < count; g++) {
        int64_t first = at[g * LD], rows = at[(g + 1) * LD] - first;
        assert_int_equal(block_first(at, LD, size, g), number);
        int64_t next = g + 1 < count ? block_first(at, LD, size, g + 1) : end;
        assert_between(next - number, blocks_of(rows, size), blocks_of(rows, size) + 1);
        for (int64_t done = 0; number < next; number++, done += size) {
            struct row_block b = block_at(at, LD, count, size, number);
            assert_int_equal(b.graph, g);
            assert_int_equal(b.graph_first, first);
            assert_int_equal(b.graph_rows, rows);
            assert_int_equal(b.rows, max_of(0, min_of(size, rows - done)));
            assert_true(b.rows == 0 || b.first == first + done);
        }
    }
    assert_int_equal(number, end);
}

TEST(test_blocks)
{
    struct random r = {.key = 2};
    for (int i = 0; i < 3000; i++) {
        int64_t at[GRAPHS * LD + 1];
        int count = 1 + (int)random_below(&r, GRAPHS);
        random_bounds(&r, at, count, 1);
        check_blocks(at, count, 1 + random_below(&r, 1 + random_below(&r, 64)));
    }
}

/* Sizes and positions beyond 32 bits. */
TEST(test_large_blocks)
{
    int64_t n = (int64_t)1 << 33, at[] = {0, 1, n, n + 5};
    struct row_block last = block_at(at, 1, 3, 64, block_count(n + 5, 3, 64) - 1);
    assert_int_equal(last.graph, 2);
    assert_int_equal(last.first, n);
    assert_int_equal(last.rows, 5);
    struct row_block empty = block_at(at, 1, 3, 64, block_first(at, 1, 64, 2) - 1);
    struct row_block before = block_at(at, 1, 3, 64, block_first(at, 1, 64, 2) - 2);
    assert_true(empty.graph == 1 && empty.rows == 0);
    assert_int_equal(before.graph, 1);
    assert_int_equal(before.first + before.rows, n);
}

/* For every value the range that contains it, also with empty ranges. */
TEST(test_ranges)
{
    struct random r = {.key = 3};
    for (int i = 0; i < 3000; i++) {
        int64_t at[GRAPHS * LD + 1];
        int count = 1 + (int)random_below(&r, GRAPHS);
        random_bounds(&r, at, count, 0);
        int64_t value = 0;
        for (int g = 0; g < count; g++)
            for (; value < at[(g + 1) * LD]; value++)
                assert_int_equal(range_of(at, LD, count, value), g);
    }
}

static void expect_grid(struct launch l, int64_t x, int64_t z)
{
    assert_int_equal(l.grid_x, x);
    assert_int_equal(l.grid_y, 1);
    assert_int_equal(l.grid_z, z);
    assert_between(l.grid_x, 1, LAUNCH_MAX_X);
    assert_between(l.block, WARP, 1024);
    assert_int_equal(l.block % WARP, 0);
}

TEST(test_attention_grids)
{
    for (int dh = 1; dh <= 128; dh++) {
        int width = attention_width(dh);
        assert_true(width >= dh && (width == 8 || (width < 2 * dh && width <= 128)));
        assert_int_equal(width & (width - 1), 0);
    }
    assert_int_equal(attention_width(129), 0);
    assert_int_equal(attention_rows(1, 1, 1, 16, 4, 132), 1);
    assert_int_equal(attention_rows(1 << 20, 1, 8, 16, 4, 132), 4);
    assert_int_equal(attention_rows(1 << 20, 1 << 15, 8, 16, 4, 132), 1); /* graphs of 32 rows */
    assert_int_equal(attention_rows(500, 1, 8, 16, 4, 132), 1);           /* 56 blocks */
    assert_int_equal(attention_rows(511, 1, 8, 8, 4, 132), 1);
    assert_int_equal(attention_rows(512, 1, 8, 8, 4, 132), 4); /* 128 blocks */
    expect_grid(launch_heads(500, 1, 8, 64, ATTENTION_THREADS), 8, 8);
    expect_grid(launch_heads(1, 1, 1, 64, ATTENTION_THREADS), 1, 1);
    expect_grid(launch_heads(100, 7, 3, 32, 256), 10, 3);
}

/* The number of queries is unknown on the host, but never exceeds the number of warps in the softmax grid. */
TEST(test_softmax_grid)
{
    struct random r = {.key = 4};
    for (int i = 0; i < 3000; i++) {
        int64_t graphs = 1 + random_below(&r, 40), most = 1 + random_below(&r, 100), queries = 0, pairs = 0;
        for (int64_t g = 0; g < graphs; g++) {
            int64_t n = 1 + random_below(&r, most);
            queries += n;
            pairs += n * n;
        }
        struct launch l = launch_softmax(graphs, pairs, 3);
        expect_grid(l, l.grid_x, 3);
        assert_true((int64_t)l.grid_x * (BLOCK / WARP) >= queries);
    }
}
