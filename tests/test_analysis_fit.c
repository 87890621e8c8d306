/* The power-law fit: exact laws, its interval for a case computed by hand, and too few points. */
#include "analysis/fits/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void test_exact_law(void **state)
{
    (void)state;
    const double x[] = {100, 500, 1000, 2000};
    double y[4];
    for (int i = 0; i < 4; i++)
        y[i] = 3e-5 * pow(x[i], 1.7);
    struct power_law fit = fit_power_law(x, y, 4);
    assert_true(fit.has_exponent && fit.has_interval);
    assert_int_equal(fit.points, 4);
    assert_near(fit.exponent, 1.7, 1e-12);
    assert_near(fit.factor / 3e-5, 1, 1e-10);
    assert_near(fit.half_width, 0, 1e-10);
}

/*
 * log2 x = 0, 1, 2 and log2 y = 0, 1, 4: slope 2, residuals 1/3, -2/3, 1/3, whose squares sum to 2/3 with 1
 * degree of freedom, and Sxx = 2: standard error sqrt(1/3). A slope has no unit, so the base of the logarithm
 * does not matter.
 */
static void test_interval_by_hand(void **state)
{
    (void)state;
    const double x[] = {1, 2, 4}, y[] = {1, 2, 16};
    struct power_law fit = fit_power_law(x, y, 3);
    assert_near(fit.exponent, 2, 1e-12);
    assert_near(fit.standard_error, sqrt(1. / 3), 1e-12);
    assert_near(fit.half_width, 12.7062 * sqrt(1. / 3), 1e-4);
}

static void test_too_few_points(void **state)
{
    (void)state;
    const double x[] = {10, 10, 20, 20}, y[] = {1, 1.1, 2, 2.2};
    struct power_law one = fit_power_law(x, y, 2), two = fit_power_law(x, y, 4),
                     none = fit_power_law(x, y, 0);
    assert_false(none.has_exponent || one.has_exponent || one.has_interval);
    assert_true(isnan(one.exponent));
    assert_true(two.has_exponent && !two.has_interval);
    assert_near(two.exponent, 1, 1e-12);
    assert_true(isnan(two.half_width));
}

static void test_points_without_logarithm_are_left_out(void **state)
{
    (void)state;
    const double x[] = {1, 2, 0, 4, 8, -1}, y[] = {1, 4, 7, 16, NAN, 3};
    struct power_law fit = fit_power_law(x, y, 6);
    assert_int_equal(fit.points, 3);
    assert_near(fit.exponent, 2, 1e-12);
}

static void test_student(void **state)
{
    (void)state;
    const double known[][2] = {{1, 12.7062}, {2, 4.3027},  {10, 2.2281}, {30, 2.0423},
                               {31, 2.0395}, {40, 2.0211}, {60, 2.0003}, {120, 1.9799}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_near(student_t95((size_t)known[i][0]), known[i][1], 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_law),      cmocka_unit_test(test_interval_by_hand),
        cmocka_unit_test(test_too_few_points), cmocka_unit_test(test_points_without_logarithm_are_left_out),
        cmocka_unit_test(test_student),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
