/* The share of the roofline in a row, and the bound of its time: of the ceilings of the state that the
 * program is reported in, or null. */
#include <math.h>

#include "bench/row/timed.h"
#include "tests/sweeps.h"
#include "tests/test.h"

enum { TURNS = 10 };

static const struct bench bench = {.name = "bench_test", .axis = AXIS_NODES, .values = "100"};

/* 100 GFLOP/s, and 10 GB/s of all memory, in the state of this ping. */
static struct calibration calibration_at(double ping, const char *time)
{
    struct calibration c = {.threads = 2, .peak = 100, .points = 1, .turns = CALIBRATION_TURNS};
    snprintf(c.time, sizeof c.time, "%s", time);
    c.level[MEMORY_DRAM] = c.sweep[0] = (struct bandwidth){1 << 30, 1 << 30, 10, 10, 10, 10};
    for (int i = 0; i < c.turns; i++)
        c.turn[i] = (struct turn){0, {{ping * (1 + 0.01 * i), 1e-5}}, {{ping, 1e-5}}};
    return c;
}

/* The row of a program of 1e9 FLOPs and 1e6 bytes that took `seconds` in each turn, probed at these pings. */
static struct row *row_at_pings(const struct peaks *c, double seconds, const double pings[TURNS])
{
    struct options o = options_of(&bench, "--threads 2 --phase forward");
    double samples[TURNS], lost[TURNS] = {0};
    struct turn turns[TURNS];
    for (int i = 0; i < TURNS; i++) {
        samples[i] = seconds;
        turns[i] = (struct turn){1, {{pings[i], 1e-5}}, {{pings[i] * 1.01, 1e-5}}};
    }
    struct states states = states_find(turns, TURNS);
    struct job job = {.options = &o, .config = o.plan.list, .peaks = c, .states = states};
    struct cost entries[] = {{.flops = 900000000, .bytes = 100000, .written = 50000, .exps = 62500},
                             {.flops = 100000000, .bytes = 80000000, .written = 30000000}};
    struct timed p = {
        .samples = {.seconds = samples, .n = TURNS, .turn = turns, .turns = TURNS, .lost = lost},
        .planned = true,
        .cost = {.flops = 1000000000, .bytes = 1000000, .written = 500000},
        .operands = 1 << 20,
        .entry = entries,
        .entries = 2};
    struct row *row = row_new();
    row_omit(row, "forward.roofline", "disturbed"); /* in an earlier run */
    timed_write(row, &job, PROGRAM_FORWARD, &p);
    row_derive(row);
    options_free(&o);
    return row;
}

/* Ten turns, of which the first are at one ping and the others at another, with a scatter of 3 %. */
static struct row *row_of_states(const struct peaks *c, double seconds, double ping, int first, double other)
{
    double pings[TURNS];
    for (int i = 0; i < TURNS; i++)
        pings[i] = (i < first ? ping : other) * (1 + 0.01 * (i % 4));
    return row_at_pings(c, seconds, pings);
}

static void assert_percent(const struct row *row, double percent, const char *calibrated, const char *fault)
{
    const char *text = row->forward.roofline.fault;
    assert_true(fabs(row->forward.roofline.percent - percent) < 1e-9 * percent);
    assert_string_equal(row->forward.roofline.calibrated, calibrated);
    assert_true(*fault ? text && strstr(text, fault) : !text);
    assert_int_equal(row->reason_count, 0);
}

static void assert_bound(const struct row *row, double bound, double ratio)
{
    assert_true(fabs(row->forward.bound.time - bound) < 1e-9 * bound);
    assert_true(fabs(row->forward.bound.ratio - ratio) < 1e-9 * ratio);
}

static void assert_null_because(const struct row *row, const char *reason)
{
    assert_true(isnan(row->forward.roofline.percent));
    assert_string_equal(row_reason(row, "forward.roofline.percent"), reason);
    assert_string_equal(row_reason(row, "forward.bound.time"), reason);
}

TEST(test_state_of_the_row)
{
    struct peaks c = {.no_peaks = "not asked for (--no-roofline)"};
    struct row *row = row_of_states(&c, 0.02, 1.4e-7, 10, 0);
    assert_null_because(row, "not asked for (--no-roofline)");
    row_free(row);
    struct calibration near = calibration_at(1.4e-7, "near"), far = calibration_at(5.7e-7, "far");
    peaks_add(&c, &near);
    row = row_of_states(&c, 0.02, 1.4e-7, 10, 0);
    assert_percent(row, 50, "near", "");
    assert_bound(row, 0.01 + 1e-5 + 0.01, 0.02 / 0.02001); /* multiply-adds, exponentials, bytes */
    row_free(row);
    row = row_of_states(&c, 0.02, 5.7e-7, 10, 0);
    assert_null_because(row, "the peak rates were measured in another state of the machine");
    row_free(row);
    far.peak = 50;
    peaks_add(&c, &far);
    row = row_of_states(&c, 0.04, 1.4e-7, 3, 5.7e-7); /* seven turns are far */
    assert_percent(row, 50, "far", "");
    assert_bound(row, 0.02 + 2e-5 + 0.01, 0.04 / 0.03002);
    row_free(row);
    peaks_free(&c);
}

TEST(test_above_the_ceiling)
{
    struct peaks c = {0};
    struct calibration near = calibration_at(1.4e-7, "near");
    peaks_add(&c, &near);
    struct row *row = row_of_states(&c, 0.008, 1.4e-7, 10, 0);
    assert_percent(row, 125, "near", "above the peak of arithmetic");
    row_free(row);
    peaks_free(&c);
}

/* Probes that were given up tell no state. */
TEST(test_disturbed_turns)
{
    struct peaks c = {0};
    struct calibration near = calibration_at(1.4e-7, "near");
    peaks_add(&c, &near);
    struct row *row = row_of_states(&c, 0.02, PROBE_LIMIT, 10, 0);
    assert_null_because(row, "the machine was disturbed, or its state changed, in every repetition");
    row_free(row);
    peaks_free(&c);
}
