/* What people and programs read: numbers with units, tables, CSV, charts. */
#include "analysis/chart.h"
#include "analysis/csv.h"
#include "analysis/table.h"
#include "analysis/ticks.h"
#include "analysis/units.h"
#include "tests/test_analysis_rows.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
    units_format_interval(text, 0.0123, 0.00004, "s");
    assert_string_equal(text, "12.30 ± 0.04 ms");
    units_format_interval(text, 0.0123, 0.0012, "s");
    assert_string_equal(text, "12.3 ± 1.2 ms");
    units_format_interval(text, 0.123, 0.050, "s");
    assert_string_equal(text, "123 ± 50 ms");
    units_format_interval(text, 2, NAN, "s");
    assert_string_equal(text, "2.00 s");
    assert_int_equal(units_width("1 ± 2 µs"), 8);
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
    assert_int_equal(ticks_at(sizes, 5, 90, 2200, ticks), 3); /* 1010 is too near to 1000 */
    assert_true(ticks[0] == 100 && ticks[1] == 1000 && ticks[2] == 2000);
    const double numbers[] = {500, 1000, 1500, 1024, 2e6};
    const char *const labels[] = {"500", "1k", "1.5k", "1024", "2M"};
    for (size_t i = 0; i < 5; i++) {
        ticks_label(text, numbers[i]);
        assert_string_equal(text, labels[i]);
    }
}

/* What `print` writes for a row; the caller frees it. */
static char *printed(void (*print)(FILE *out, const json_t *row), const json_t *row)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print(out, row);
    fclose(out);
    return text;
}

static void print_header(FILE *out, const json_t *row)
{
    (void)row;
    csv_header(out);
}

static void print_csv(FILE *out, const json_t *row)
{
    csv_row(out, row);
}

/* The column of a line of CSV, quotes left as they are; "" beyond the last one. */
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
    json_t *row = good_row(500);
    row_set_count(row, "step.flops.analytic", INT64_MAX);
    row_set_samples(row, "step.time", samples, 3);
    row_set_text(row, "device", "cpu, \"fast\"");
    char *header = printed(print_header, NULL), *line = printed(print_csv, row);

    assert_int_equal(strncmp(header, "status,reason,work,model,", 25), 0);
    for (size_t i = 0; i < schema_fields_count; i++) {
        column(header, i, cell, sizeof cell);
        assert_string_equal(cell, schema_fields[i].path);
    }
    column(line, column_of("status"), cell, sizeof cell);
    assert_string_equal(cell, "ok");
    column(line, column_of("reason"), cell, sizeof cell);
    assert_string_equal(cell, "\"\""); /* the empty text, not null */
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
    json_decref(row);
}

static void print_schema(FILE *out, const json_t *row)
{
    (void)row;
    schema_write_markdown(out);
}

/* Every meaning stands there, those that programs share once. */
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

static void print_table(FILE *out, enum table_style style, const json_t *rows)
{
    struct table t = {out, style, 0, {NULL}};
    t.axes_count = axes_varying(rows, t.axes);
    table_header(&t);
    for (size_t i = 0; i < json_array_size(rows); i++)
        table_row(&t, json_array_get(rows, i));
}

static void print_terminal(FILE *out, const json_t *rows)
{
    print_table(out, TABLE_TERMINAL, rows);
}

static void print_markdown(FILE *out, const json_t *rows)
{
    print_table(out, TABLE_MARKDOWN, rows);
}

static void test_terminal_table(void **state)
{
    (void)state;
    json_t *rows =
        json_pack("[o, o, o]", good_row(100), good_row(2000), failed_row(5000, "oom", "needs 17 GiB"));
    char *text = printed(print_terminal, rows), *rest = text, *line;
    size_t status_at = 0, lines = 0;
    while ((line = strsep(&rest, "\n")) && *line) {
        static const char *const expected[] = {"status", "ok", "ok", "oom: needs 17 GiB"};
        char *status = strstr(line, expected[lines]);
        assert_non_null(status);
        *status = '\0';
        if (lines == 0)
            status_at = units_width(line);
        assert_int_equal(units_width(line), status_at); /* columns stand below each other */
        assert_true(units_width(line) <= 112);
        lines++;
    }
    assert_int_equal(lines, 4);
    free(text);
    json_decref(rows);
}

static void test_markdown_table(void **state)
{
    (void)state;
    json_t *rows = json_pack("[o, o]", good_row(100), failed_row(5000, "failed", "a | b\nc"));
    char *text = printed(print_markdown, rows), *rest = text, *line;
    size_t lines = 0;
    while ((line = strsep(&rest, "\n")) && *line) {
        size_t bars = 0;
        for (const char *c = line; *c; c++)
            bars += *c == '|' && (c == line || c[-1] != '\\');
        assert_int_equal(bars, 10); /* nine columns */
        assert_int_equal(line[strlen(line) - 1], '|');
        lines++;
    }
    assert_int_equal(lines, 4);
    free(text);
    json_decref(rows);
}

static void test_axes(void **state)
{
    (void)state;
    const struct field *varying[AXES_MAX];
    char text[AXES_TEXT];
    json_t *rows = json_pack("[o, o]", good_row(100), good_row(100));
    json_t *second = json_array_get(rows, 1);
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
    axes_describe(second, schema_find("seed"), text);
    assert_string_equal(text, "seed 42");
    json_decref(rows);
}

struct place {
    char directory[64], prefix[96];
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->directory, sizeof p->directory, "/tmp/gtmark-chart-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    snprintf(p->prefix, sizeof p->prefix, "%s/it's", p->directory); /* a quote, which scripts must survive */
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    char pattern[96];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*", p->directory);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
        globfree(&found);
    }
    int result = rmdir(p->directory);
    free(p);
    return result;
}

static json_t *record_to_draw(void)
{
    char error[MESSAGE_SIZE];
    json_t *record = empty_record();
    const int64_t sizes[] = {1000, 100, 500};
    for (size_t i = 0; i < 3; i++)
        assert_true(record_add(record, good_row(sizes[i]), error));
    assert_true(record_add(record, failed_row(5000, "oom", "needs 17 GiB"), error));
    return record;
}

/* The file's content, or null; the caller frees it. */
static char *content(const struct place *p, const char *end)
{
    char path[128], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s%s", p->prefix, end);
    FILE *f = fopen(path, "r");
    if (f && getdelim(&text, &size, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

static bool on_path(const char *program)
{
    char directories[4096], *rest = directories, *directory, path[4200];
    snprintf(directories, sizeof directories, "%s", getenv("PATH") ? getenv("PATH") : "");
    while ((directory = strsep(&rest, ":"))) {
        snprintf(path, sizeof path, "%s/%s", directory, program);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static void test_charts_are_drawn(void **state)
{
    const struct place *p = *state;
    static const char *const charts[] = {"_time", "_memory", "_flops"};
    char message[MESSAGE_SIZE];
    if (!on_path("gnuplot"))
        skip();
    json_t *record = record_to_draw();
    if (chart_draw(record, NULL, NULL, p->prefix, message) != CHART_DRAWN)
        fail_msg("%s", message);
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        struct stat picture;
        snprintf(path, sizeof path, "%s%s.png", p->prefix, charts[i]);
        assert_int_equal(stat(path, &picture), 0);
        assert_true(picture.st_size > 20000);
        snprintf(path, sizeof path, "%s.svg", charts[i]);
        char *svg = content(p, path);
        assert_non_null(svg);
        assert_non_null(strstr(svg, "left out: 5000 nodes (oom)"));
        assert_non_null(strstr(svg, "graph_transformer"));
        assert_non_null(strstr(svg, "</svg>"));
        free(svg);
    }
    json_decref(record);
}

static void test_chart_scripts_say_what_was_found(void **state)
{
    const struct place *p = *state;
    char message[MESSAGE_SIZE];
    json_t *record = record_to_draw();
    for (size_t i = 0; i < 3; i++) { /* an exact law: 1 ms at 100 nodes, growing as N^1.5 */
        json_t *row = json_array_get(json_object_get(record, "rows"), i);
        double nodes = 0;
        row_get_real(row, "nodes", &nodes);
        const double seconds = 1e-6 * pow(nodes, 1.5);
        row_set_samples(row, "step.time", &seconds, 1);
    }
    chart_draw(record, schema_find("nodes"), NULL, p->prefix, message);
    char *script = content(p, "_time.gp");
    assert_non_null(script);
    assert_non_null(strstr(script, "title = 'Training step time grows as N^{1.5}: 1.00 ms at 100 nodes, "
                                   "31.6 ms at 1000 nodes'"));
    assert_non_null(strstr(script, "label[1] = 'step, N^{1.50}'"));
    assert_non_null(strstr(script, "('100' 100, '500' 500, '1k' 1000)"));
    assert_non_null(strstr(script, "subtitle = 'AMD EPYC 7B13, graph_transformer, f32, cpu, 2 threads'"));
    free(script);
    json_decref(record);
}

static void test_charts_by_combination(void **state)
{
    const struct place *p = *state;
    char message[MESSAGE_SIZE];
    json_t *record = record_to_draw();
    json_t *more = record_to_draw();
    for (size_t i = 0; i < 3; i++) {
        json_t *row = json_array_get(json_object_get(more, "rows"), i);
        row_set_text(row, "act", "gelu_tanh");
        json_array_append(json_object_get(record, "rows"), row);
    }
    chart_draw(record, NULL, NULL, p->prefix, message);
    char *script = content(p, "_time.gp");
    assert_non_null(script);
    assert_non_null(strstr(script, "series = 4\n"));
    assert_non_null(strstr(script, "= 'step, gelu, N^{"));
    assert_non_null(strstr(script, "= 'forward, gelu\\_tanh, N^{")); /* no subscript */
    free(script);
    json_decref(record);
    json_decref(more);
}

static void test_charts_are_skipped(void **state)
{
    const struct place *p = *state;
    char message[MESSAGE_SIZE], path[4096];
    json_t *record = record_to_draw(), *nothing = empty_record();
    assert_int_equal(chart_draw(nothing, NULL, NULL, p->prefix, message), CHART_SKIPPED);
    assert_int_equal(chart_draw(record, schema_find("act"), NULL, p->prefix, message), CHART_SKIPPED);
    assert_non_null(strstr(message, "act is not a number"));
    assert_int_equal(chart_draw(record, NULL, "/nonexistent", p->prefix, message), CHART_SKIPPED);
    assert_int_equal(chart_draw(record, NULL, NULL, "/nonexistent/x", message), CHART_FAILED);
    assert_non_null(strstr(message, "/nonexistent/x_time.gp"));

    snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(chart_draw(record, NULL, NULL, p->prefix, message), CHART_SKIPPED);
    setenv("PATH", path, 1);
    assert_string_equal(message, "charts skipped: gnuplot is not installed");
    json_decref(record);
    json_decref(nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_schema_as_markdown),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_terminal_table),
        cmocka_unit_test(test_markdown_table),
        cmocka_unit_test_setup_teardown(test_charts_are_drawn, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_chart_scripts_say_what_was_found, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_charts_by_combination, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_charts_are_skipped, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
