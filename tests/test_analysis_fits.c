/* Fits of a sweep: laws, exponents and verdicts for planted times, and warnings only of contradictions. */
#include "analysis/fits/fits.h"
#include "analysis/tables/units.h"
#include "kernels/rng.h"
#include "tests/files.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"
#include "tests/values.h"

/* The sizes, the work (a line and a parabola, whose shares change) and a time of 1e-11 s per FLOP. */
enum { ROWS = 6 };
static double size_of(int i)
{
    return 100 * pow(2, i);
}

static double work_of(double nodes)
{
    return 1e8 + 1e6 * nodes + 1e3 * nodes * nodes;
}

/* Ten turns whose interval is +-noise around `seconds`. */
static void set_noisy_turns(struct row *row, const char *path, double seconds, double noise)
{
    double samples[10];
    for (int i = 0; i < 10; i++)
        samples[i] = seconds * (1 + noise * (i < 5 ? -1 : 1));
    samples[4] = samples[5] = seconds;
    row_set_samples(row, path, samples, 10);
}

/* A row of a step that takes `factor` times as long as its work says, and forward of one size. */
static struct row *planted_row(int i, double factor, double noise, const char *level, const char *bound)
{
    double nodes = size_of(i);
    struct row *row = good_row((int64_t)nodes);
    set_noisy_turns(row, "step.time", factor * 1e-11 * work_of(nodes), noise);
    row_set_count(row, "step.flops.analytic", (int64_t)work_of(nodes));
    row_set_count(row, "step.bytes", (int64_t)(1e6 * nodes));
    if (level)
        row_set_text(row, "step.roofline.level", level);
    if (bound)
        row_set_text(row, "step.roofline.bound", bound);
    return row;
}

/* Rows of these factors, in one level. */
static struct rows *planted(const double factor[ROWS], double noise)
{
    struct rows *rows = rows_new();
    for (int i = 0; i < ROWS; i++)
        rows_append(rows, planted_row(i, factor[i], noise, "LLC", "compute"));
    return rows;
}

static const double flat[ROWS] = {1, 1, 1, 1, 1, 1};

/* The fits of the rows, and the step's over nodes. */
static const struct fit *step_fit(const struct rows *rows, struct fits *fits)
{
    *fits = fits_find(rows);
    return fits_get(fits, TIMED_STEP, schema_find("nodes"), "");
}

static void free_both(struct fits *fits, struct rows *rows)
{
    fits_free(fits);
    rows_free(rows);
}

/* The output of a function for these fits. */
static char *written(void (*write)(const struct fits *fits, FILE *out), const struct fits *fits)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    write(fits, out);
    fclose(out);
    return text;
}

/* Joins the lines of a wrapped text. */
static void unwrap(char *text)
{
    char *to = text;
    for (const char *c = text; *c; c++) {
        bool breaks = strncmp(c, "\n    ", 5) == 0;
        *to++ = breaks ? ' ' : *c;
        c += breaks ? 4 : 0;
    }
    *to = '\0';
}

/* What fits_warn writes about the step of these rows, which are freed; in one line. */
static char *warning_of(struct rows *rows)
{
    struct fits fits = fits_find(rows), step = {0};
    for (size_t i = 0; i < fits.count; i++)
        if (fits.list[i].program == TIMED_STEP)
            step = (struct fits){1, &fits.list[i]};
    char *text = written(fits_warn, &step);
    unwrap(text);
    free_both(&fits, rows);
    return text;
}

static void assert_null_because(const struct value *fit, const char *name, const char *reason)
{
    const char *given = text_in(value_get(fit, "absent"), name);
    assert_null(value_get(fit, name));
    assert_non_null(given);
    assert_string_equal(given, reason);
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

static double element(const struct value *fit, const char *list, size_t i)
{
    double value = NAN;
    value_read_real(value_at(value_get(fit, list), i), &value);
    return value;
}

TEST(test_the_record_has_every_field)
{
    struct fits fits;
    struct rows *rows = planted(flat, 0.01);
    assert_non_null(step_fit(rows, &fits));
    struct value *all = fits_value(&fits), *fit = value_at(all, 1);
    for (size_t i = 0; i < schema_fit_count; i++)
        if (!value_get(fit, schema_fit[i].path))
            fail_msg("%s is missing", schema_fit[i].path);
    assert_int_equal(value_size(fit), schema_fit_count);
    assert_string_equal(text_in(fit, "program"), "step");
    assert_string_equal(text_in(fit, "axis"), "nodes");
    assert_string_equal(text_in(fit, "cost"), "flops");
    assert_string_equal(text_in(fit, "cost_terms"), "1 + N + N^2");
    assert_string_equal(text_in(fit, "formula"), "1 + N + N^2");
    assert_string_equal(text_in(fit, "verdict"), "agrees");
    assert_int_equal(count_in(fit, "points"), ROWS);
    assert_true(real_in(fit, "from") == 100 && real_in(fit, "to") == 3200);
    assert_true(value_size(value_get(fit, "values")) == ROWS);
    assert_true(value_size(value_get(fit, "exponents")) == ROWS - 1);
    assert_near(element(fit, "coefficients", 2), 1e-8, 1e-12);
    value_free(all);
    free_both(&fits, rows);
}

/* From 100 to 200: both time and work by log2(3.4e8 / 2.1e8); ranges of 1 % each, to their corners. */
TEST(test_local_exponents)
{
    struct fits fits;
    struct rows *rows = planted(flat, 0.01);
    const struct fit *fit = step_fit(rows, &fits);
    double expected = log2(work_of(200) / work_of(100));
    struct exponent time = exponent_between(&fit->points[0].time, &fit->points[1].time);
    assert_near(time.value, expected, 1e-9);
    assert_near(time.high - time.value, log2(1.01 / 0.99), 1e-9);
    assert_near(time.low - time.value, log2(0.99 / 1.01), 1e-9);
    assert_near(fit_work_exponent(fit, 0, 1).value, expected, 1e-9);
    assert_true(fit_work_exponent(fit, 0, 1).low == fit_work_exponent(fit, 0, 1).high);
    char *text = written(fits_print, &fits);
    const char law[] = "step = 1.00 ms + 10.0 µs N + 10.0 ns N^2, within ";
    assert_int_equal(strncmp(text, law, strlen(law)), 0); /* not that of inference too */
    assert_int_equal(lines_of(text), 1);
    free(text);
    free_both(&fits, rows);
}

/* Verdicts on planted changes of time per FLOP, with intervals of +-1 % or +-8 %, and the rise among them. */
TEST(test_verdicts)
{
    static const struct {
        double factor[ROWS], noise;
        enum fit_verdict verdict;
        const char *rise;
    } cases[] = {
        {{1, 1, 1, 1, 1, 1}, 0.01, FIT_AGREES, ""},
        {{1, 1.02, 1.04, 1.06, 1.08, 1.1}, 0.01, FIT_AGREES, ""},
        {{1, 1, 1, 1, 1, 1}, 0.08, FIT_INCONCLUSIVE, ""}, /* no interval is within 10 % */
        {{1, 1, 1, 1, 1.1, 1.1}, 0.01, FIT_INCONCLUSIVE, ""},
        {{1, 1, 1, 1, 1.4, 1.4}, 0.01, FIT_CONTRADICTS, "time per FLOP rises by 40 % from 800 to 1600 nodes"},
        {{1, 1, 1, 1, 1, 1.4}, 0.01, FIT_CONTRADICTS, "time per FLOP rises by 40 % from 1600 nodes on"},
        {{2, 1, 1, 1, 1, 1}, 0.01, FIT_CONTRADICTS, ""},
        {{1, 1.2, 1.5, 1.8, 2.2, 2.7},
         0.01,
         FIT_CONTRADICTS,
         "time per FLOP rises by 170 % from 100 to 3200 nodes"},
        {{1, 1, 1.3, 1.1, 1.1, 1.1},
         0.01,
         FIT_CONTRADICTS,
         "time per FLOP rises by 30 % from 200 to 400 nodes"},
        {{1.5, 1, 1, 1, 1, 1.2}, 0.01, FIT_CONTRADICTS, "time per FLOP rises by 20 % from 1600 nodes on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[AXES_TEXT];
        struct fits fits;
        struct rows *rows = planted(cases[i].factor, cases[i].noise);
        const struct fit *fit = step_fit(rows, &fits);
        if (fit->verdict != cases[i].verdict)
            fail_msg("case %zu: verdict %d, not %d", i, fit->verdict, cases[i].verdict);
        assert_int_equal(fit_rise_text(text, fit), *cases[i].rise != '\0');
        assert_string_equal(text, cases[i].rise);
        free_both(&fits, rows);
    }
}

/* Of many rows every pair of some is judged, the last among them. */
TEST(test_many_rows)
{
    enum { MANY = 1000 };
    struct rows *rows = rows_new();
    struct fits fits;
    char text[AXES_TEXT];
    for (int i = 0; i < MANY; i++) {
        double nodes = 100 + i;
        struct row *row = planted_row(0, 1, 0.01, "LLC", "compute");
        row_set_count(row, "nodes", (int64_t)nodes);
        row_set_count(row, "step.flops.analytic", (int64_t)(1e6 * nodes));
        set_noisy_turns(row, "step.time", 1e-6 * nodes * (i == MANY - 1 ? 2 : 1), 0.01);
        rows_append(rows, row);
    }
    const struct fit *fit = step_fit(rows, &fits);
    assert_int_equal(fit->verdict, FIT_CONTRADICTS);
    assert_true(fit_rise_text(text, fit));
    assert_non_null(strstr(text, "time per FLOP rises by 100 % from "));
    free_both(&fits, rows);
}

/* Verdicts of so many sweeps whose turns are noisy, by kind; from the last size on time per FLOP is `factor`
 * as high. */
static void count_verdicts(int sweeps, double noise, double factor, int counts[FIT_VERDICTS])
{
    memset(counts, 0, FIT_VERDICTS * sizeof *counts);
    for (uint64_t seed = 1; seed <= (uint64_t)sweeps; seed++) {
        struct rows *rows = planted(flat, 0);
        struct fits fits;
        for (int i = 0; i < ROWS; i++) {
            double turns[10], seconds = 1e-11 * work_of(size_of(i)) * (i == ROWS - 1 ? factor : 1);
            for (uint64_t t = 0; t < 10; t++) {
                double part = (double)(rng_bits(seed, 100 * (uint64_t)i + t) >> 11) * 0x1p-53;
                turns[t] = seconds * (1 + noise * (2 * part - 1));
            }
            row_set_samples(rows_at(rows, (size_t)i), "step.time", turns, 10);
        }
        counts[step_fit(rows, &fits)->verdict]++;
        free_both(&fits, rows);
    }
}

/* Noise contradicts nothing, a change that matters never agrees, and both are found if the noise allows it.
 */
TEST(test_how_often_verdicts_are_wrong)
{
    int counts[FIT_VERDICTS], sweeps = getenv("GTMARK_SMALL") ? 60 : 300;
    count_verdicts(sweeps, 0.02, 1, counts);
    assert_true(counts[FIT_AGREES] >= sweeps - sweeps / 30 && counts[FIT_CONTRADICTS] == 0);
    count_verdicts(sweeps, 0.10, 1, counts);
    assert_true(counts[FIT_CONTRADICTS] == 0);
    count_verdicts(sweeps, 0.02, 1.25, counts);
    assert_true(counts[FIT_CONTRADICTS] >= sweeps - sweeps / 60);
    count_verdicts(sweeps, 0.10, 1.25, counts);
    assert_true(counts[FIT_AGREES] == 0);
}

/* Steps of 2^0.1 at each size keep within the exponent of 0.1, though 41 % in all; they would not from one
 * size to the next. */
TEST(test_tolerance_grows_with_the_range)
{
    double slow[ROWS], sudden[ROWS] = {1, 1, 1, 1, 1, 1.35};
    for (int i = 0; i < ROWS; i++)
        slow[i] = exp2(0.09 * i);
    struct fits fits;
    struct rows *rows = planted(slow, 0.001);
    assert_int_equal(step_fit(rows, &fits)->verdict, FIT_AGREES);
    free_both(&fits, rows);
    rows = planted(sudden, 0.001);
    assert_int_equal(step_fit(rows, &fits)->verdict, FIT_CONTRADICTS);
    free_both(&fits, rows);
}

/* A warning of a rise within one level and bound, and of a fall that no law has; nothing otherwise. */
TEST(test_warnings)
{
    static const struct {
        double factor[ROWS];
        const char *level[2], *warning; /* of the first and of the last row, if other */
    } cases[] = {
        {{1, 1, 1, 1, 1, 1}, {NULL, NULL}, ""},
        {{1, 1, 1, 1, 1, 1.4},
         {NULL, NULL},
         "CONTRADICTION: step over nodes 100-3200: time per FLOP rises by 40 % from 1600 nodes on, though "
         "the level of memory and the bound stay the same there\n"},
        {{1, 1, 1, 1, 1, 1.4}, {NULL, "DRAM"}, ""},
        {{1, 1, 1, 1, 1, 1.4},
         {"L2", NULL},
         "CONTRADICTION: step over nodes 100-3200: time per FLOP rises by 40 % from "}, /* elsewhere: no
                                                                                           explanation */
        {{8, 1, 1, 1, 1, 1}, {NULL, NULL}, ", and no scaling fit explains that\n"},
        {{1.64, 1.16, 1.04, 1.01, 1.0025, 1.0006}, {NULL, NULL}, ""}, /* the law has a constant */
        {{1.64, 1.16, 1.04, 1.01, 1.0025, 1.25},
         {NULL, NULL},
         "time per FLOP rises by 25 % from 1600 nodes on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rows *rows = planted(cases[i].factor, 0.005);
        for (size_t end = 0; end < 2; end++)
            if (cases[i].level[end])
                row_set_text(rows_at(rows, end * (ROWS - 1)), "step.roofline.level", cases[i].level[end]);
        char *text = warning_of(rows);
        if (!strstr(text, cases[i].warning) || !*text != !*cases[i].warning)
            fail_msg("case %zu: %s", i, text);
        free(text);
    }
}

/* Memory-bound rows are compared with their bytes, which grow as N here. */
TEST(test_memory_bound)
{
    struct rows *rows = rows_new();
    for (int i = 0; i < ROWS; i++) {
        struct row *row = planted_row(i, 1, 0.01, "DRAM", "memory");
        set_noisy_turns(row, "step.time", 1e-5 * size_of(i), 0.01);
        rows_append(rows, row);
    }
    struct fits fits;
    const struct fit *fit = step_fit(rows, &fits);
    assert_true(fit->by_bytes);
    assert_near(fit_work_exponent(fit, 0, 5).value, 1, 1e-9);
    assert_int_equal(fit->verdict, FIT_AGREES);
    free_both(&fits, rows);
}

/* Rows that are unchecked or wrong would change the verdict. */
TEST(test_rows_that_take_no_part)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        struct rows *rows = planted((const double[ROWS]){1, 1, 1, 1, 1, 9}, 0.01);
        if (wrong)
            row_set_text(rows_at(rows, 5), "status", "wrong");
        else
            uncheck(rows_at(rows, 5), "--no-check");
        struct fits fits;
        const struct fit *fit = step_fit(rows, &fits);
        if (fit->count != 5 || fit->verdict != FIT_AGREES || fit->left_out != !wrong)
            fail_msg("%d: %zu points, verdict %d", wrong, fit->count, fit->verdict);
        free_both(&fits, rows);
    }
}

/* A row of few turns has a place in the law, but no exponent or verdict rests on its range, however narrow.
 */
TEST(test_few_turns)
{
    for (size_t turns = 3; turns <= 6; turns += 3) {
        struct rows *rows = planted((const double[ROWS]){1, 1, 1, 1, 1, 1.4}, 0.01);
        double same[6];
        for (int i = 0; i < 6; i++)
            same[i] = 1.4e-11 * work_of(size_of(5));
        row_set_samples(rows_at(rows, 5), "step.time", same, turns);
        struct fits fits;
        const struct fit *fit = step_fit(rows, &fits);
        assert_int_equal(fit->count, ROWS);
        assert_int_equal(fit->verdict, turns == 3 ? FIT_INCONCLUSIVE : FIT_CONTRADICTS);
        assert_int_equal(isnan(fit_exponent(fit, 4, 5).value), turns == 3);
        assert_false(isnan(fit_exponent(fit, 3, 4).value));
        free_both(&fits, rows);
    }
}

/* An exponent is told if its range is no wider than 1. */
TEST(test_wide_exponents)
{
    static const double noise[] = {0.15, 0.18}; /* log2(1.15 / 0.85) = 0.44, log2(1.18 / 0.82) = 0.53 */
    for (int wide = 0; wide < 2; wide++) {
        struct fits fits;
        struct rows *rows = planted(flat, noise[wide]);
        const struct fit *fit = step_fit(rows, &fits);
        assert_int_equal(isnan(fit_exponent(fit, 0, 1).value), wide);
        assert_int_equal(fit->law.terms, 7);
        struct value *all = fits_value(&fits);
        assert_int_equal(isnan(element(value_at(all, 1), "exponents", 0)), wide);
        value_free(all);
        free_both(&fits, rows);
    }
}

/* Beside other programs a rise contradicts nothing, unless they took little. */
TEST(test_load)
{
    for (int loaded = 0; loaded < 2; loaded++) {
        struct rows *rows = planted((const double[ROWS]){1, 1, 1, 1, 1, 1.4}, 0.01);
        struct fits fits;
        row_set_real(rows_at(rows, 1), "step.time.lost", loaded ? 0.06 : 0.04);
        assert_int_equal(step_fit(rows, &fits)->verdict, loaded ? FIT_INCONCLUSIVE : FIT_CONTRADICTS);
        char *text = written(fits_print, &fits);
        unwrap(text);
        assert_int_equal(strstr(text, "; under load, exponent likely low\n") != NULL, loaded);
        free(text);
        text = written(fits_warn, &fits);
        assert_int_equal(*text == '\0', loaded);
        free(text);
        free_both(&fits, rows);
    }
}

/* Two sizes whose turns take 2.8 and 5.3 times as long beside load, as the shorter program suffers more: how
 * often, of so many, the range of the exponent has the one without load. */
static int count_covered(int sweeps, double lost)
{
    int covered = 0;
    for (uint64_t seed = 0; seed < (uint64_t)sweeps; seed++) {
        struct law_point at[2];
        for (uint64_t p = 0; p < 2; p++) {
            double turns[12];
            for (uint64_t i = 0; i < 12; i++) {
                double part = (double)(rng_bits(seed, 12 * p + i) >> 11) * 0x1p-53;
                turns[i] = (p ? 1000 * 2.8 : 100 * 5.3) * exp(0.7 * (part - 0.5));
            }
            struct range r = range_of(turns, 12);
            r.lost = lost;
            at[p] = (struct law_point){p ? 1000 : 100, r.median, range_floor_within(&r), r.high};
        }
        struct exponent e = exponent_between(&at[0], &at[1]);
        covered += e.low <= 1 && e.high >= 1;
    }
    return covered;
}

TEST(test_corners_contain_the_quiet_exponent)
{
    enum { SWEEPS = 500 };
    assert_true(count_covered(SWEEPS, 0.3) >= SWEEPS * 99 / 100);
    assert_true(count_covered(SWEEPS, 0) < SWEEPS * 9 / 10); /* if nobody counted what was lost */
}

/* The step's time as ten turns between pings of this many seconds, the first few of which are a third. */
static void set_state(struct row *row, double seconds, double ping, int others)
{
    struct turn list[10];
    double samples[10];
    for (int i = 0; i < 10; i++) {
        double ping_now = ping * (i < others ? 1. / 3 : 1) * (1 + 0.01 * (i % 3));
        list[i] = (struct turn){1, {{ping_now, NAN}}, {{ping_now, NAN}}};
        samples[i] = seconds * (1 + 0.001 * (i % 3));
    }
    struct turns turns = {10, list, samples};
    struct states states = states_find(list, 10);
    struct reported reported = reported_choose(&turns, &states);
    row_set_times(row, "step.time", &turns, &reported);
    reported_free(&reported);
}

/* A row measured in another state of the machine takes no part, however far its time is off; of several
 * states it does, and contradicts nothing. */
TEST(test_another_state)
{
    for (int differs = 0; differs < 3; differs++) {
        struct fits fits;
        struct rows *rows = planted(flat, 0.01);
        for (int i = 0; i < ROWS; i++)
            set_state(rows_at(rows, (size_t)i), (i == 3 ? 0.5e-11 : 1e-11) * work_of(size_of(i)),
                      i == 3 && differs ? 0.3e-7 : 1.4e-7, i == 3 && differs == 2 ? 4 : 0);
        const struct fit *fit = step_fit(rows, &fits);
        assert_int_equal(fit->count, differs == 1 ? ROWS - 1 : ROWS);
        assert_int_equal(fit->left_out, differs == 1);
        assert_int_equal(fit->verdict, differs == 2   ? FIT_INCONCLUSIVE
                                       : differs == 1 ? FIT_AGREES
                                                      : FIT_CONTRADICTS);
        free_both(&fits, rows);
    }
}

TEST(test_too_few_points)
{
    struct fits fits;
    struct rows *rows = planted(flat, 0.01);
    for (size_t n = ROWS; n > 3; n--)
        row_free(rows_take(rows, n - 1));
    assert_non_null(step_fit(rows, &fits));
    struct value *all = fits_value(&fits), *fit = value_at(all, 1);
    assert_null_because(fit, "formula",
                        "the work is no polynomial of the axis, or there are too few rows to tell");
    assert_string_equal(text_in(fit, "verdict"), "agrees");
    value_free(all);
    fits_free(&fits);
    row_free(rows_take(rows, 2));
    assert_int_equal(step_fit(rows, &fits)->count, 2);
    all = fits_value(&fits);
    fit = value_at(all, 1);
    assert_near(element(fit, "exponents", 0), log2(work_of(200) / work_of(100)), 1e-9);
    assert_null_because(fit, "verdict", "needs 3 values of the axis");
    char *text = written(fits_print, &fits);
    assert_string_equal(text, "");
    free(text);
    value_free(all);
    fits_free(&fits);
    row_free(rows_take(rows, 1));
    assert_null(step_fit(rows, &fits));
    free_both(&fits, rows);
}

/* A time that no law with these terms reproduces has exponents and no law. */
TEST(test_times_that_follow_no_law)
{
    struct fits fits;
    struct rows *rows = planted((const double[ROWS]){1, 2, 1, 3, 1, 2}, 0.01);
    const struct fit *fit = step_fit(rows, &fits);
    assert_int_equal(fit->terms, 7);
    assert_int_equal(fit->law.terms, 0);
    assert_string_equal(fit->no_law, "no fit with the terms of the work is within 20 % of every row");
    free_both(&fits, rows);
}

/* If an axis (threads) does not change the work, times are not compared with it. */
TEST(test_work_that_does_not_change)
{
    struct rows *rows = rows_new();
    for (int threads = 1; threads <= 8; threads *= 2) {
        struct row *row = planted_row(3, 1. / threads, 0.01, "LLC", "compute");
        row_set_count(row, "threads", threads);
        rows_append(rows, row);
    }
    struct fits fits = fits_find(rows);
    struct value *all = fits_value(&fits), *fit = value_at(all, 1);
    assert_near(element(fit, "exponents", 0), -1, 1e-9);
    assert_null_because(fit, "cost_exponents", "the work does not change");
    assert_null_because(fit, "verdict", "the work does not change");
    assert_null_because(fit, "formula", "the work does not change");
    char *text = written(fits_print, &fits);
    assert_non_null(strstr(
        text,
        "step: between 4 and 8 threads T^-1.00 [-1.03, -0.97]; no scaling fit: the work does not change\n"));
    free(text);
    value_free(all);
    free_both(&fits, rows);
}

/* Two axes and failed rows: one fit per axis and value of the other, from rows that are ok. */
TEST(test_combinations)
{
    struct rows *rows = rows_new();
    for (int layers = 1; layers <= 2; layers++) {
        for (int i = 0; i < 4; i++) {
            struct row *row = planted_row(i, 1, 0.01, "LLC", "compute");
            row_set_count(row, "layers", layers);
            rows_append(rows, row);
        }
        rows_append(rows, failed_row(5000, "oom", "needs 17 GiB"));
    }
    struct fits fits = fits_find(rows);
    assert_int_equal(fits.count, 2 * (2 + 4)); /* programs; layers, nodes; layers at each size */
    assert_non_null(fits_get(&fits, TIMED_STEP, schema_find("layers"), "200 nodes"));
    assert_null(fits_get(&fits, TIMED_STEP, schema_find("layers"), ""));
    char *text = written(fits_print, &fits);
    assert_non_null(strstr(text, "step, 1 layer = 1.00 ms + 10.0"));
    assert_non_null(strstr(text, "\nstep, 2 layers = "));
    assert_int_equal(lines_of(text), 2); /* none over layers, which have two values */
    free(text);
    free_both(&fits, rows);
}

/* A row that repeats a size counts once. */
TEST(test_repeated_sizes)
{
    struct rows *rows = planted(flat, 0.01);
    rows_append(rows, planted_row(2, 1, 0.01, "LLC", "compute"));
    struct fits fits;
    assert_int_equal(step_fit(rows, &fits)->count, ROWS);
    free_both(&fits, rows);
}
