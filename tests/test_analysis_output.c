/* Output for people and programs: numbers with units, CSV, the schema, axes. Tables are in test_tables.c. */
#include "analysis/record/axes.h"
#include "analysis/record/slices.h"
#include "analysis/tables/csv.h"
#include "analysis/tables/units.h"
#include "bench/cli/axes.h"
#include "tests/schema_page.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

TEST(test_units)
{
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
TEST(test_intervals)
{
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

/* Where the locale has no UTF-8; none that is set is taken for one that has. */
TEST(test_ascii)
{
    static const char *const locales[][2] = {
        {"C", "3.21 +- 0.01 us"}, {"de_DE.ISO-8859-1", "3.21 +- 0.01 us"}, {"C.utf8", "3.21 ± 0.01 µs"}};
    const char *before = getenv("LC_ALL");
    char text[UNITS_TEXT], *kept = before ? strdup(before) : NULL;
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        assert_int_equal(setenv("LC_ALL", locales[i][0], 1), 0);
        units_format_interval(text, 3.21e-6, 3.2e-6, 3.22e-6, "s");
        assert_string_equal(text, locales[i][1]);
    }
    if (kept)
        setenv("LC_ALL", kept, 1);
    else
        unsetenv("LC_ALL");
    free(kept);
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

TEST(test_csv)
{
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
    assert_string_equal(cell, "");
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

static bool is_axis(const char *path)
{
    int a = 0;
    while (a < AXES && strcmp(axis_info((enum axis)a)->field, path) != 0)
        a++;
    return a < AXES;
}

/* Every description occurs, apart from those of axes, and those shared by programs once. */
TEST(test_schema_as_markdown)
{
    char *text = printed(print_schema, NULL);
    for (size_t i = 0; i < schema_fields_count; i++)
        assert_true(is_axis(schema_fields[i].path) || strstr(text, schema_fields[i].meaning));
    assert_null(strstr(text, "| `nodes` |"));
    for (size_t i = 0; i < schema_head_count; i++)
        assert_non_null(strstr(text, schema_head[i].meaning));
    assert_non_null(strstr(text, "| `T.median` | s |"));
    assert_null(strstr(text, "step.time.median"));
    assert_non_null(strstr(text, "| `S.flops` | FLOP |"));
    assert_non_null(strstr(text, "| `step.model_gflops` | GFLOP/s |"));
    free(text);
}

TEST(test_axes)
{
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
    axes_describe_span(schema_find("layers"), 1, "to", 16, text);
    assert_string_equal(text, "1 to 16 layers");
    axes_describe_span(schema_find("hidden"), 64, "and", 512,
                       text); /* a name, which no number makes singular */
    assert_string_equal(text, "hidden size 64 and 512");
    axes_describe_number(schema_find("batch"), 1, text);
    assert_string_equal(text, "batch size 1");
    axes_describe(second, schema_find("norm"), text);
    assert_string_equal(text, "layer norm");
    row_set_text(second, "attention", "none");
    axes_describe(second, schema_find("attention"), text);
    assert_string_equal(text, "no attention");
    axes_describe(second, schema_find("seed"), text);
    assert_string_equal(text, "seed 42");
    rows_free(rows);
}

/* Along nodes, dense rows apart from sparse ones; with attention free all together; each in the order asked
 * for. */
TEST(test_slices)
{
    static const char *const attention[] = {"dense", "sparse", "dense", "dense"};
    static const int64_t nodes[] = {500, 100, 100, 100};
    const char *const any[] = {"attention", NULL};
    struct rows *rows = rows_new();
    char name[AXES_TEXT];
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct row *row = good_row(nodes[i]);
        row_set_text(row, "attention", attention[i]);
        rows_append(rows, row);
    }
    struct slices s = slices_of(rows, schema_find("nodes"), NULL);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.list[0].count, 3);
    assert_int_equal(s.list[0].first, 0);
    assert_int_equal(s.list[0].rows[0].index, 2);
    assert_int_equal(s.list[0].rows[1].index, 3);
    assert_int_equal(s.list[0].rows[2].index, 0);
    assert_int_equal(s.of[1], 1);
    slice_name(&s, slice_with(&s, rows_at(rows, 1)), name);
    assert_string_equal(name, "sparse attention");
    slices_free(&s);
    s = slices_of(rows, schema_find("nodes"), any);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.list[0].rows[0].index, 1);
    slices_free(&s);
    s = slices_of(rows, NULL, any);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.list[1].rows[0].index, 1);
    slices_free(&s);
    rows_free(rows);
}
