/* Verdicts on files: by medians, by the range of few turns, by several runs; and how often they are wrong. */
#include "analysis/record/row_range.h"

#include "tests/synthetic.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <math.h>

/* Two files of so many runs of a row, whose steps have these turns, one run after the other. */
static struct verdict judge_files(const double *base, size_t n, const double *samples, size_t m, size_t runs)
{
    struct rows *sides[2] = {rows_new(), rows_new()};
    for (size_t i = 0; i < 2 * runs; i++) {
        struct row *row = good_row(500);
        size_t count = i % 2 ? m : n;
        row_set_samples(row, "step.time", (i % 2 ? samples : base) + i / 2 * count, count);
        rows_append(sides[i % 2], row);
    }
    struct verdict v = rows_verdict(sides[0], sides[1], TIMED_STEP, verdict_across);
    rows_free(sides[0]);
    rows_free(sides[1]);
    return v;
}

/* Files are judged by what they know: ten turns, the extremes of few, several runs. */
TEST(test_files)
{
    const double one[] = {1}, two[] = {2, 2.1, 1.9}, six[] = {0.98, 1, 1, 1, 1, 1.02},
                 near[] = {1.2, 1.25, 1.15, 1.2, 1.2, 1.2},
                 runs[] = {1.1, 1.15, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1};
    char text[RATIO_TEXT];
    struct verdict v = judge_files(one, 1, two, 3, 1);
    verdict_ratio_text(&v, text);
    assert_string_equal(text, "2.000 [1.810, 2.205]"); /* 1.9 / 1.05, 2.1 * 1.05 */
    assert_int_equal(v.kind, VERDICT_INCONCLUSIVE);
    v = judge_files(six, 6, near, 6, 1);
    verdict_ratio_text(&v, text);
    assert_string_equal(text, "at least 1.074"); /* 1.15 / 1.02 / 1.05 */
    v = judge_files(near, 6, six, 6, 1);
    verdict_ratio_text(&v, text);
    assert_string_equal(text, "at most 0.931");
    v = judge_files(six, 6, six, 6, 1);
    verdict_ratio_text(&v, text);
    assert_string_equal(text, "1.000 [0.915, 1.093]");
    assert_int_equal(v.kind, VERDICT_SAME);
    /* Four runs each show by themselves how runs differ. */
    const double equal[] = {1, 1, 1, 1, 1, 1, 1, 1};
    assert_int_equal(judge_files(equal, 2, runs, 2, 3).kind, VERDICT_SLOWER); /* 1.1 / 1.05 */
    v = judge_files(equal, 2, runs, 2, 4);
    verdict_ratio_text(&v, text);
    assert_string_equal(text, "at least 1.100");
}

/* Rows of a version that took no turns are judged by groups of their samples: one that is slow is no range.
 */
TEST(test_files_without_turns)
{
    double samples[15];
    for (size_t i = 0; i < 15; i++)
        samples[i] = i == 7 ? 9 : 1;
    struct row *row = good_row(500), *base = good_row(500);
    row_set_samples(row, "step.time", samples, 15);
    row_set_samples(base, "step.time", (const double[]){2, 2, 2, 2, 2, 2, 2}, 7);
    row->step.time.repetition_medians = row->step.time.blocks = (struct items){.count = 0};
    struct rows *a = rows_new(), *b = rows_new();
    rows_append(a, base);
    rows_append(b, row);
    struct verdict v = rows_verdict(a, b, TIMED_STEP, verdict_across);
    assert_int_equal(v.kind, VERDICT_FASTER);
    assert_true(v.bound && fabs(v.high - 0.5 * 1.05) < 1e-12);
    rows_free(a);
    rows_free(b);
}

/* The share of pairs of equal files of `runs` runs that get a direction: runs differ by 1 %, their turns by 3
 * %. */
static double wrong_of_files(size_t n, size_t m, size_t runs)
{
    enum { PAIRS = 1000, MOST = 20 };
    size_t wrong = 0;
    for (uint64_t pair = 1; pair <= PAIRS; pair++) {
        double x[2][MOST], apart[2 * MOST];
        make_series(apart, 2 * runs, 0.01, 0, pair);
        for (size_t i = 0; i < 2 * runs; i++) {
            size_t turns = i % 2 ? m : n;
            double *turn = x[i % 2] + i / 2 * turns;
            make_series(turn, turns, 0.03, 0, 10000 * pair + i);
            for (size_t t = 0; t < turns; t++)
                turn[t] *= apart[i];
        }
        enum verdict_kind kind = judge_files(x[0], n, x[1], m, runs).kind;
        wrong += kind == VERDICT_FASTER || kind == VERDICT_SLOWER;
    }
    return (double)wrong / PAIRS;
}

TEST(test_equal_files)
{
    static const size_t turns[][3] = {{10, 10, 1}, {20, 7, 1}, {6, 6, 1}, {5, 8, 1}, {3, 15, 1},
                                      {1, 10, 1},  {2, 2, 4},  {4, 4, 5}, {4, 4, 2}};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        double wrong = wrong_of_files(turns[i][0], turns[i][1], turns[i][2]);
        print_message("# %zu and %zu turns, %zu runs: %.3f get a direction\n", turns[i][0], turns[i][1],
                      turns[i][2], wrong);
        assert_true(wrong <= 0.01);
    }
}

/* What a few turns lost to other programs, the next run may have: while they were taken, or, where that is
 * not known, before the row. */
TEST(test_lost_time)
{
    static const struct {
        double before, during;
        enum verdict_kind kind;
    } lost[] = {{NAN, NAN, VERDICT_SLOWER},       {0.1, NAN, VERDICT_SLOWER},
                {0.5, NAN, VERDICT_INCONCLUSIVE}, {0, 0.5, VERDICT_INCONCLUSIVE},
                {0, 1, VERDICT_INCONCLUSIVE},     {0.5, 0, VERDICT_SLOWER}};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        struct rows *sides[2] = {rows_new(), rows_new()};
        for (size_t side = 0; side < 2; side++) {
            struct row *row = good_row(500);
            row_set_samples(row, "step.time",
                            (const double[6]){1. + (double)side, 1. + (double)side, 1. + (double)side,
                                              1. + (double)side, 1. + (double)side, 1. + (double)side},
                            6);
            row->noise.lost = lost[i].before;
            row->step.time.lost = lost[i].during;
            rows_append(sides[side], row);
        }
        struct verdict v = rows_verdict(sides[0], sides[1], TIMED_STEP, verdict_across);
        assert_int_equal(v.kind, lost[i].kind);
        if (lost[i].during == 1) {
            assert_false(v.uncompared);
            assert_string_equal(v.reason, "all of the time may have been lost to other programs");
        }
        rows_free(sides[0]);
        rows_free(sides[1]);
    }
}

/* A run that may have lost all of its time is no slower than it was; one to compare with says nothing then.
 */
TEST(test_wholly_lost)
{
    static const struct range quiet = {.median = 4, .low = 4, .high = 4, .turns = 6, .runs = 1},
                              lost = {.median = 2, .low = 2, .high = 2, .turns = 6, .runs = 1, .lost = 1};
    struct verdict v = verdict_of(&quiet, &lost, verdict_across);
    assert_int_equal(v.kind, VERDICT_FASTER);
    assert_true(v.low == 0 && v.high < 1 && v.ratio == 0.5);
    assert_int_equal(verdict_of(&lost, &quiet, verdict_across).kind, VERDICT_INCONCLUSIVE);
    static const struct range shorter = {
        .median = 4.2, .low = 4.2, .high = 4.2, .turns = 6, .runs = 1, .lost = 1};
    assert_int_equal(verdict_of(&quiet, &shorter, verdict_across).kind, VERDICT_INCONCLUSIVE);
}

/* Noise within 20 % hides no factor of two. */
TEST(test_twice_as_slow)
{
    static const size_t turns[][2] = {{10, 10}, {6, 6}, {5, 8}, {3, 20}};
    for (uint64_t pair = 0; pair < 1000; pair++) {
        const size_t *n = turns[pair % 4];
        double x[2][20];
        for (size_t side = 0; side < 2; side++) {
            make_series(x[side], n[side], 1, 0, 2 * pair + side + 1);
            for (size_t i = 0; i < n[side]; i++)
                x[side][i] = (side ? 2 : 1) * (1 + 0.2 * fmax(-1, fmin(1, x[side][i] - 1)));
        }
        assert_int_equal(judge_files(x[0], n[0], x[1], n[1], 1).kind, VERDICT_SLOWER);
        assert_int_equal(judge_files(x[1], n[1], x[0], n[0], 1).kind, VERDICT_FASTER);
    }
}
