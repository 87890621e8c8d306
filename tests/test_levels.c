/* Levels of memory in synthetic curves of bandwidth, and the least time that they allow. */
#include "bench/machine/calibration.h"
#include "tests/test.h"

#include <math.h>

enum { MIB = 1 << 20, MOST = 16, L2 = 2 * MIB };

static const int64_t memory = INT64_C(1) << 34;

static const double three[] = {400, 400, 390, 300, 205, 200, 195, 110, 65, 60};

struct curve {
    struct bandwidth sweep[MOST], level[MEMORY_LEVELS];
    int n;
};

/* Working sets from half a MiB, each twice the one before, updated at these rates and read at half of them.
 */
static struct curve curve_of(const double *rates, int n)
{
    struct curve c = {.n = n};
    for (int i = 0; i < n; i++)
        c.sweep[i] = (struct bandwidth){0, INT64_C(1) << (19 + i), rates[i] / 2, rates[i] / 2, rates[i], 1};
    levels_find(c.level, c.sweep, c.n, L2, memory);
    return c;
}

static void assert_rate(const struct curve *c, enum memory_level level, double rate)
{
    double found = c->level[level].capacity ? bandwidth_highest(&c->level[level]) : 0;
    if (!(fabs(found - rate) <= 1e-9 * rate))
        fail_msg("%s: %g GB/s instead of %g", memory_level_name(level), found, rate);
}

static void assert_capacity(const struct curve *c, enum memory_level level, double low, double high)
{
    double mib = (double)c->level[level].capacity / MIB;
    if (!(low <= mib && mib <= high))
        fail_msg("%s: %g MiB, not within %g and %g", memory_level_name(level), mib, low, high);
}

TEST(test_three_levels)
{
    struct curve c = curve_of(three, 10);
    assert_rate(&c, MEMORY_L2, 400);
    assert_rate(&c, MEMORY_LLC, 205);
    assert_rate(&c, MEMORY_DRAM, 60);
    assert_capacity(&c, MEMORY_L2, 1.9, 2.7);
    assert_capacity(&c, MEMORY_LLC, 31, 42);
    assert_int_equal(c.level[MEMORY_DRAM].capacity, memory);
}

/* A virtual machine: the system claims a cache of 480 MiB, but nothing beyond 4 MiB is faster than DRAM. */
TEST(test_claimed_cache_is_none)
{
    static const double rates[] = {300, 300, 290, 120, 62, 61, 60, 60, 59, 61, 62, 60, 60};
    struct curve c = curve_of(rates, 13);
    assert_rate(&c, MEMORY_L2, 300);
    assert_rate(&c, MEMORY_LLC, 0);
    assert_rate(&c, MEMORY_DRAM, 60);
    assert_capacity(&c, MEMORY_L2, 2, 4);
}

/* A second level that is no faster than the last is none, and the remaining cache is the last level. */
TEST(test_levels_of_the_same_rate_are_one)
{
    static const double rates[] = {200, 198, 195, 190, 188, 185, 120, 64, 60};
    struct curve c = curve_of(rates, 9);
    assert_rate(&c, MEMORY_L2, 0);
    assert_rate(&c, MEMORY_LLC, 200);
    assert_capacity(&c, MEMORY_LLC, 16, 32);
}

/* No cache is clearly faster: noise of 5 % makes no level, nor do rates that fall by less than the margin. */
TEST(test_no_cache)
{
    static const double noisy[] = {60, 63, 58, 61, 60}, falling[] = {68, 66, 64, 62, 60};
    for (int i = 0; i < 2; i++) {
        struct curve c = curve_of(i == 0 ? noisy : falling, 5);
        assert_rate(&c, MEMORY_L2, 0);
        assert_rate(&c, MEMORY_LLC, 0);
        assert_rate(&c, MEMORY_DRAM, 60);
    }
}

/* A disturbance at any one working set but the largest changes no level by more than 10 %. */
TEST(test_disturbance)
{
    struct curve whole = curve_of(three, 10);
    for (int i = 0; i < 9; i++) {
        double rates[10];
        for (int k = 0; k < 10; k++)
            rates[k] = i == k ? three[k] / 3 : three[k];
        struct curve c = curve_of(rates, 10);
        for (enum memory_level l = 0; l < MEMORY_LEVELS; l++)
            assert_true(fabs(log(bandwidth_highest(&c.level[l]) / bandwidth_highest(&whole.level[l]))) <
                        log(1.1));
    }
}

/* The least time of reading and writing so many bytes, in units of 1e-3 s, of a working set in MiB. */
static double least(const struct curve *c, double read, double written, double mib, enum memory_level *limit)
{
    struct traffic t = {1e6 * read, 1e6 * written, 0, mib * MIB};
    return 1e3 * levels_seconds(c->level, &t, limit);
}

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

TEST(test_least_time)
{
    struct curve c = curve_of(three, 10);
    enum memory_level limit;
    assert_close(least(&c, 400, 400, 1, &limit), 2); /* both channels at once */
    assert_int_equal(limit, MEMORY_L2);
    assert_close(least(&c, 400, 0, 1, &limit), 2); /* one of them */
    assert_close(least(&c, 0, 400, 1, &limit), 2);
    assert_close(least(&c, 800, 0, 1, &limit), 4);
    /* Far beyond the caches everything comes from DRAM. */
    assert_close(least(&c, 60, 0, 1e12, &limit), 2);
    assert_int_equal(limit, MEMORY_DRAM);
    assert_close(least(&c, 30, 30, 1e12, &limit), 1);
    /* Of twice what the caches hold, half. */
    double held = (double)c.level[MEMORY_LLC].capacity / MIB;
    assert_close(least(&c, 60, 0, 2 * held, &limit), 1);
    assert_int_equal(limit, MEMORY_DRAM);
    /* A little beyond them, the faster level still limits. */
    least(&c, 60, 0, 1.01 * held, &limit);
    assert_int_equal(limit, MEMORY_LLC);
}

/* No working set was measured to be faster than its own ceiling, and none is faster than a smaller one. */
TEST(test_ceiling_is_above_what_was_measured)
{
    struct curve c = curve_of(three, 10);
    enum memory_level limit;
    double before = 0;
    for (int i = 0; i < c.n; i++) {
        double mib = (double)c.sweep[i].working_set / MIB, rate = 120 / least(&c, 60, 60, mib, &limit);
        assert_true(rate >= (1 - 1e-9) * three[i]);
        assert_true(i == 0 || rate <= (1 + 1e-9) * before);
        before = rate;
    }
}

/* 3 MiB are halfway between 2 and 4, beyond and below the sweep its ends hold, and a dip is a disturbance;
 * what is updated moves at twice the rate of what is not. */
TEST(test_rates_of_a_working_set)
{
    static const double rates[] = {400, 400, 100, 200, 200, 100, 50};
    struct curve c = curve_of(rates, 7); /* 0.5 to 32 MiB */
    struct traffic t = {100e6, 100e6, 100e6, 2 * MIB};
    assert_close(sweep_seconds(c.sweep, 7, &t), 200e6 / 200e9);
    t.working_set = 1.5 * MIB;
    assert_close(sweep_seconds(c.sweep, 7, &t), (200e6 / 400e9 + 200e6 / 200e9) / 2);
    t.working_set = 12 * MIB;
    assert_close(sweep_seconds(c.sweep, 7, &t), (200e6 / 200e9 + 200e6 / 100e9) / 2);
    t.updated = 0;
    t.working_set = 1;
    assert_close(sweep_seconds(c.sweep, 7, &t), 200e6 / 200e9);
    t.working_set = 1e12;
    assert_close(sweep_seconds(c.sweep, 7, &t), 200e6 / 25e9);
    assert_close(sweep_seconds(c.sweep, 7, &(struct traffic){.read = 100e6}), 100e6 / 200e9);
    assert_close(sweep_seconds(c.sweep, 1, &(struct traffic){.read = 100e6, .working_set = 1e9}),
                 100e6 / 200e9);
}
