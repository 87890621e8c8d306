/*
 * The functions of kernels/cpu/vector_math.h compared with libm in double, on dense grids, at random points
 * and at the ends of the range. The asserted bounds are those stated in the header.
 */
#include "kernels/cpu/activation.h"
#include "kernels/rng.h"
#include "tests/test.h"

#include <float.h>
#include <math.h>

enum { POINTS = 400000 };

/* Point i: the first half are a grid on [low, high], the others are random. */
static float point(int i, double low, double high)
{
    if (i < POINTS / 2)
        return (float)(low + (high - low) * i / (POINTS / 2 - 1));
    double unit = (rng_int24(1, (uint64_t)i) + 0x1p23) * 0x1p-24;
    return (float)(low + (high - low) * unit);
}

/* The distance between adjacent floats at |y|. */
static double ulp(double y)
{
    return ldexp(1, (int)floor(log2(fabs(y))) - 23);
}

static double exact_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* A NaN is the worst, whatever comes after it. */
static bool is_worse(double error, double worst)
{
    return !isnan(worst) && !(error <= worst);
}

static void expect_below(const char *what, double worst, float at, double bound)
{
    if (!(worst <= bound))
        fail_msg("%s is off by %g at %.9g, allowed %g", what, worst, (double)at, bound);
}

TEST(test_exp)
{
    double worst = 0;
    float at = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = point(i, -86.98, 88.72);
        double y = exp((double)x), error = fabs(vm_exp(x) - y) / ulp(y);
        if (is_worse(error, worst))
            worst = error, at = x;
    }
    expect_below("exp (ulp)", worst, at, 1.6);
    assert_true(vm_exp(0) == 1);
    assert_true(vm_exp(-1e4f) == 0);
    assert_true(vm_exp(-INFINITY) == 0);
    assert_true(vm_exp(-FLT_MAX) == 0);
    assert_true(vm_exp(-87.1f) == 0);
    assert_true(vm_exp(88.73f) == INFINITY);
    assert_true(vm_exp(1e30f) == INFINITY);
    assert_true(vm_exp(INFINITY) == INFINITY);
    assert_true(isnan(vm_exp(NAN)) && isnan(vm_exp(-NAN)));
    assert_true(isnan(vm_half_exp(NAN)) && isnan(vm_half_exp(-NAN)));
}

static float exp2_of(float x)
{
    return vm_exp2(x - (vm_vec){0})[VM_LANES - 1];
}

TEST(test_exp2)
{
    double worst = 0;
    float at = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = point(i, -125, 127.4);
        double y = exp2((double)x), error = fabs(exp2_of(x) - y) / ulp(y);
        if (is_worse(error, worst))
            worst = error, at = x;
    }
    expect_below("exp2 (ulp)", worst, at, 2.2);
    for (float x = -125; x < 127.5f; x += 0.37f)
        assert_true(vm_exp2_normal(x - (vm_vec){0})[0] == exp2_of(x));
    assert_true(exp2_of(0) == 1);
    assert_true(exp2_of(-125) == 0x1p-125f);
    assert_true(exp2_of(-125.1f) == 0);
    assert_true(exp2_of(-FLT_MAX) == 0);
    assert_true(exp2_of(-INFINITY) == 0);
    assert_true(isnan(exp2_of(NAN)));
}

TEST(test_half_exp2)
{
    double worst = 0;
    float at = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = point(i, -125, 0);
        double y = exp2((double)x) / 2, error = fabs(vm_half_exp2(x) - y) / ulp(y);
        if (is_worse(error, worst))
            worst = error, at = x;
    }
    expect_below("half of exp2 (ulp)", worst, at, 1.2);
    assert_true(vm_half_exp2(0) == 0.5f);
    assert_true(vm_half_exp2(-125) == 0x1p-126f);
    assert_true(vm_half_exp2(-126) == 0);
}

/* Lengths with and without a remainder; sums of small integers are exact. */
TEST(test_dot)
{
    float x[3 * VM_LANES], y[3 * VM_LANES];
    for (int i = 0; i < 3 * VM_LANES; i++) {
        x[i] = (float)(i + 1);
        y[i] = (float)(i % 5 - 2);
    }
    float sum = 0;
    for (int n = 0; n < 3 * VM_LANES; n++) {
        assert_true(vm_dot(n, x, y) == sum);
        sum += x[n] * y[n];
    }
}

TEST(test_normal_cdf)
{
    double worst = 0, relative = 0;
    float at = 0, relative_at = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = point(i, -12, 12);
        double error = fabs(vm_normal_cdf(x) - exact_cdf(x));
        if (is_worse(error, worst))
            worst = error, at = x;
        if (x >= -10 && !(error / exact_cdf(x) <= relative))
            relative = error / exact_cdf(x), relative_at = x;
    }
    expect_below("normal cdf", worst, at, 1.2e-7);
    expect_below("normal cdf, relative,", relative, relative_at, 1e-3);
    assert_true(vm_normal_cdf(0) == 0.5f);
    assert_true(vm_normal_cdf(INFINITY) == 1);
    assert_true(vm_normal_cdf(-INFINITY) < 1e-22f);
}

TEST(test_normal_density)
{
    double worst = 0;
    float at = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = point(i, -15, 15);
        double error = fabs(vm_normal_density(x) - 0.39894228040143267794 * exp(-0.5 * (double)x * x));
        if (is_worse(error, worst))
            worst = error, at = x;
    }
    expect_below("normal density", worst, at, 1.2e-7);
    assert_true(vm_normal_density(1e4f) == 0);
}

TEST(test_log)
{
    double far = 0, near = 0;
    float far_at = 0, near_at = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = exp2f(point(i, -126, 127.99f)), z = point(i, 0.5, 2);
        double y = log((double)x), error = fabs(vm_log(x) - y) / ulp(y);
        if ((x < 0.5f || x > 2) && is_worse(error, far))
            far = error, far_at = x;
        error = z == 1 ? fabs(vm_log(z)) : fabs(vm_log(z) - log((double)z)) / fabs(z - 1.0);
        if (is_worse(error, near))
            near = error, near_at = z;
    }
    expect_below("log (ulp)", far, far_at, 1.6);
    expect_below("log near 1", near, near_at, 1e-7);
    assert_true(vm_log(1) == 0);
    assert_true(isnan(vm_log(NAN)) && isnan(vm_log(INFINITY)));
}

TEST(test_log1p_exp)
{
    double worst = 0;
    float at = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = point(i, i % 2 ? -102.9 : -5, 0);
        double y = log1p(exp((double)x)), unit = fmax(ulp(y), 0x1p-149),
               error = fabs(vm_log1p_exp(x) - y) / unit;
        if (is_worse(error, worst))
            worst = error, at = x;
    }
    expect_below("log(1 + exp) (ulp)", worst, at, 3.2);
    assert_true(vm_log1p_exp(-110) == 0 && vm_log1p_exp(-INFINITY) == 0);
    assert_true(isnan(vm_log1p_exp(NAN)) && isnan(vm_log1p_exp(-NAN)));
}

TEST(test_logistic)
{
    double worst = 0;
    float at = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = point(i, -100, 100);
        double error = fabs(vm_logistic(x) - 1 / (1 + exp(-(double)x)));
        if (is_worse(error, worst))
            worst = error, at = x;
    }
    expect_below("logistic", worst, at, 2e-7);
    assert_true(vm_logistic(-1e4f) == 0);
    assert_true(vm_logistic(1e4f) == 1);
}

static double exact_gelu(double x)
{
    return x * exact_cdf(x);
}

static double exact_gelu_slope(double x)
{
    return exact_cdf(x) + x * 0.39894228040143267794 * exp(-0.5 * x * x);
}

static double exact_gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static double exact_gelu_tanh_slope(double x)
{
    double t = tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.79788456080286535588 * (1 + 3 * 0.044715 * x * x);
}

/* The relative error of act (or its derivative) in the 2-norm over [-6, 6]. */
static double norm_error(int act, int derivative, double exact(double x))
{
    double difference = 0, size = 0;
    for (int i = 0; i < POINTS; i++) {
        float x = point(i, -6, 6);
        double y = exact(x), d = (derivative ? activation_backward(act, x, 1) : activation(act, x)) - y;
        difference += d * d;
        size += y * y;
    }
    return sqrt(difference / size);
}

TEST(test_activations)
{
    expect_below("gelu, in norm,", norm_error(ACT_GELU, 0, exact_gelu), 0, 1e-7);
    expect_below("gelu', in norm,", norm_error(ACT_GELU, 1, exact_gelu_slope), 0, 1e-7);
    expect_below("gelu_tanh, in norm,", norm_error(ACT_GELU_TANH, 0, exact_gelu_tanh), 0, 1e-7);
    expect_below("gelu_tanh', in norm,", norm_error(ACT_GELU_TANH, 1, exact_gelu_tanh_slope), 0, 1e-7);
    for (int act = ACT_NONE; act < ACT_KINDS; act++) {
        assert_true(activation(act, 50) == 50);
        assert_true(act == ACT_NONE || fabsf(activation(act, -50)) < 1e-20f);
    }
    assert_true(activation(ACT_RELU, 0) == 0 && activation_backward(ACT_RELU, 0, 1) == 0);
}
