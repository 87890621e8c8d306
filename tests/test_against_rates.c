/*
 * Error rates of the verdict of --against over synthetic ratios: for normal noise, the figures printed in
 * docs/validation/compare.md.
 */
#include <math.h>

#include "bench/sweep/against.h"
#include "tests/synthetic.h"
#include "tests/test.h"

/* Two sets of ratios around `middle`. */
static void make_ratios(double *ratios, double middle, double noise, uint64_t seed)
{
    make_series(ratios, AGAINST_ROUNDS_MAX, noise, 0, seed);
    for (int i = 0; i < AGAINST_ROUNDS_MAX; i++)
        ratios[i] *= middle;
}

TEST(test_quiet)
{
    int same = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        double ratios[AGAINST_ROUNDS_MAX];
        make_ratios(ratios, 1, 0.03, seed);
        enum verdict_kind kind = against_judge(ratios, AGAINST_ROUNDS).kind;
        assert_true(kind == VERDICT_SAME || kind == VERDICT_INCONCLUSIVE);
        same += kind == VERDICT_SAME;
        make_ratios(ratios, 1.1, 0.03, seed);
        assert_int_equal(against_judge(ratios, AGAINST_ROUNDS).kind, VERDICT_SLOWER);
        make_ratios(ratios, 1 / 1.1, 0.03, seed);
        assert_int_equal(against_judge(ratios, AGAINST_ROUNDS).kind, VERDICT_FASTER);
    }
    assert_true(same > 90);
}

/* Noise leaves it open; but of ratios that are low enough, it is known that they are not slower. */
TEST(test_noisy)
{
    double ratios[AGAINST_ROUNDS_MAX];
    make_ratios(ratios, 1, 0.2, 1);
    struct verdict v = against_judge(ratios, AGAINST_ROUNDS);
    assert_true(v.kind == VERDICT_INCONCLUSIVE && v.high > 1 + against_limits.margin && !v.uncompared);
    assert_false(v.not_slower);
    make_ratios(ratios, 0.93, 0.2, 1);
    v = against_judge(ratios, AGAINST_ROUNDS);
    assert_true(v.kind == VERDICT_INCONCLUSIVE && v.low < 1 - against_limits.margin &&
                v.high < 1 + against_limits.margin);
    assert_true(v.not_slower);
}

TEST(test_margin)
{
    double ratios[AGAINST_ROUNDS_MAX];
    make_ratios(ratios, 1.02, 0.001, 1); /* significant, but within it */
    struct verdict v = against_judge(ratios, AGAINST_ROUNDS);
    assert_true(v.low > 1 && v.kind == VERDICT_SAME);
}

/* The first rounds were selected by their result, so the reported ratio is that of the second rounds. */
TEST(test_second_rounds_count)
{
    double ratios[AGAINST_ROUNDS_MAX];
    make_ratios(ratios, 1.1, 0.02, 1);
    for (int i = AGAINST_ROUNDS; i < AGAINST_ROUNDS_MAX; i++)
        ratios[i] *= 1.1;
    struct verdict v = against_judge(ratios, AGAINST_ROUNDS_MAX);
    assert_true(v.kind == VERDICT_SLOWER && v.ratio > 1.15);
}

/* In percent; docs/validation/compare.md has them for 100000 draws. */
struct rates {
    double once, confirmed, found; /* falsely slower by the first rounds, and by both; detected at 10 % */
};

static struct rates simulate(double noise, int draws)
{
    struct rates r = {0, 0, 0};
    for (int i = 0; i < draws; i++) {
        double ratios[AGAINST_ROUNDS_MAX];
        make_ratios(ratios, 1, noise, 2 * (uint64_t)i);
        bool first = against_judge(ratios, AGAINST_ROUNDS).kind == VERDICT_SLOWER;
        struct verdict v = against_judge(ratios, AGAINST_ROUNDS_MAX);
        bool not_again = v.kind == VERDICT_INCONCLUSIVE && strstr(v.reason, "not again");
        assert_true(first == (v.kind == VERDICT_SLOWER || not_again));
        r.once += first;
        r.confirmed += v.kind == VERDICT_SLOWER;
        make_ratios(ratios, 1.1, noise, 2 * (uint64_t)i + 1);
        r.found += against_judge(ratios, AGAINST_ROUNDS_MAX).kind == VERDICT_SLOWER;
    }
    double percent = 100.0 / draws;
    return (struct rates){r.once * percent, r.confirmed * percent, r.found * percent};
}

/* Within four standard deviations of a proportion over this many draws, plus one draw. */
static void assert_rate(double found, double expected, int draws)
{
    double deviation = sqrt(expected * (100 - expected) / draws);
    if (fabs(found - expected) > 4 * deviation + 100.0 / draws)
        fail_msg("%g %% instead of %g %%", found, expected);
}

TEST(test_rates_of_metrics)
{
    static const struct {
        double noise;
        struct rates rates;
    } expected[] = {
        {0.01, {0, 0, 100}}, {0.02, {0, 0, 100}},      {0.03, {0, 0, 100}},
        {0.05, {0, 0, 100}}, {0.10, {0.007, 0, 71.3}}, {0.20, {0.196, 0, 8.9}},
    };
    int draws = getenv("GTMARK_SOAK") ? 100000 : getenv("GTMARK_SMALL") ? 500 : 5000;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct rates r = simulate(expected[i].noise, draws);
        assert_rate(r.once, expected[i].rates.once, draws);
        assert_rate(r.confirmed, expected[i].rates.confirmed, draws);
        assert_rate(r.found, expected[i].rates.found, draws);
    }
}
