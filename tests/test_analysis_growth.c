/* Growth laws: each is recovered from noisy synthetic data, and too few points leave the law undetermined. */
#include "analysis/fits/growth.h"

#include "kernels/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SIZES = 8 };
static const double sizes[SIZES] = {100, 200, 500, 1000, 2000, 5000, 10000, 20000};

/* A law's value with this many percent of noise, the same for the same seed. */
static double planted(const double c[GROWTH_TERMS], double x, double noise, uint64_t seed)
{
    double y = c[GROWTH_1] + c[GROWTH_N] * x + c[GROWTH_N_LOG_N] * x * log(x) + c[GROWTH_N2] * x * x +
               c[GROWTH_N3] * x * x * x;
    double uniform = (double)(rng_bits(seed, (uint64_t)x) >> 11) * 0x1p-53;
    return y * (1 + noise * (2 * uniform - 1));
}

static struct growth fit_planted(const double c[GROWTH_TERMS], size_t n, double noise, uint64_t seed)
{
    double y[SIZES];
    for (size_t i = 0; i < n; i++)
        y[i] = planted(c, sizes[i], noise, seed);
    return growth_fit(sizes, y, n);
}

static unsigned terms_of(const double c[GROWTH_TERMS])
{
    unsigned terms = 0;
    for (int t = 0; t < GROWTH_TERMS; t++)
        terms |= (unsigned)(c[t] > 0) << t;
    return terms;
}

/* The cost of a transformer, and each law alone; all terms matter somewhere in the range. */
static const double cases[][GROWTH_TERMS] = {
    {.007},       {0, 1e-6},         {0, 0, 1e-7},       {0, 0, 0, 1e-9},      {0, 0, 0, 0, 1e-12},
    {.001, 1e-6}, {.01, 0, 0, 1e-8}, {0, 1e-6, 0, 1e-9}, {.002, 1e-5, 0, 1e-8}};
enum { CASES = sizeof cases / sizeof *cases };

static void test_exact_laws(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct growth g = fit_planted(cases[i], SIZES, 0, 0);
        assert_true(g.found);
        assert_int_equal(g.points, SIZES);
        if (g.laws[0].terms != terms_of(cases[i]))
            fail_msg("case %zu: terms %#x, not %#x", i, g.laws[0].terms, terms_of(cases[i]));
        for (int t = 0; t < GROWTH_TERMS; t++)
            assert_true(fabs(g.laws[0].coefficient[t] - cases[i][t]) <= 1e-4 * cases[i][t]);
        assert_true(g.laws[0].error < 1e-5);
    }
}

static bool is_as_good(const struct growth *g, unsigned terms)
{
    for (int l = 0; l < GROWTH_LAWS; l++)
        if (g->laws[l].terms == terms)
            return g->laws[l].criterion < g->laws[0].criterion + GROWTH_CLOSE;
    return false;
}

/*
 * Noise sometimes suggests a different number of terms; the true law must then be among those not excluded.
 */
static void test_noisy_laws(void **state)
{
    (void)state;
    enum { SEEDS = 100 };
    static const struct {
        double noise;
        int found, open;
    } levels[] = {{.03, 95, 99}, {.10, 60, 80}};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < CASES; i++) {
            int found = 0, open = 0;
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                struct growth g = fit_planted(cases[i], SIZES, levels[k].noise, seed);
                found += g.laws[0].terms == terms_of(cases[i]);
                open += is_as_good(&g, terms_of(cases[i]));
            }
            if (found < levels[k].found || open < levels[k].open)
                fail_msg("case %zu, noise %g: found %d, not excluded %d of %d times", i, levels[k].noise,
                         found, open, SEEDS);
        }
}

/* Over a factor of 1.3 a logarithm is nearly constant: neither law may be excluded. */
static void test_narrow_ranges_stay_open(void **state)
{
    (void)state;
    const double x[] = {1000, 1100, 1200, 1300}, c[GROWTH_TERMS] = {0, 0, 1e-7};
    double y[4];
    for (int i = 0; i < 4; i++)
        y[i] = planted(c, x[i], .03, 1);
    struct growth g = growth_fit(x, y, 4);
    assert_true(is_as_good(&g, 1u << GROWTH_N) && is_as_good(&g, 1u << GROWTH_N_LOG_N));
}

/* With 5 points, a third coefficient is used if it explains more than 3 %, and not otherwise. */
static void test_parameters_cost(void **state)
{
    (void)state;
    const double large[GROWTH_TERMS] = {.002, 1e-5, 0, 1e-8}, small[GROWTH_TERMS] = {4e-5, 1e-5, 0, 1e-8};
    assert_int_equal(fit_planted(large, 5, .03, 1).laws[0].terms, terms_of(large));
    assert_int_equal(fit_planted(small, 5, 0, 1).laws[0].terms, 1u << GROWTH_N | 1u << GROWTH_N2);
}

static void test_too_few_and_unusable_points(void **state)
{
    (void)state;
    const double x[] = {10, 10, 20, 30, 0, -1, 40}, y[] = {1, 1.1, 2, 3, 1, 1, NAN};
    struct growth g = growth_fit(x, y, 7), none = growth_fit(x, y, 0);
    assert_false(g.found || none.found);
    assert_int_equal(g.points, 4);
    assert_int_equal(none.points, 0);
}

/* x log x vanishes at 1, where costs do not: it is not a candidate, the others are. */
static void test_size_one(void **state)
{
    (void)state;
    const double x[] = {1, 2, 4, 8, 16}, y[] = {3, 6, 12, 24, 48};
    struct growth g = growth_fit(x, y, 5);
    assert_int_equal(g.laws[0].terms, 1u << GROWTH_N);
    assert_int_equal(g.laws[GROWTH_LAWS - 1].criterion == INFINITY, true);
}

static void test_terms_as_text(void **state)
{
    (void)state;
    static const char *const texts[GROWTH_TERMS] = {"1", "L", "L log L", "L^2", "L^3"};
    for (enum growth_term t = 0; t < GROWTH_TERMS; t++) {
        char text[32];
        growth_term_text(text, sizeof text, t, "L");
        assert_string_equal(text, texts[t]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_laws),
        cmocka_unit_test(test_noisy_laws),
        cmocka_unit_test(test_narrow_ranges_stay_open),
        cmocka_unit_test(test_parameters_cost),
        cmocka_unit_test(test_too_few_and_unusable_points),
        cmocka_unit_test(test_size_one),
        cmocka_unit_test(test_terms_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
