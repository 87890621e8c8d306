/* Tables of rows: columns, notes and the status, on a terminal of 100 columns and as Markdown. */
#include "analysis/tables/kernel_table.h"
#include "analysis/tables/table.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "tests/files.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* What a table prints of these rows, with these columns, null-terminated. To be freed. */
static char *printed(enum table_style style, const struct rows *rows, const char *const *columns, bool all)
{
    char *text;
    size_t size;
    struct table_line lines[8] = {{.row = NULL}};
    struct table t = {.out = open_memstream(&text, &size), .style = style, .all = all};
    t.axes_count = axes_varying(rows, t.axes);
    for (; columns[t.count]; t.count++)
        t.columns[t.count] = columns[t.count];
    for (size_t i = 0; i < rows_count(rows); i++)
        lines[i].row = rows_at(rows, i);
    table_print(&t, lines, rows_count(rows));
    fclose(t.out);
    return text;
}

/* The usual columns, on a terminal. */
static char *terminal_table(const struct rows *rows)
{
    return printed(TABLE_TERMINAL, rows, table_usual, false);
}

static void test_terminal_table(void **state)
{
    (void)state;
    struct rows *rows = rows_of(good_row(100), good_row(2000), failed_row(5000, "oom", "needs 17 GiB"));
    char *text = terminal_table(rows), *rest = text, *line;
    size_t status_at = 0, lines = 0;
    while (lines < 4 && (line = strsep(&rest, "\n")) != NULL) {
        static const char *const expected[] = {"status", "ok", "ok", "oom: needs 17 GiB"};
        char *status = strstr(line, expected[lines]);
        assert_non_null(status);
        *status = '\0';
        if (lines == 0)
            status_at = units_width(line);
        assert_int_equal(units_width(line), status_at); /* columns are aligned */
        assert_true(units_width(line) <= SCREEN);
        lines++;
    }
    assert_int_equal(lines, 4);
    free(text);
    rows_free(rows);
}

/* A single sample has no interval, rather than one of width 0. */
static void test_table_of_single_samples(void **state)
{
    (void)state;
    const double seconds = 0.39786;
    struct rows *rows = rows_of(good_row(100), NULL, NULL);
    struct row *row = rows_at(rows, 0);
    char *many = terminal_table(rows);
    row_set_samples(row, "forward.time", &seconds, 1);
    row_set_samples(row, "step.time", &seconds, 1);
    char *one = terminal_table(rows);
    assert_non_null(strstr(many, "["));
    assert_null(strstr(one, "["));
    assert_non_null(strstr(one, " ~398 ms "));
    free(many);
    free(one);
    rows_free(rows);
}

static void test_markdown_table(void **state)
{
    (void)state;
    struct rows *rows = rows_of(good_row(100), failed_row(5000, "failed", "a | b\nc"), NULL);
    char *text = printed(TABLE_MARKDOWN, rows, table_usual, false), *rest = text, *line;
    size_t lines = 0;
    while ((line = strsep(&rest, "\n")) && *line) {
        size_t bars = 0;
        for (const char *c = line; *c; c++)
            bars += *c == '|' && (c == line || c[-1] != '\\');
        assert_int_equal(bars, 9); /* eight columns: nothing was executed */
        assert_int_equal(line[strlen(line) - 1], '|');
        lines++;
    }
    assert_int_equal(lines, 4);
    free(text);
    rows_free(rows);
}

/* The lines of a text are no wider than the screen. */
static void assert_fits(char *text)
{
    for (char *line, *rest = text; (line = strsep(&rest, "\n")) != NULL;)
        if (units_width(line) > SCREEN)
            fail_msg("%zu columns: %s", units_width(line), line);
}

/* Columns that fit, without empty ones; long reasons are wrapped, and what was left out is named. */
static void test_table_on_a_screen(void **state)
{
    (void)state;
    struct row *even = good_row(100);
    set_equal_turns(even, "forward.time", 0.0126);
    set_equal_turns(even, "step.time", 0.0448);
    struct rows *rows = rows_of(even, NULL, NULL);
    char *text = terminal_table(rows);
    assert_string_equal(text, "      forward  GFLOP/s           step  GFLOP/s  step mem   step work  status\n"
                              "12.6 ± 0.0 ms     55.0  44.8 ± 0.0 ms     46.5  55.5 MiB  2.08 GFLOP  ok\n");
    free(text);
    rows_append(rows, good_row(2000));
    rows_append(rows, failed_row(5000, "oom",
                                 "needs 17.2 GiB for the step and its gradients, and 12 GiB are "
                                 "free: --mem-limit, or a smaller graph"));
    text = terminal_table(rows);
    assert_string_equal(
        text,
        "nodes            forward  GFLOP/s                 step  GFLOP/s  step mem  status\n"
        "  100      12.6 ± 0.0 ms     55.0        44.8 ± 0.0 ms     46.5  55.5 MiB  ok\n"
        " 2000  693 [631, 755] ms     55.0  2.46 [2.24, 2.68] s     46.5   167 MiB  ok\n"
        " 5000                  -        -                    -        -         -  oom: needs 17.2 GiB for\n"
        "        the step and its gradients, and 12 GiB are free: --mem-limit, or a smaller graph\n"
        "not shown: step.flops.analytic (--columns)\n");
    assert_fits(text);
    free(text);
    rows_free(rows);
}

/* A rate above the ceiling is marked, and the reason stands below the table. */
static void test_rate_above_the_ceiling(void **state)
{
    (void)state;
    static const char *const columns[] = {"kernel.roofline.percent", "kernel.cold.percent",
                                          "step.roofline.percent", NULL};
    struct rows *rows = rows_of(good_row(100), good_row(2000), NULL);
    row_set_real(rows_at(rows, 0), "kernel.roofline.percent", 99.9);
    row_set_text(rows_at(rows, 0), "kernel.roofline.fault", "");
    row_set_real(rows_at(rows, 1), "kernel.roofline.percent", 112);
    row_set_text(rows_at(rows, 1), "kernel.roofline.fault", "above the bandwidth of DRAM: ops");
    row_set_real(rows_at(rows, 1), "kernel.cold.percent", 103);
    row_set_real(rows_at(rows, 1), "step.roofline.percent", 107);
    row_set_text(rows_at(rows, 1), "step.roofline.fault", "above the bandwidth of DRAM: ops");
    char *text = printed(TABLE_TERMINAL, rows, columns, false);
    assert_non_null(strstr(text, "99.9 %   "));
    assert_non_null(strstr(text, "112 %¹"));
    assert_non_null(strstr(text, "103 %²"));
    assert_non_null(strstr(text, "107 %¹"));
    assert_non_null(strstr(text, "\n¹ above the bandwidth of DRAM: ops\n² above the ceiling of DRAM: "));
    free(text);
    rows_free(rows);
}

/* A cell that needs an explanation has a mark, and the note is below the table, once. */
static void test_notes(void **state)
{
    (void)state;
    static const char *const columns[] = {"step", "step.flops", "forward.flops", NULL};
    struct rows *rows = rows_of(good_row(100), good_row(2000), NULL);
    for (size_t i = 0; i < 2; i++) {
        struct row *row = rows_at(rows, i);
        row_set_count(row, "step.flops.executed", 1000000000);
        row_set_text(row, "step.flops.source", "callgrind: avx2, 1 thread (timed: avx512, 2)");
        row_set_count(row, "forward.flops.executed", 500000000);
        row_set_text(row, "forward.flops.source", "hardware counters: avx512, 2 threads as timed");
    }
    char *text = printed(TABLE_TERMINAL, rows, columns, false);
    assert_string_equal(text, "nodes                  step  executed  executed  status\n"
                              "  100  44.8 [40.7, 48.8] ms   0.481x¹    0.722x  ok\n"
                              " 2000   2.46 [2.24, 2.68] s   0.009x¹    0.013x  ok\n"
                              "¹ executed FLOPs: callgrind: avx2, 1 thread (timed: avx512, 2)\n");
    free(text);
    rows_free(rows);
}

/* Any field of the schema can be a column, with its unit; those asked for are shown even if empty. */
static void test_any_column(void **state)
{
    (void)state;
    struct rows *rows = rows_of(good_row(100), good_row(2000), NULL);
    for (size_t i = 0; i < schema_fields_count; i++) {
        const char *columns[] = {schema_fields[i].path, NULL};
        char *text = printed(TABLE_TERMINAL, rows, columns, true);
        assert_non_null(strstr(text, i == schema_fields_count ? "" : "status\n"));
        free(text);
    }
    static const char *const some[] = {"step.time.p95",     "step.memory.resident",
                                       "step.time.samples", "step.time.cpu",
                                       "encoding.method",   "loss",
                                       "graph.edges",       NULL};
    struct row *row = rows_at(rows, 0);
    row->step.time.samples = row_keep_items(row, (union item[]){{0.5}, {1.5}}, 2, FIELD_REALS);
    rows_at(rows, 0)->step.time.cpu = 1.5;
    rows_at(rows, 1)->step.time.cpu = NAN;
    char *text = printed(TABLE_TERMINAL, rows, some, true);
    assert_string_equal(
        text,
        "nodes  step.time.p95  step.memory.resident  step.time.samples     cpu  method  loss  edges  status\n"
        "  100              -              97.3 MiB           2 values  75.0 %       -  0.25    500  ok\n"
        " 2000              -               224 MiB          10 values       -       -  0.25  10000  ok\n");
    free(text);
    rows_free(rows);
}

/* A table of the row. To be freed. */
static char *line_of(const struct row *row)
{
    char *text;
    size_t size;
    struct table t = {.out = open_memstream(&text, &size),
                      .style = TABLE_TERMINAL,
                      .count = 2,
                      .columns = {"forward", "step"}};
    table_print(&t, &(struct table_line){.row = row}, 1);
    fclose(t.out);
    notes_free(&t.notes);
    return text;
}

/* Noisy times are marked, and one line says why; the status has a mark if turns were left out. */
static void test_noisy_times(void **state)
{
    (void)state;
    double samples[10];
    struct turn turns[10];
    struct row *row = good_row(500);
    char *line = line_of(row);
    assert_null(strstr(line, "~"));
    assert_null(strstr(line, "¹"));
    free(line);
    for (int i = 0; i < 10; i++) {
        double ping = i % 5 == 4 ? 5.7e-7 : i % 5 == 3 ? 5.6e-7 : 1.4e-7;
        samples[i] = i % 5 >= 3 ? 2 : 1 + 0.001 * i;
        turns[i] = (struct turn){1, {{ping, NAN}}, {{ping, NAN}}};
    }
    struct turns t = {10, turns, samples};
    struct states states = states_find(turns, 10);
    struct reported r = reported_choose(&t, &states);
    row_set_samples(row, "forward.time", samples, 7);
    row_set_times(row, "step.time", &t, &r);
    line = line_of(row);
    const char *first = strstr(line, "~1.0"), *why = strstr(line, "\n~ no basis for a verdict, ");
    assert_true(first && why && !strstr(first + 2, "~1.0"));
    assert_non_null(strstr(why, "6 of 10"));
    assert_non_null(strstr(line, " ok¹\n"));
    free(line);
    row_set_times(row, "forward.time", &t, &r);
    line = line_of(row);
    first = strstr(line, "~1.0");
    assert_non_null(strstr(first + 2, "~1.0"));
    assert_non_null(strstr(line, "7; ...\n"));
    free(line);
    reported_free(&r);
    row_free(row);
}

/* A kernel of an op with a median, an interval of 2 % and a share of its roofline; share 0: not known. */
static struct row *timed_kernel(const char *op, const char *variant, double seconds, double share)
{
    struct row *row = good_row(100);
    double samples[10];
    for (int i = 0; i < 10; i++)
        samples[i] = seconds * (0.991 + 0.002 * i);
    row_set_text(row, "op", op);
    row_set_text(row, "variant", variant);
    row_set_samples(row, "kernel.time", samples, 10);
    if (share > 0)
        row_set_real(row, "kernel.roofline.percent", share);
    return row;
}

/* What kernel_table_print prints of these rows. To be freed. */
static char *kernel_table(const struct rows *rows, const char *blas)
{
    char *text;
    size_t size, n = rows_count(rows);
    struct table_line *lines = calloc(n + 1, sizeof *lines);
    struct table t = {.out = open_memstream(&text, &size),
                      .axes_count = 2,
                      .axes = {schema_find("op"), schema_find("variant")},
                      .count = 2,
                      .columns = {"kernel", "kernel.roofline.percent"},
                      .blas = blas};
    for (size_t i = 0; i < n; i++)
        lines[i].row = rows_at(rows, i);
    kernel_table_print(&t, lines, n);
    fclose(t.out);
    free(lines);
    return text;
}

/* 30 ops, each with two kernels: what is worth a look, and why. */
static void test_kernels_worth_a_look(void **state)
{
    (void)state;
    struct rows *rows = rows_of(NULL, NULL, NULL);
    for (int i = 0; i < 30; i++) {
        char op[16];
        snprintf(op, sizeof op, "op%02d", i);
        rows_append(rows, timed_kernel(op, "simd", 1e-3, i == 7 ? 0 : 90 - i));
        rows_append(rows, timed_kernel(op, "ref", i == 3 ? 0.5e-3 : i == 4 ? 0.995e-3 : 2e-3, 1));
    }
    char *text = kernel_table(rows, NULL);
    assert_int_equal(lines_of(text), 1 + 1 + 20 + 1 + 1 + 1 + 1);
    assert_non_null(strstr(text, "default kernels furthest from their roofline, 20 of 29\n"));
    assert_non_null(strstr(text, "op29     simd"));
    assert_true(strstr(text, "op29 ") < strstr(text, "op28 ") && !strstr(text, "op09") &&
                !strstr(text, "op07"));
    assert_non_null(strstr(text, "and defaults slower than another, 1 of 1\n")); /* op04: intervals overlap */
    assert_non_null(strstr(text, "op03    simd  1.00 ms          ref  2.00x\n60 rows in all: --all\n"));
    free(text);
    row_set_text(rows_at(rows, 1), "status", "wrong");
    row_set_text(rows_at(rows, 1), "reason", "y: the error");
    rows_append(rows, timed_kernel("op00", "steps", 5e-3, 0));
    rows_append(rows, timed_kernel("op01", "blas", 0.2e-3, 70));
    row_omit(rows_at(rows, 7), "kernel.time.ci95_high", "too few");
    text = kernel_table(rows, "chosen for Prescott");
    const char *wrong = strstr(text, "wrong: y: the error");
    assert_true(wrong && wrong < strstr(text, "op29 "));
    assert_non_null(strstr(text, "slower than another, 2 of 2\n"));
    assert_non_null(strstr(text, "op01    simd  1.00 ms         blas  5.00x\n"));
    assert_non_null(strstr(text, "op00   steps  5.00 ms          ref  2.50x\n"));
    assert_null(strstr(text, "op03    simd"));
    assert_fits(text);
    free(text);
    rows_free(rows);
}

/* Few kernels are all shown, and so are those without a share; a note stands beside those of a BLAS. */
static void test_few_kernels(void **state)
{
    (void)state;
    struct rows *rows =
        rows_of(timed_kernel("linear", "simd", 1e-3, 50), timed_kernel("linear", "blas", 1e-4, 90), NULL);
    char *text = kernel_table(rows, "chosen for Prescott");
    assert_non_null(strstr(text, "linear    blas¹  "));
    assert_non_null(strstr(text, "\n¹ chosen for Prescott\n"));
    free(text);
    for (int i = 0; i < 30; i++)
        rows_append(rows, timed_kernel("copy", "ref", 1e-3, 0));
    row_omit(rows_at(rows, 0), "kernel.roofline.percent", "--no-roofline");
    row_omit(rows_at(rows, 1), "kernel.roofline.percent", "--no-roofline");
    text = kernel_table(rows, NULL);
    assert_int_equal(lines_of(text), 1 + 32);
    free(text);
    rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noisy_times),
        cmocka_unit_test(test_terminal_table),
        cmocka_unit_test(test_table_of_single_samples),
        cmocka_unit_test(test_markdown_table),
        cmocka_unit_test(test_table_on_a_screen),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_kernels_worth_a_look),
        cmocka_unit_test(test_few_kernels),
        cmocka_unit_test(test_rate_above_the_ceiling),
        cmocka_unit_test(test_any_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
