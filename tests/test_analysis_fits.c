/* Fits of a sweep: output for synthetic laws, and warnings about contradictions only where there are any. */
#include "analysis/fits/fits.h"
#include "tests/test_analysis_rows.h"
#include "tests/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The step of row i over nodes 100 2^i: time 1e-6 N^time, FLOPs N^1.4, bytes N, with this level and bound. */
static struct row *planted_row(int i, double time, const char *level, const char *bound)
{
    double nodes = 100 * pow(2, i), seconds = 1e-6 * pow(nodes, time) * (i % 2 ? 1.01 : .99);
    struct row *row = good_row((int64_t)nodes);
    set_equal_turns(row, "step.time", seconds);
    row_set_count(row, "step.flops.analytic", (int64_t)(1e6 * pow(nodes, 1.4)));
    row_set_count(row, "step.bytes", (int64_t)(1e6 * nodes));
    if (level)
        row_set_text(row, "step.roofline.level", level);
    if (bound)
        row_set_text(row, "step.roofline.bound", bound);
    return row;
}

/* n such rows; the second half may have another level. */
static struct rows *planted(int n, double time, const char *level, const char *level_later, const char *bound)
{
    struct rows *rows = rows_new();
    for (int i = 0; i < n; i++)
        rows_append(rows, planted_row(i, time, i < n / 2 ? level : level_later, bound));
    return rows;
}

/* The step's fit over nodes; takes ownership of the rows. */
static struct value *step_fit(struct rows *rows)
{
    struct value *fits = fits_of(rows);
    rows_free(rows);
    assert_int_equal(value_size(fits), 2); /* forward and step */
    struct value *fit = value_copy(value_at(fits, 1));
    assert_string_equal(text_in(fit, "program"), "step");
    value_free(fits);
    return fit;
}

static double coefficient(const struct value *fit, size_t i)
{
    double value = NAN;
    value_read_real(value_at(value_get(fit, "law_coefficients"), i), &value);
    return value;
}

static void assert_null_because(const struct value *fit, const char *name, const char *reason)
{
    const char *given = text_in(value_get(fit, "reasons"), name);
    assert_true(is_null_in(fit, name));
    assert_non_null(given);
    assert_string_equal(given, reason);
}

/* The output of a function for these fits. */
static char *written(void (*write)(const struct value *fits, FILE *out), const struct value *fits)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    write(fits, out);
    fclose(out);
    return text;
}

/* The warning about a fit, which is freed. */
static char *warning_of(struct value *fit)
{
    struct value *fits = value_new_array();
    value_append(fits, fit);
    char *text = written(fits_warn, fits);
    value_free(fits);
    return text;
}

static void test_every_field_is_there(void **state)
{
    (void)state;
    struct value *fit = step_fit(planted(6, 1.4, "LLC", "LLC", "compute"));
    for (size_t i = 0; i < schema_fit_count; i++)
        if (!value_get(fit, schema_fit[i].path))
            fail_msg("%s is missing", schema_fit[i].path);
    assert_int_equal(value_size(fit), schema_fit_count + 1); /* plus the reasons */
    value_free(fit);
}

static void test_agreement(void **state)
{
    (void)state;
    struct value *fit = step_fit(planted(6, 1.4, "LLC", "LLC", "compute"));
    assert_string_equal(text_in(fit, "axis"), "nodes");
    assert_string_equal(text_in(fit, "group"), "");
    assert_string_equal(text_in(fit, "work"), "flops");
    assert_string_equal(text_in(fit, "verdict"), "agrees");
    assert_true(real_in(fit, "points") == 6 && real_in(fit, "from") == 100 && real_in(fit, "to") == 3200);
    assert_true(real_in(fit, "exponent_low") < 1.4 && real_in(fit, "exponent_high") > 1.4);
    assert_true(fabs(real_in(fit, "work_exponent") - 1.4) < 1e-4);
    assert_true(fabs(real_in(fit, "excess") - (real_in(fit, "exponent") - real_in(fit, "work_exponent"))) <
                1e-9);
    char *text = warning_of(fit);
    assert_string_equal(text, "");
    free(text);
}

/*
 * The same contradiction: a warning within one level and bound, a note across several, or if they are
 * unknown.
 */
static void test_contradiction(void **state)
{
    (void)state;
    char *loud = warning_of(step_fit(planted(6, 1.8, "LLC", "LLC", "compute")));
    assert_true(strncmp(loud, "CONTRADICTION: step over nodes 100-3200: time grows as N^1.80 ± ", 62) == 0);
    assert_non_null(strstr(loud, "FLOPs as N^1.40"));
    assert_non_null(strstr(loud, "(LLC)"));
    assert_non_null(strstr(loud, "costs more than the algorithm predicts"));
    char *slow = warning_of(step_fit(planted(6, 1.0, "LLC", "LLC", "compute")));
    assert_true(strncmp(slow, "CONTRADICTION: ", 15) == 0);
    assert_non_null(strstr(slow, "small sizes have costs"));
    char *across = warning_of(step_fit(planted(6, 1.8, "LLC", "DRAM", "compute")));
    assert_true(strncmp(across, "note: step over nodes", 21) == 0);
    assert_non_null(strstr(across, "the rows are in LLC, DRAM and bound by compute"));
    char *unknown = warning_of(step_fit(planted(6, 1.8, NULL, NULL, NULL)));
    assert_true(strncmp(unknown, "note: ", 6) == 0);
    assert_non_null(strstr(unknown, "not known without a roofline"));
    free(loud);
    free(slow);
    free(across);
    free(unknown);
}

/* Memory-bound rows are compared with their bytes, which grow as N here. */
static void test_memory_bound(void **state)
{
    (void)state;
    struct value *fit = step_fit(planted(6, 1.0, "DRAM", "DRAM", "memory"));
    assert_string_equal(text_in(fit, "work"), "bytes");
    assert_true(fabs(real_in(fit, "work_exponent") - 1) < 1e-6);
    assert_string_equal(text_in(fit, "verdict"), "agrees");
    value_free(fit);
}

/* A common bend in time and work does not widen the interval of their difference. */
static void test_bent_alike(void **state)
{
    (void)state;
    struct rows *rows = rows_new();
    for (int i = 0; i < 6; i++) {
        struct row *row = planted_row(i, 1, "LLC", "compute");
        double nodes = 100 * pow(2, i), flops = 1e6 * nodes + 1e3 * nodes * nodes, seconds = flops / 1e11;
        row_set_count(row, "step.flops.analytic", (int64_t)flops);
        set_equal_turns(row, "step.time", seconds);
        rows_append(rows, row);
    }
    struct value *fit = step_fit(rows);
    assert_true(real_in(fit, "exponent_high") - real_in(fit, "exponent_low") > .1);
    assert_true(real_in(fit, "excess_high") - real_in(fit, "excess_low") < 1e-6);
    assert_string_equal(text_in(fit, "verdict"), "agrees");
    assert_string_equal(text_in(fit, "law"), "N + N^2");
    assert_true(fabs(coefficient(fit, 0) / 1e-5 - 1) < 1e-4);
    assert_true(fabs(coefficient(fit, 1) / 1e-8 - 1) < 1e-4);
    value_free(fit);
}

static void test_too_few_points(void **state)
{
    (void)state;
    struct value *two = step_fit(planted(2, 1.8, "LLC", "LLC", "compute"));
    assert_true(fabs(real_in(two, "exponent") - 1.8) < .1);
    assert_null_because(two, "exponent_low", "needs 3 values of the axis");
    assert_null_because(two, "verdict", "needs 3 values of the axis");
    assert_null_because(two, "law", "needs 4 values of the axis");
    struct value *three = step_fit(planted(3, 1.8, "LLC", "LLC", "compute"));
    assert_true(real_in(three, "exponent_low") < 1.8);
    assert_null_because(three, "law", "needs 4 values of the axis");
    struct rows *one = planted(1, 1.8, "LLC", "LLC", "compute");
    struct value *none = fits_of(one);
    assert_int_equal(value_size(none), 0);
    char *text = written(fits_print, none);
    assert_string_equal(text, "");
    free(text);
    text = warning_of(two);
    assert_string_equal(text, "");
    free(text);
    value_free(three);
    rows_free(one);
    value_free(none);
}

/* If an axis (threads) does not change the work, times are not compared with it. */
static void test_work_that_does_not_change(void **state)
{
    (void)state;
    struct rows *rows = rows_new();
    for (int threads = 1; threads <= 8; threads *= 2) {
        struct row *row = planted_row(3, 1, "LLC", "compute");
        double seconds = .01 / threads;
        row_set_count(row, "threads", threads);
        set_equal_turns(row, "step.time", seconds);
        rows_append(rows, row);
    }
    struct value *fit = step_fit(rows);
    assert_true(fabs(real_in(fit, "exponent") + 1) < 1e-9);
    assert_null_because(fit, "work_exponent", "the work does not change");
    assert_null_because(fit, "verdict", "the work does not change");
    value_free(fit);
}

/* Two axes and failed rows: one fit per axis and value of the other, from rows that are ok. */
static void test_combinations(void **state)
{
    (void)state;
    struct rows *rows = rows_new();
    for (int layers = 1; layers <= 2; layers++) {
        for (int i = 0; i < 4; i++) {
            struct row *row = planted_row(i, 1.4, "LLC", "compute");
            row_set_count(row, "layers", layers);
            rows_append(rows, row);
        }
        rows_append(rows, failed_row(5000, "oom", "needs 17 GiB"));
    }
    struct value *fits = fits_of(rows);
    assert_int_equal(value_size(fits), 2 * (2 + 4)); /* programs; layers, nodes; layers at each size */
    char *text = written(fits_print, fits);
    assert_non_null(strstr(text, "  step, 1 layer over nodes 100-800: N^1.4"));
    assert_non_null(strstr(text, "  forward, 2 layers over nodes 100-800: N^"));
    assert_null(strstr(text, "over layers")); /* two values: no interval */
    free(text);
    value_free(fits);
    rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_is_there),
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_memory_bound),
        cmocka_unit_test(test_bent_alike),
        cmocka_unit_test(test_too_few_points),
        cmocka_unit_test(test_work_that_does_not_change),
        cmocka_unit_test(test_combinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
