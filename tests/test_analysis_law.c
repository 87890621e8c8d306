/* Laws of time: the terms of exact work, non-negative coefficients, and exponents with intervals by hand. */
#include "analysis/fits/law.h"

#include "kernels/rng.h"
#include "tests/test.h"

#include <math.h>

enum { SIZES = 6 };
static const double sizes[SIZES] = {100, 200, 500, 1000, 2000, 5000};

static struct law_point exact(double x, double y)
{
    return (struct law_point){x, y, y, y};
}

static double polynomial(const double c[LAW_TERMS], double x)
{
    return c[0] + c[1] * x + c[2] * x * x + c[3] * x * x * x;
}

static unsigned terms_of_work(const double c[LAW_TERMS], size_t n)
{
    struct law_point work[SIZES];
    for (size_t i = 0; i < n; i++)
        work[i] = exact(sizes[i], polynomial(c, sizes[i]));
    return law_terms(work, n);
}

/* Every combination of terms is found, also where a term is a billionth of the whole. */
TEST(test_terms_of_work)
{
    for (unsigned terms = 1; terms < 1u << LAW_TERMS; terms++) {
        double c[LAW_TERMS] = {0};
        for (int t = 0; t < LAW_TERMS; t++)
            c[t] = terms >> t & 1 ? 7 * pow(10, 9 - 2 * t) : 0;
        assert_int_equal(terms_of_work(c, SIZES), terms);
    }
    const double small[LAW_TERMS] = {1e4, 0, 1e6};
    assert_int_equal(terms_of_work(small, SIZES), 5);
}

/* As many points as terms are reproduced by any polynomial, and so show none. */
TEST(test_terms_need_one_point_more)
{
    const double quadratic[LAW_TERMS] = {1e8, 1e5, 1e3}, line[LAW_TERMS] = {1e6, 1e5};
    assert_int_equal(terms_of_work(quadratic, 3), 0);
    assert_int_equal(terms_of_work(quadratic, 4), 7);
    assert_int_equal(terms_of_work(line, 3), 3);
    assert_int_equal(terms_of_work(line, 1), 0);
}

/* Rounded edges and random sizes add no terms; what is no polynomial has none. */
TEST(test_work_that_is_nearly_a_polynomial)
{
    struct law_point rounded[SIZES], random[SIZES], root[SIZES];
    for (int i = 0; i < SIZES; i++) {
        double x = sizes[i], part = (double)(rng_bits(1, (uint64_t)i) >> 11) * 0x1p-53;
        rounded[i] = exact(x, 1e6 + 1e4 * x + (i % 2 ? 500 : 0));
        random[i] = exact(x, 1e4 * x * (1 + 0.008 * part));
        root[i] = exact(x, 1e4 * pow(x, 1.5));
    }
    assert_int_equal(law_terms(rounded, SIZES), 3);
    assert_int_equal(law_terms(random, SIZES), 2);
    assert_int_equal(law_terms(root, SIZES), 0);
}

static struct law fit(const double c[LAW_TERMS], double noise, uint64_t seed, unsigned terms)
{
    struct law_point points[SIZES];
    for (int i = 0; i < SIZES; i++) {
        double part = 2 * (double)(rng_bits(seed, (uint64_t)i) >> 11) * 0x1p-53 - 1;
        double y = polynomial(c, sizes[i]) * (1 + noise * part);
        points[i] = (struct law_point){sizes[i], y, y * (1 - noise), y * (1 + noise)};
    }
    return law_fit(points, SIZES, terms);
}

TEST(test_exact_laws)
{
    const double c[LAW_TERMS] = {7e-3, 1e-4, 9e-8};
    struct law law = fit(c, 0, 0, 6); /* the constant need not be a term of the work */
    assert_int_equal(law.terms, 7);
    assert_true(law.error < 1e-9);
    for (int t = 0; t < LAW_TERMS; t++)
        assert_true(fabs(law.coefficient[t] - c[t]) <= 1e-9 * c[t]);
    assert_true(fabs(law_at(&law, 300) / polynomial(c, 300) - 1) < 1e-9);
}

/* The law stays within the noise, has no other terms and no negative coefficient. */
TEST(test_noisy_laws)
{
    const double laws[][LAW_TERMS] = {{7e-3, 1e-4, 9e-8}, {0, 1e-4, 9e-8}, {0, 0, 9e-8}, {7e-3, 1e-4}};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        for (uint64_t seed = 1; seed <= 200; seed++) {
            struct law law = fit(laws[i], 0.03, seed, 6);
            assert_true(law.terms && (law.terms & ~7u) == 0 && law.error < 0.06);
            for (int t = 0; t < LAW_TERMS; t++)
                assert_true(law.coefficient[t] >= 0);
        }
}

/* A time that falls needs a negative coefficient of x, so only the constant is left. */
TEST(test_falling_times)
{
    const struct law_point points[] = {exact(1, 4), exact(2, 3), exact(4, 2)};
    struct law law = law_fit(points, 3, 2);
    assert_int_equal(law.terms, 1);
}

/* Points count by their errors: the wide one is the one that is missed. */
TEST(test_weights)
{
    struct law_point points[] = {exact(1, 1), exact(2, 2), exact(3, 3), {4, 8, 4, 12}};
    struct law law = law_fit(points, 4, 2);
    assert_true(fabs(law_at(&law, 3) - 3) < 0.03);
    assert_true(law.error > 0.9);
}

TEST(test_no_law)
{
    const struct law_point points[] = {exact(1, 1), exact(1, 1.1), exact(2, 2)};
    assert_int_equal(law_fit(points, 3, 0).terms, 0);
    assert_int_equal(law_fit(points, 3, 2).terms, 0); /* two values for two terms */
    assert_int_equal(law_fit(points, 3, 1).terms, 1);
    assert_int_equal(law_fit(points, 0, 1).terms, 0);
}

/* log2: 1 to 3 over 2 octaves is 1; the limits are a factor of 2^0.3 and 2^0.4 away, 2^0.7 together. */
TEST(test_exponents)
{
    char text[LAW_TEXT];
    struct law_point a = {1, 2, 2 * exp2(-.4), 2 * exp2(.3)}, b = {4, 8, 8 * exp2(-.4), 8 * exp2(.3)};
    struct exponent e = exponent_between(&a, &b);
    assert_true(fabs(e.value - 1) < 1e-12 && fabs(e.low - .65) < 1e-12 && fabs(e.high - 1.35) < 1e-12);
    exponent_text(text, &e, "N");
    assert_string_equal(text, "N^1.00 [0.65, 1.35]");
    a = exact(1, 2);
    b = exact(4, 64);
    e = exponent_between(&a, &b);
    exponent_text(text, &e, "L");
    assert_string_equal(text, "L^2.50");
}

TEST(test_texts)
{
    char text[LAW_TEXT];
    struct law law = {7, {7.41e-3, 110e-6, 88.5e-9}, 0};
    law_text(text, &law, "N");
    assert_string_equal(text, "7.41 ms + 110 µs N + 88.5 ns N^2");
    law_terms_text(text, 15, "L");
    assert_string_equal(text, "1 + L + L^2 + L^3");
    law_terms_text(text, 4, "N");
    assert_string_equal(text, "N^2");
}
