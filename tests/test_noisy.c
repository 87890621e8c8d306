/*
 * Which times are no basis for verdicts, laws and findings, and why: for each reason data for which it holds,
 * does not, and cannot be told.
 */
#include "analysis/record/row.h"

#include "tests/test.h"
#include "tests/test_analysis_rows.h"
#include <math.h>

enum { TURNS = 10 };

/* A step of 1 s whose turns are spread evenly over `width`; NAN: a single turn. */
static struct row *step_row(double width, double lost, double covered)
{
    struct row *row = good_row(100);
    double turns[TURNS];
    for (int i = 0; i < TURNS; i++)
        turns[i] = isnan(width) ? 1 : 1 + width * (i / (TURNS - 1.0) - 0.5);
    row_set_samples(row, "step.time", turns, isnan(width) ? 1 : TURNS);
    row->step.time.lost = lost;
    row->step.profile.covered = covered;
    row_judge_noise(row);
    return row;
}

/* null: not noisy. */
static void assert_reason(struct row *row, const char *reason)
{
    const char *noisy = row_noisy(row, TIMED_STEP);
    if (reason ? !noisy || strcmp(noisy, reason) != 0 : noisy != NULL)
        fail_msg("%s, not %s", noisy ? noisy : "not noisy", reason ? reason : "nothing");
    row_judge_noise(row); /* says the same */
    assert_true(!noisy == !row_noisy(row, TIMED_STEP));
    row_free(row);
}

static void test_lost(void **state)
{
    (void)state;
    assert_reason(step_row(0.01, 0.021, NAN), "2.1 % of the time may have been lost to other programs (waits "
                                              "of all threads together), more than 2 %");
    assert_reason(step_row(0.01, 0.02, NAN), NULL);
    assert_reason(step_row(0.01, NAN, NAN), NULL);
}

/* End to end. */
static void test_width(void **state)
{
    (void)state;
    assert_reason(step_row(0.101, 0, NAN), "its interval is 10.1 % wide, more than 10 %");
    assert_reason(step_row(0.099, 0, NAN), NULL);
    assert_reason(step_row(NAN, 0, NAN), "1 turn, fewer than 7"); /* without an interval */
}

static void test_profile(void **state)
{
    (void)state;
    assert_reason(step_row(0.04, 0, 1.05),
                  "its profile takes 5.0 % longer, more than the interval's width of 4.0 %");
    assert_reason(step_row(0.04, 0, 0.95),
                  "its profile takes 5.0 % less, more than the interval's width of 4.0 %");
    assert_reason(step_row(0.04, 0, 1.03), NULL);
    assert_reason(step_row(0.04, 0, NAN), NULL);
    struct row *graph = step_row(0.04, 0, NAN); /* the profile is of runs that are no replays */
    graph->step.eager.n = 3;
    graph->step.profile.covered = 2;
    row_judge_noise(graph);
    assert_reason(graph, NULL);
}

/* A wide interval means what it says; that of few turns, or of turns in no state, or that lost time, does
 * not. */
static void test_settled(void **state)
{
    (void)state;
    struct row *rows[] = {step_row(0.3, 0, NAN), step_row(0.3, NAN, 2), step_row(NAN, 0, NAN),
                          step_row(0.3, 0.1, NAN), step_row(0.3, 0, NAN)};
    row_set_text(rows[4], "step.time.noisy", ROW_UNSETTLED);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_non_null(row_noisy(rows[i], TIMED_STEP));
        assert_int_equal(row_settled(rows[i], TIMED_STEP), i < 2);
        row_free(rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
