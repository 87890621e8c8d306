/*
 * Which times are marked "~", and why: for each reason data for which it holds and does not. What they are
 * good for all the same: tests/test_verdict.c.
 */
#include "analysis/record/row_range.h"

#include "tests/test.h"
#include "tests/test_analysis_rows.h"
#include <math.h>

/* A step of 1 s whose turns are spread evenly over `width`, in as many states as runs of `state` turns show.
 */
static struct row *step_row(double width, double lost, size_t turns, size_t state)
{
    struct row *row = good_row(100);
    struct turn list[20];
    double samples[20];
    for (size_t i = 0; i < turns; i++) {
        struct probe probe = {{i / state % 2 ? 5e-7 : 1e-7, NAN, NAN}};
        list[i] = (struct turn){1, probe, probe};
        samples[i] = turns > 1 ? 1 + width * ((double)i / ((double)turns - 1) - 0.5) : 1;
    }
    struct turns t = {turns, list, samples};
    struct states states = states_find(list, turns);
    struct reported r = reported_choose(&t, &states);
    row_set_times(row, "step.time", &t, &r);
    reported_free(&r);
    row->step.time.lost = lost;
    row_derive(row);
    return row;
}

/* null: not wide. */
static void assert_reason(struct row *row, const char *reason)
{
    const char *noisy = row_noisy(row, TIMED_STEP);
    if (reason ? !noisy || strcmp(noisy, reason) != 0 : noisy != NULL)
        fail_msg("%s, not %s", noisy ? noisy : "not wide", reason ? reason : "nothing");
    row_derive(row); /* says the same */
    assert_true(!noisy == !row_noisy(row, TIMED_STEP));
    row_free(row);
}

/* Time that others took makes a range wide by itself from a tenth on. */
TEST(test_lost)
{
    assert_reason(step_row(0.01, 0.11, 10, 10), "up to 11.0 % of the time was lost to other programs");
    assert_reason(step_row(0.01, 0.08, 10, 10), NULL);
    assert_reason(step_row(0.01, NAN, 10, 10), NULL);
}

TEST(test_width)
{
    assert_reason(step_row(0.111, 0, 10, 10), "a range of 11 % of the median, over 10 %");
    assert_reason(step_row(0.099, 0, 10, 10), NULL);
    assert_reason(step_row(0.2, 0, 10, 5),
                  "a range of 20 % of the median, over 10 %, of repetitions in several states of "
                  "the machine");
    assert_reason(step_row(0.2, 0, 10, 7),
                  "a range of 14 % of the median, over 10 %"); /* 7 of 10 are in one */
    assert_reason(step_row(0.2, 0, 6, 6), "a range of 20 % of the median, over 10 %");
}

TEST(test_few)
{
    assert_reason(step_row(0.01, 0, 1, 1), "1 repetition, fewer than 7");
    assert_reason(step_row(0.01, 0, 6, 6), "6 repetitions, fewer than 7");
    assert_reason(step_row(0.01, 0, 7, 7), NULL);
}

/* The lower quartile stands beside the median only where little was lost. */
TEST(test_lower_quartile)
{
    struct row *quiet = step_row(0.08, 0.05, 9, 9), *loaded = step_row(0.08, 0.051, 9, 9);
    assert_true(fabs(quiet->step.time.lower_quartile - 0.98) < 1e-12);
    assert_true(isnan(loaded->step.time.lower_quartile));
    row_free(quiet);
    row_free(loaded);
}

/* A file of a version that reported a minority of the turns: all of them count now. */
TEST(test_minority_of_older_files)
{
    struct row *row = step_row(0.2, 0, 10, 10);
    double left_out[] = {0, 1, 2, 3, 4, 5};
    row->step.time.left_out = row_keep_items(row, left_out, 6, FIELD_REALS);
    row->step.time.median = row->step.time.ci95_low = row->step.time.ci95_high = 1.08;
    row->step.time.n = 4;
    row_derive(row);
    struct range r = row_range(row, TIMED_STEP);
    assert_true(r.extremes && r.turns == 10 && fabs(r.median - 1) < 1e-12);
    assert_true(fabs(r.low - 0.9) < 1e-12 && fabs(r.high - 1.1) < 1e-12);
    assert_int_equal(row->step.time.n, 10);
    row_free(row);
}
