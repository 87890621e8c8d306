/* Output for people and programs: numbers with units, tables, CSV. */
#include "analysis/charts/ticks.h"
#include "analysis/tables/csv.h"
#include "analysis/tables/table.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "tests/test_analysis_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_units(void **state)
{
    (void)state;
    char text[UNITS_TEXT];
    const struct {
        double value;
        enum unit_base base;
        const char *unit, *expected;
    } known[] = {
        {0.0123456, UNITS_SI, "s", "12.3 ms"},
        {0.9999, UNITS_SI, "s", "1.00 s"},
        {0.99949, UNITS_SI, "s", "999 ms"},
        {3.21e-6, UNITS_SI, "s", "3.21 µs"},
        {1234e9, UNITS_SI, "FLOP", "1.23 TFLOP"},
        {0, UNITS_SI, "s", "0.00 s"},
        {512, UNITS_BINARY, "B", "512 B"},
        {1536, UNITS_BINARY, "B", "1.50 KiB"},
        {17.0 * 1073741824, UNITS_BINARY, "B", "17.0 GiB"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        units_format(text, known[i].value, known[i].base, known[i].unit);
        assert_string_equal(text, known[i].expected);
    }
    assert_int_equal(units_width("1 ± 2 µs"), 8);
}

/* Three digits of the median always; "±" only if the interval is narrow and symmetric. */
static void test_intervals(void **state)
{
    (void)state;
    const struct {
        double value, low, high;
        const char *expected;
    } known[] = {
        {24.17e-3, 24.1e-3, 24.24e-3, "24.2 ± 0.1 ms"},
        {12.3e-3, 12.3e-3, 12.3e-3, "12.3 ± 0.0 ms"},
        {5.15e-3, 5.148e-3, 5.151e-3, "5.15 ± 0.01 ms"}, /* rounded up to the last digit */
        {5.15e-3, 5.12e-3, 5.18e-3, "5.15 ± 0.03 ms"},   /* and no further */
        {198e-3, 190e-3, 206e-3, "198 ± 8 ms"},
        {100e-3, 95e-3, 105e-3, "100 ± 5 ms"}, /* 10 % wide */
        {100e-3, 94.9e-3, 105e-3, "100 [95, 105] ms"},
        {10e-3, 9.9e-3, 10.15e-3, "10.0 ± 0.2 ms"}, /* 1.5 times */
        {10e-3, 9.9e-3, 10.25e-3, "10.0 [9.9, 10.2] ms"},
        {10e-3, 9.99e-3, 10.08e-3, "10.0 ± 0.1 ms"},  /* skewed, but by less than the last digit */
        {1e-3, 0.2e-3, 9e-3, "1.00 [0.20, 9.00] ms"}, /* never 1 ± 8 */
        {198e-3, 150e-3, 1.224, "198 [150, 1224] ms"},
        {999.6e-6, 990e-6, 1.01e-3, "1.00 ± 0.02 ms"}, /* the next unit */
        {999.4e-6, 990e-6, 1.01e-3, "999 ± 11 µs"},
        {9.996e-3, 9.99e-3, 10.01e-3, "10.0 ± 0.1 ms"}, /* and the next digit */
        {999.9e-6, 0.5e-3, 0.1, "1.00 [0.50, 100] ms"},
        {2, NAN, NAN, "2.00 s"},
        {2, 1, INFINITY, "2.00 s"},
        {0, 0, 0, "0.00 ± 0.00 s"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[UNITS_TEXT];
        units_format_interval(text, known[i].value, known[i].low, known[i].high, "s");
        assert_string_equal(text, known[i].expected);
    }
}

static void test_ticks(void **state)
{
    (void)state;
    double ticks[TICKS_MAX];
    char text[UNITS_TEXT];
    const double ranges[][2] = {{1e-3, 2}, {0.5, 0.6}, {100, 101}, {1, 1e15}, {3e-7, 8e-6}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (enum unit_base base = UNITS_SI; base <= UNITS_BINARY; base++) {
            size_t n = ticks_round(ranges[i][0], ranges[i][1], base, ticks);
            assert_in_range(n, 3, 10);
            for (size_t k = 0; k < n; k++) {
                assert_true(ticks[k] >= ranges[i][0] && ticks[k] <= ranges[i][1]);
                assert_true(k == 0 || ticks[k] > ticks[k - 1]);
            }
        }
    const double sizes[] = {2000, 100, 1000, 1010, 100};
    assert_int_equal(ticks_at(sizes, 5, 90, 2200, ticks), 3); /* 1010 is too close to 1000 */
    assert_true(ticks[0] == 100 && ticks[1] == 1000 && ticks[2] == 2000);
    const double numbers[] = {500, 1000, 1500, 1024, 2e6};
    const char *const labels[] = {"500", "1k", "1.5k", "1024", "2M"};
    for (size_t i = 0; i < 5; i++) {
        ticks_label(text, numbers[i]);
        assert_string_equal(text, labels[i]);
    }
}

/* The output of `print` for a row or rows, allocated. */
static char *printed(void (*print)(FILE *out, const void *what), const void *what)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print(out, what);
    fclose(out);
    return text;
}

static void print_header(FILE *out, const void *nothing)
{
    (void)nothing;
    csv_header(out, NULL, 0);
}

static void print_csv(FILE *out, const void *row)
{
    csv_row(out, row, NULL, 0);
}

/* A column of a CSV line, with its quotes; "" beyond the last one. */
static void column(const char *line, size_t wanted, char *value, size_t size)
{
    size_t at = 0, used = 0;
    bool quoted = false;
    for (; *line && *line != '\n' && at <= wanted; line++) {
        quoted ^= *line == '"';
        if (*line == ',' && !quoted)
            at++;
        else if (at == wanted && used + 1 < size)
            value[used++] = *line;
    }
    value[used] = '\0';
}

static size_t column_of(const char *path)
{
    return (size_t)(schema_find(path) - schema_fields);
}

static void test_csv(void **state)
{
    (void)state;
    char cell[4096];
    const double samples[] = {0.5, 0.25, 0.125};
    struct row *row = good_row(500);
    row_set_count(row, "step.flops.analytic", INT64_MAX);
    row_set_samples(row, "step.time", samples, 3);
    row_set_text(row, "device", "cpu, \"fast\"");
    char *header = printed(print_header, NULL), *line = printed(print_csv, row);

    assert_int_equal(strncmp(header, "status,reason,work,", 19), 0);
    for (size_t i = 0; i < schema_fields_count; i++) {
        column(header, i, cell, sizeof cell);
        assert_string_equal(cell, schema_fields[i].path);
    }
    column(line, column_of("status"), cell, sizeof cell);
    assert_string_equal(cell, "ok");
    column(line, column_of("reason"), cell, sizeof cell);
    assert_string_equal(cell, "\"\""); /* an empty string, not null */
    column(line, column_of("device"), cell, sizeof cell);
    assert_string_equal(cell, "\"cpu, \"\"fast\"\"\"");
    column(line, column_of("step.flops.analytic"), cell, sizeof cell);
    assert_string_equal(cell, "9223372036854775807");
    column(line, column_of("step.flops.executed"), cell, sizeof cell);
    assert_string_equal(cell, "");
    column(line, column_of("step.time.samples"), cell, sizeof cell);
    assert_string_equal(cell, "0.5;0.25;0.125");
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    free(header);
    free(line);
    row_free(row);
}

static void print_schema(FILE *out, const void *nothing)
{
    (void)nothing;
    schema_write_markdown(out);
}

/* Every description occurs, those shared by programs once. */
static void test_schema_as_markdown(void **state)
{
    (void)state;
    char *text = printed(print_schema, NULL);
    for (size_t i = 0; i < schema_fields_count; i++)
        assert_non_null(strstr(text, schema_fields[i].meaning));
    for (size_t i = 0; i < schema_head_count; i++)
        assert_non_null(strstr(text, schema_head[i].meaning));
    assert_non_null(strstr(text, "| `P.time.median` | s |"));
    assert_null(strstr(text, "step.time.median"));
    assert_non_null(strstr(text, "| `step.backward.time` | s |"));
    free(text);
}

/* A table with these columns, null-terminated. */
static struct table table_of(FILE *out, enum table_style style, const struct rows *rows,
                             const char *const *columns)
{
    struct table t = {.out = out, .style = style};
    t.axes_count = axes_varying(rows, t.axes);
    while (columns[t.count]) {
        t.columns[t.count] = columns[t.count];
        t.count++;
    }
    return t;
}

static void print_lines(struct table *t, const struct rows *rows)
{
    struct table_line lines[8] = {{.row = NULL}};
    for (size_t i = 0; i < rows_count(rows); i++)
        lines[i].row = rows_at(rows, i);
    table_print(t, lines, rows_count(rows));
}

static void print_table(FILE *out, enum table_style style, const struct rows *rows)
{
    struct table t = table_of(out, style, rows, table_usual);
    print_lines(&t, rows);
}

static void print_terminal(FILE *out, const void *rows)
{
    print_table(out, TABLE_TERMINAL, rows);
}

static void print_markdown(FILE *out, const void *rows)
{
    print_table(out, TABLE_MARKDOWN, rows);
}

static void test_terminal_table(void **state)
{
    (void)state;
    struct rows *rows = rows_of(good_row(100), good_row(2000), failed_row(5000, "oom", "needs 17 GiB"));
    char *text = printed(print_terminal, rows), *rest = text, *line;
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
    char *many = printed(print_terminal, rows);
    row_set_samples(row, "forward.time", &seconds, 1);
    row_set_samples(row, "step.time", &seconds, 1);
    char *one = printed(print_terminal, rows);
    assert_non_null(strstr(many, "["));
    assert_null(strstr(one, "["));
    assert_non_null(strstr(one, " 398 ms "));
    free(many);
    free(one);
    rows_free(rows);
}

static void test_markdown_table(void **state)
{
    (void)state;
    struct rows *rows = rows_of(good_row(100), failed_row(5000, "failed", "a | b\nc"), NULL);
    char *text = printed(print_markdown, rows), *rest = text, *line;
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

/* What a table of two rows prints, the second of which is printed as `line`. */
static char *printed_table(const struct rows *rows, const char *const *columns, bool all)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct table t = table_of(out, TABLE_TERMINAL, rows, columns);
    t.all = all;
    print_lines(&t, rows);
    fclose(out);
    return text;
}

/* Columns that fit, without empty ones; long reasons are wrapped, and what was left out is named. */
static void test_table_on_a_screen(void **state)
{
    (void)state;
    struct row *even = good_row(100);
    set_equal_turns(even, "forward.time", 0.0126);
    set_equal_turns(even, "step.time", 0.0448);
    struct rows *rows = rows_of(even, NULL, NULL);
    char *text = printed_table(rows, table_usual, false);
    assert_string_equal(text, "      forward  GFLOP/s           step  GFLOP/s  step mem   step work  status\n"
                              "12.6 ± 0.0 ms     55.0  44.8 ± 0.0 ms     46.5  55.5 MiB  2.08 GFLOP  ok\n");
    free(text);
    rows_append(rows, good_row(2000));
    rows_append(rows, failed_row(5000, "oom",
                                 "needs 17.2 GiB for the step and its gradients, and 12 GiB are "
                                 "free: --mem-limit, or a smaller graph"));
    text = printed_table(rows, table_usual, false);
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
    char *text = printed_table(rows, columns, false);
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
    char *text = printed_table(rows, columns, false);
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
        char *text = printed_table(rows, columns, true);
        assert_non_null(strstr(text, i == schema_fields_count ? "" : "status\n"));
        free(text);
    }
    static const char *const some[] = {"step.time.p95",
                                       "step.memory.resident",
                                       "step.time.samples",
                                       "encoding.method",
                                       "loss",
                                       "graph.edges",
                                       NULL};
    char *text = printed_table(rows, some, true);
    assert_string_equal(
        text, "nodes  step.time.p95  step.memory.resident  step.time.samples  method  loss  edges  status\n"
              "  100              -              97.3 MiB          10 values       -  0.25    500  ok\n"
              " 2000              -               224 MiB          10 values       -  0.25  10000  ok\n");
    free(text);
    rows_free(rows);
}

static void test_axes(void **state)
{
    (void)state;
    const struct field *varying[AXES_MAX];
    char text[AXES_TEXT];
    struct rows *rows = rows_of(good_row(100), good_row(100), NULL);
    struct row *second = rows_at(rows, 1);
    assert_int_equal(axes_varying(rows, varying), 0);
    assert_string_equal(axes_default(rows)->path, "nodes");
    row_set_text(second, "act", "relu");
    row_set_count(second, "layers", 1);
    assert_int_equal(axes_varying(rows, varying), 2);
    assert_string_equal(axes_default(rows)->path, "layers");
    axes_describe(second, schema_find("layers"), text);
    assert_string_equal(text, "1 layer");
    axes_describe(second, schema_find("norm"), text);
    assert_string_equal(text, "layer norm");
    row_set_text(second, "attention", "none");
    axes_describe(second, schema_find("attention"), text);
    assert_string_equal(text, "no attention");
    axes_describe(second, schema_find("seed"), text);
    assert_string_equal(text, "seed 42");
    rows_free(rows);
}

/* The row as a line of a table. To be freed. */
static char *line_of(const struct row *row)
{
    char *text;
    size_t size;
    struct table t = {.out = open_memstream(&text, &size), .style = TABLE_TERMINAL};
    table_row(&t, &(struct table_line){.row = row});
    fclose(t.out);
    notes_free(&t.notes);
    return text;
}

/* The status names programs without enough turns, and the state of those that left turns out. */
static void test_status_of_turns(void **state)
{
    (void)state;
    double samples[10];
    struct turn turns[10];
    struct row *row = good_row(500);
    char *line = line_of(row);
    assert_null(strstr(line, "noisy"));
    assert_null(strstr(line, "state"));
    free(line);
    for (int i = 0; i < 10; i++) {
        double ping = i % 5 == 4 ? 5.7e-7 : i % 5 == 3 ? 5.6e-7 : 1.4e-7;
        samples[i] = i % 5 >= 3 ? 2 : 1 + 0.001 * i;
        turns[i] = (struct turn){1, {{ping, NAN}}, {{ping, NAN}}};
    }
    struct turns t = {10, turns, samples};
    struct states states = states_find(turns, 10);
    struct reported r = reported_choose(&t, &states);
    row_set_times(row, "step.time", &t, &r);
    reported_free(&r);
    line = line_of(row);
    assert_non_null(strstr(line, "ok, noisy: step, state 140 ns¹"));
    free(line);
    row_free(row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_of_turns),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_schema_as_markdown),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_terminal_table),
        cmocka_unit_test(test_table_of_single_samples),
        cmocka_unit_test(test_markdown_table),
        cmocka_unit_test(test_table_on_a_screen),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_rate_above_the_ceiling),
        cmocka_unit_test(test_any_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
