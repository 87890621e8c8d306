/*
 * Verdicts on planted differences, on ties, and where none is possible; and their error rates over seeded
 * noise, independent and autoregressive.
 */
#include "analysis/record/row_range.h"
#include "analysis/statistics/robust.h"

#include "tests/sanitized.h"
#include "tests/synthetic.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <math.h>

enum { MOST = 100, TRIALS = 500 };

/* Judges turns of one sample as a row has them. */
static struct verdict verdict_samples(const double *base, size_t n, const double *samples, size_t m,
                                      struct verdict_limits limits)
{
    struct row *a = good_row(100), *b = good_row(100);
    row_set_samples(a, "step.time", base, n);
    row_set_samples(b, "step.time", samples, m);
    row_derive(a);
    row_derive(b);
    struct verdict v = row_verdict(a, TIMED_STEP, b, TIMED_STEP, limits);
    row_free(a);
    row_free(b);
    return v;
}

/* Samples around `median` that differ by up to 0.9 %; their median is exact. */
static void steady(double *x, size_t n, double median)
{
    for (size_t i = 0; i < n; i++)
        x[i] = median * (1 + 0.002 * ((double)(i * 7 % n) - (double)(n - 1) / 2) * 10 / (double)n);
}

static struct verdict judge_steady(double ratio, size_t n, size_t m, struct verdict_limits limits)
{
    double base[MOST], samples[MOST];
    steady(base, n, 1);
    steady(samples, m, ratio);
    return verdict_samples(base, n, samples, m, limits);
}

TEST(test_planted_differences)
{
    struct verdict_limits limits = verdict_within;
    struct verdict slower = judge_steady(1.1, 10, 10, limits), faster = judge_steady(0.9, 10, 20, limits);
    assert_int_equal(slower.kind, VERDICT_SLOWER);
    assert_true(fabs(slower.ratio - 1.1) < 1e-12 && slower.low > 1.05 && slower.low < 1.1);
    assert_true(slower.high > 1.1 && slower.high < 1.15);
    assert_int_equal(faster.kind, VERDICT_FASTER);
    assert_true(fabs(faster.ratio - 0.9) < 1e-12 && faster.high < 1);
    assert_string_equal(slower.reason, "");
    assert_int_equal(judge_steady(1, 10, 10, limits).kind, VERDICT_SAME);
}

/* A difference can be significant and yet too small; or large, and yet within the caller's margin. */
TEST(test_limits)
{
    struct verdict_limits fine = {.margin = 0.001, .same = 0.01}, coarse = {.margin = 0.2, .same = 0.2};
    double base[MOST], samples[MOST];
    make_series(base, MOST, 1e-4, 0, 1);
    make_series(samples, MOST, 1e-4, 0, 2);
    for (size_t i = 0; i < MOST; i++)
        samples[i] *= 1.005;
    assert_int_equal(verdict_samples(base, MOST, samples, MOST, verdict_within).kind, VERDICT_SAME);
    assert_int_equal(verdict_samples(base, MOST, samples, MOST, fine).kind, VERDICT_SLOWER);
    assert_int_equal(judge_steady(1.1, 10, 10, coarse).kind, VERDICT_SAME);
    assert_int_equal(judge_steady(1.3, 10, 10, coarse).kind, VERDICT_SLOWER);
}

static void assert_inconclusive(struct verdict v, const char *reason)
{
    assert_int_equal(v.kind, VERDICT_INCONCLUSIVE);
    if (!strstr(v.reason, reason))
        fail_msg("the reason is '%s', not '%s'", v.reason, reason);
}

TEST(test_what_cannot_be_judged)
{
    struct verdict_limits limits = verdict_within;
    struct verdict one = judge_steady(2, 1, 30, limits);
    assert_inconclusive(
        one, "1 and 30 repetitions are too few to tell a difference from chance: 6 and 6 are enough");
    assert_true(one.ratio == 2 && one.low > 1.9 && one.high < 2.1 && !one.uncompared);
    assert_int_equal(judge_steady(2, 7, 7, limits).kind, VERDICT_SLOWER);
    const double zeros[7] = {0}, ones[] = {1, 1, 1, 1, 1, 1, 1};
    assert_inconclusive(verdict_samples(ones, 7, zeros, 7, limits), "no time above 0");
    double base[10], samples[10];
    make_series(base, 10, 0.2, 0, 1);
    make_series(samples, 10, 0.2, 0, 2);
    assert_inconclusive(verdict_samples(base, 10, samples, 10, limits), "");
}

/* Swapping the baseline does not change the result. */
TEST(test_symmetry)
{
    static const enum verdict_kind mirror[] = {VERDICT_INCONCLUSIVE, VERDICT_SAME, VERDICT_SLOWER,
                                               VERDICT_FASTER};
    for (uint64_t seed = 1; seed < 100; seed++) {
        double a[20], b[30];
        make_series(a, 20, 0.02, 0.3, 2 * seed);
        make_series(b, 30, 0.02, 0.3, 2 * seed + 1);
        for (size_t i = 0; i < 30; i++)
            b[i] *= 0.9 + 0.002 * (double)seed;
        struct verdict v = verdict_samples(a, 20, b, 30, verdict_within);
        struct verdict w = verdict_samples(b, 30, a, 20, verdict_within);
        assert_int_equal(w.kind, mirror[v.kind]);
        assert_true(fabs(v.ratio * w.ratio - 1) < 1e-12 && fabs(v.low * w.high - 1) < 1e-12);
    }
}

TEST(test_rows)
{
    double slow[10];
    struct row *base = good_row(100), *same = good_row(100), *slower = good_row(100);
    struct row *gone = failed_row(100, "oom", "needs 17 GiB");
    size_t n = base->step.time.samples.count;
    assert_int_equal(n, 10);
    for (size_t i = 0; i < n; i++)
        slow[i] = 1.5 * base->step.time.samples.reals[i];
    row_set_samples(slower, "step.time", slow, n);
    struct verdict_limits limits = verdict_within;
    assert_int_equal(row_verdict(base, TIMED_STEP, slower, TIMED_STEP, limits).kind, VERDICT_SLOWER);
    assert_true(row_verdict(base, TIMED_FORWARD, same, TIMED_FORWARD, limits).ratio == 1);
    assert_inconclusive(row_verdict(base, TIMED_STEP, gone, TIMED_STEP, limits), "oom: needs 17 GiB");
    assert_inconclusive(row_verdict(gone, TIMED_STEP, base, TIMED_STEP, limits),
                        "the baseline is oom: needs 17 GiB");
    row_omit(same, "forward", "not asked for");
    assert_inconclusive(row_verdict(base, TIMED_FORWARD, same, TIMED_FORWARD, limits), "not asked for");
    assert_inconclusive(row_verdict(same, TIMED_FORWARD, base, TIMED_FORWARD, limits),
                        "of the baseline: not asked for");
    row_free(base);
    row_free(same);
    row_free(slower);
    row_free(gone);
}

/* The number of samples that the harness would take: it stops when the median is known to 2 %. */
static size_t samples_until(const double *x, size_t most)
{
    for (size_t n = 10; n < most; n++) {
        struct interval i = median_interval_ranks(x, n);
        if (i.high - i.low <= 0.02 * (i.high + i.low))
            return n;
    }
    return most;
}

struct rates {
    double verdicts[4], holds; /* by enum verdict_kind; share of intervals that contain the true ratio */
};

/*
 * Shares over TRIALS pairs of series of n and m samples, the second's times multiplied by `ratio`. 0 samples:
 * as many as the harness takes, up to 60.
 */
static struct rates rates_of(size_t n, size_t m, double noise, double r, double ratio)
{
    struct rates rates = {0};
    for (uint64_t trial = 1; trial <= TRIALS; trial++) {
        double base[MOST], samples[MOST];
        make_series(base, n ? n : 60, noise, r, 2 * trial);
        make_series(samples, m ? m : 60, noise, r, 2 * trial + 1);
        for (size_t i = 0; i < (m ? m : 60); i++)
            samples[i] *= ratio;
        struct verdict v = verdict_samples(base, n ? n : samples_until(base, 60), samples,
                                           m ? m : samples_until(samples, 60), verdict_within);
        rates.verdicts[v.kind] += 1. / TRIALS;
        rates.holds += (v.low <= ratio && ratio <= v.high) / (double)TRIALS;
    }
    return rates;
}

static const size_t sizes[][2] = {{10, 10}, {10, 30}, {20, 20}, {30, 30}, {0, 0}};
enum { SIZES = sizeof sizes / sizeof *sizes };
/* Sanitizers need every line once, and find no more in other numbers. */
enum { CORRELATIONS_TRIED = SANITIZED ? 1 : 3, SIZES_TRIED = SANITIZED ? 1 : SIZES };

/* docs/validation/compare.md has the share over 2000 pairs. The correlation of ten samples cannot be
 * estimated well: beyond 0.6 there are too many false verdicts. */
TEST(test_false_verdicts_are_rare)
{
    static const double correlations[] = {0, 0.3, 0.6};
    for (size_t k = 0; k < CORRELATIONS_TRIED; k++) {
        double wrong = 0, holds = 1;
        for (size_t i = 0; i < SIZES; i++) {
            struct rates r = rates_of(sizes[i][0], sizes[i][1], 0.05, correlations[k], 1);
            wrong += (r.verdicts[VERDICT_FASTER] + r.verdicts[VERDICT_SLOWER]) / SIZES;
            holds = fmin(holds, r.holds);
        }
        print_message("# r = %.1f: %.4f false verdicts, intervals hold at least %.3f\n", correlations[k],
                      wrong, holds);
        assert_true(wrong < 0.02);
        assert_true(holds > 0.95);
    }
}

TEST(test_ten_percent_are_found)
{
    for (size_t i = 0; i < SIZES_TRIED; i++) {
        struct rates slower = rates_of(sizes[i][0], sizes[i][1], 0.02, 0, 1.1);
        struct rates faster = rates_of(sizes[i][0], sizes[i][1], 0.02, 0.6, 0.9);
        print_message("# %zu and %zu samples: %.3f, with r = 0.6 %.3f found\n", sizes[i][0], sizes[i][1],
                      slower.verdicts[VERDICT_SLOWER], faster.verdicts[VERDICT_FASTER]);
        assert_true(slower.verdicts[VERDICT_SLOWER] > 0.9 && slower.verdicts[VERDICT_FASTER] == 0);
        assert_true(faster.verdicts[VERDICT_FASTER] > 0.94 && faster.verdicts[VERDICT_SLOWER] == 0);
    }
}

/* A row of some turns of one sample, each between two pings, and the other parts of `machine` with some
 * scatter. */
static struct row *beside(const double *samples, const double *pings, struct probe machine, double scatter,
                          size_t n)
{
    struct turn turns[MOST];
    struct row *row = good_row(500);
    for (size_t i = 0; i < n; i++) {
        double more = 1 + scatter * (double)i / (double)n;
        struct probe probe = {
            {pings[i], more * machine.seconds[PROBE_FMA], more * machine.seconds[PROBE_SHARING]}};
        turns[i] = (struct turn){1, probe, probe};
    }
    struct turns t = {n, turns, samples};
    struct states states = states_find(turns, n);
    struct reported r = reported_choose(&t, &states);
    row_set_times(row, "step.time", &t, &r);
    reported_free(&r);
    return row;
}

static struct row *in_state(const double *samples, const double *pings, double multiply_adds, size_t n)
{
    return beside(samples, pings, (struct probe){{NAN, multiply_adds, NAN}}, 0, n);
}

static struct verdict judge_probes(double ratio, double base_ping, double ping, double base_fma, double fma)
{
    double base[10], samples[10], pings[2][10];
    steady(base, 10, 1);
    steady(samples, 10, ratio);
    steady(pings[0], 10, base_ping);
    steady(pings[1], 10, ping);
    struct row *a = in_state(base, pings[0], base_fma, 10), *b = in_state(samples, pings[1], fma, 10);
    struct verdict v = row_verdict(a, TIMED_STEP, b, TIMED_STEP, verdict_within);
    row_free(a);
    row_free(b);
    return v;
}

static struct verdict judge_pings(double ratio, double base_ping, double ping)
{
    return judge_probes(ratio, base_ping, ping, NAN, NAN);
}

/* A difference between two states of the machine is no difference of the programs; no difference is one. */
TEST(test_states)
{
    assert_int_equal(judge_pings(1.5, 1.3e-7, 1.4e-7).kind, VERDICT_SLOWER);
    assert_inconclusive(judge_pings(1.5, 1.3e-7, 5.7e-7), "different states of the machine");
    assert_int_equal(judge_pings(5, 1.3e-7, 5.7e-7).kind, VERDICT_SLOWER); /* more than any state explains */
    assert_inconclusive(judge_pings(0.6, 5.7e-7, 1.3e-7), "different states of the machine");
    assert_int_equal(judge_pings(1, 1.3e-7, 5.7e-7).kind, VERDICT_SAME);
    /* Cores that were shared with another guest through one of the two runs. */
    assert_int_equal(judge_probes(1.1, 1.3e-7, 1.3e-7, 1.361e-5, 1.362e-5).kind, VERDICT_SLOWER);
    assert_inconclusive(judge_probes(1.1, 1.3e-7, 1.3e-7, 1.361e-5, 1.38e-5),
                        "different states of the machine");
    assert_int_equal(judge_probes(1.3, 1.3e-7, 1.3e-7, 1.361e-5, 1.38e-5).kind, VERDICT_SLOWER);
    assert_int_equal(judge_probes(1.1, 1.3e-7, 1.3e-7, NAN, 1.38e-5).kind, VERDICT_SLOWER); /* not measured */
}

/* A time of 1 beside one of `ratio`, beside multiply-adds and exchanges that take so many times as long. */
static struct verdict judge_drifts(double ratio, double clock, double exchange, struct verdict_limits limits)
{
    double base[10], samples[10], pings[10];
    steady(base, 10, 1);
    steady(samples, 10, ratio);
    steady(pings, 10, 1.3e-7);
    struct row *a = beside(base, pings, (struct probe){{0, 6.2e-6, 2e-9}}, 0.1, 10),
               *b = beside(samples, pings, (struct probe){{0, clock * 6.2e-6, exchange * 2e-9}}, 0.1, 10);
    struct verdict v = row_verdict(a, TIMED_STEP, b, TIMED_STEP, limits);
    row_free(a);
    row_free(b);
    return v;
}

static struct verdict judge_clocks(double ratio, double clock, struct verdict_limits limits)
{
    return judge_drifts(ratio, clock, 1, limits);
}

/* A difference is one of the programs if it is one both as measured and at equal clock. */
TEST(test_clocks)
{
    struct verdict_limits limits = verdict_within, gate = {.margin = 0.05, .same = 0.05};
    assert_int_equal(judge_clocks(1.1, 1, limits).kind, VERDICT_SLOWER);
    assert_int_equal(judge_clocks(1.1, 1.04, limits).kind, VERDICT_SLOWER);
    assert_int_equal(judge_clocks(1.1, 0.96, limits).kind, VERDICT_SLOWER);
    assert_int_equal(judge_clocks(0.9, 0.96, limits).kind, VERDICT_FASTER);
    assert_int_equal(judge_clocks(0.9, 1.04, limits).kind, VERDICT_FASTER);
    assert_true(judge_clocks(1.1, 1.04, limits).ratio > 1.09); /* the ratio stays that of the times */

    assert_inconclusive(judge_clocks(1.05, 1.05, limits), "the clock was 4.8 % lower");
    assert_inconclusive(judge_clocks(0.95, 0.95, limits), "the clock was 5.3 % higher");
    assert_inconclusive(judge_clocks(1.05, 1.04, limits),
                        "the clock was 3.8 % lower"); /* neither explains it */
    assert_int_equal(judge_clocks(1.05, 1, limits).kind, VERDICT_SLOWER);
    assert_int_equal(judge_clocks(1, 1.04, limits).kind, VERDICT_SAME); /* bound by memory */

    limits.machines = true; /* the clock is the machine's */
    assert_int_equal(judge_clocks(1.05, 1.05, limits).kind, VERDICT_SLOWER);
    assert_int_equal(judge_clocks(0.95, 0.95, limits).kind, VERDICT_FASTER);

    /* A gate's margin is that of both; what was quicker at a higher clock is still not slower. */
    assert_int_equal(judge_clocks(1.1, 1, gate).kind, VERDICT_SLOWER);
    assert_inconclusive(judge_clocks(1.1, 1.04, gate), "the clock was");
    assert_false(judge_clocks(1.1, 1.04, gate).not_slower);
    assert_inconclusive(judge_clocks(0.9, 0.95, gate), "the clock was");
    assert_true(judge_clocks(0.9, 0.95, gate).not_slower);
}

/* Likewise if data takes longer from thread to thread. */
TEST(test_exchanges)
{
    struct verdict_limits limits = verdict_within;
    assert_int_equal(judge_drifts(1.1, 1, 1.04, limits).kind, VERDICT_SLOWER);
    assert_int_equal(judge_drifts(1.1, 1, 0.85, limits).kind, VERDICT_SLOWER);
    assert_int_equal(judge_drifts(1.1, 1.04, 1.04, limits).kind, VERDICT_SLOWER);
    assert_int_equal(judge_drifts(1, 1, 1.15, limits).kind, VERDICT_SAME);
    assert_inconclusive(judge_drifts(1.1, 1, 1.15, limits),
                        "the rate of sharing between threads 13.0 % lower");
    assert_inconclusive(judge_drifts(0.9, 1, 0.88, limits),
                        "the rate of sharing between threads 13.6 % higher");
    assert_inconclusive(judge_drifts(1.1, 1.1, 1, limits), "the clock was");
    assert_inconclusive(judge_drifts(1.1, 1, 1.4, limits), "different states of the machine");
    limits.machines = true;
    assert_int_equal(judge_drifts(1.1, 1, 1.15, limits).kind, VERDICT_SLOWER);
}

/* Clocks of one machine with as many threads compare, others are a difference of the machines. */
TEST(test_clock_ratio)
{
    double times[10], pings[10];
    steady(times, 10, 1);
    steady(pings, 10, 1.3e-7);
    struct row *a = beside(times, pings, (struct probe){{0, 6e-6, NAN}}, 0.1, 10),
               *b = beside(times, pings, (struct probe){{0, 6.3e-6, 2e-9}}, 0.1, 10),
               *without = beside(times, pings, (struct probe){{0, NAN, NAN}}, 0, 10);
    assert_true(fabs(row_state_ratio(a, TIMED_STEP, b, TIMED_STEP, PROBE_FMA) - 1.05) < 1e-9);
    assert_true(row_state_ratio(a, TIMED_STEP, without, TIMED_STEP, PROBE_FMA) == 1);
    assert_true(row_state_ratio(a, TIMED_STEP, b, TIMED_STEP, PROBE_SHARING) == 1);
    assert_true(isnan(row_state_ratio(without, TIMED_STEP, without, TIMED_STEP, PROBE_FMA)));
    row_set_count(b, "threads", 7);
    assert_true(isnan(row_state_ratio(a, TIMED_STEP, b, TIMED_STEP, PROBE_FMA)));
    row_free(a);
    row_free(b);
    row_free(without);
}

/* Turns in several states, or few of them, are judged by their extremes. */
TEST(test_extremes)
{
    const double pings[] = {1e-7, 5e-7, 1.02e-7, 5.1e-7, 1.01e-7, 5.2e-7, 1.03e-7, 5e-7, 1.04e-7, 5.1e-7};
    const double times[] = {1, 2, 1, 2.1, 1.01, 2, 1.02, 2.1, 1, 2};
    double base[10], other[10];
    steady(base, 10, 1);
    steady(other, 10, 1.3e-7);
    struct row *a = in_state(base, other, NAN, 10), *mixed = in_state(times, pings, NAN, 10),
               *few = in_state(times, other, NAN, 3);
    struct verdict v = row_verdict(a, TIMED_STEP, mixed, TIMED_STEP, verdict_within);
    assert_true(v.kind == VERDICT_INCONCLUSIVE && v.bound && !v.uncompared); /* from 1 to 2.1 times */
    v = row_verdict(few, TIMED_STEP, a, TIMED_STEP, verdict_within);
    assert_inconclusive(v, "");
    assert_false(v.uncompared);
    row_free(a);
    row_free(mixed);
    row_free(few);
}
