/*
 * The pages in docs/ agree with the program: their generated sections equal those generated now from ops,
 * schema, axes, shapes and presets, their byte formulas give the bytes that ops count, and every axis sets a
 * field of the rows.
 *
 * GTMARK_UPDATE=1 writes the sections instead. Run from the root of the repository, as `make test` does.
 */
#include "analysis/record/row.h"
#include "analysis/record/schema.h"
#include "bench/audit/operands.h"
#include "bench/row/fields.h"
#include "tests/metrics.h"
#include "tests/sweeps.h"
#include "tests/test.h"

static const char end_marker[] = "<!-- end -->\n";

static char *read_page(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0;
    if (!in || getdelim(&text, &capacity, '\0', in) <= 0)
        fail_msg("%s cannot be read: run the tests from the root of the repository", path);
    fclose(in);
    return text;
}

static char *generated(const struct section *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    s->write(out);
    fclose(out);
    return text;
}

/* The text between a section's markers: its start, and in *end its end. */
static char *section_in(char *page, const char *name, char **end)
{
    char marker[64];
    snprintf(marker, sizeof marker, "<!-- generated: %s -->\n", name);
    char *start = strstr(page, marker);
    if (!start)
        return NULL;
    start += strlen(marker);
    *end = strstr(start, end_marker);
    return *end ? start : NULL;
}

/* The start of the first differing line as an offset in both texts; -1 if there is none. */
static long first_difference(const char *a, size_t length, const char *b)
{
    size_t i = 0, size = strlen(b);
    long line = 0;
    for (; i < length && i < size && a[i] == b[i]; i++)
        if (a[i] == '\n')
            line = (long)i + 1;
    return i == length && i == size ? -1 : line;
}

static int lines_before(const char *page, const char *at)
{
    int lines = 0;
    for (; page < at; page++)
        lines += *page == '\n';
    return lines;
}

static void rewrite(const char *path, const char *page, const char *start, const char *end, const char *text)
{
    FILE *out = fopen(path, "w");
    if (!out)
        fail_msg("%s cannot be written", path);
    fprintf(out, "%.*s%s%s", (int)(start - page), page, text, end);
    fclose(out);
}

static void test_section(void **state)
{
    const struct section *s = *state;
    char *page = read_page(s->page), *end, *start = section_in(page, s->name, &end), *text = generated(s);
    if (!start)
        fail_msg("%s has no lines \"<!-- generated: %s -->\" and \"<!-- end -->\"", s->page, s->name);
    long at = first_difference(start, (size_t)(end - start), text);
    if (at >= 0 && env_set("GTMARK_UPDATE"))
        rewrite(s->page, page, start, end, text);
    else if (at >= 0)
        fail_msg(
            "%s:%d is\n    %.*s\nbut the program says\n    %.*s\nGTMARK_UPDATE=1 build/tests/test_metrics "
            "writes it",
            s->page, lines_before(page, start + at) + 1, (int)strcspn(start + at, "\n"), start + at,
            (int)strcspn(text + at, "\n"), text + at);
    free(page);
    free(text);
}

static int markers_in(const char *path)
{
    static const char opening[] = "<!-- generated: ";
    char *page = read_page(path);
    int markers = 0;
    for (const char *at = page; (at = strstr(at, opening)) != NULL; markers++)
        at += strlen(opening);
    free(page);
    return markers;
}

/* A marker without a section would be a table that is never updated. */
static void test_every_marker_is_a_section(void **state)
{
    (void)state;
    int markers = 0, sections = 0;
    for (const struct section *s = metrics_sections; s->page; s++, sections++)
        if (sections == 0 || strcmp(s[-1].page, s->page) != 0)
            markers += markers_in(s->page);
    assert_int_equal(markers, sections);
}

static void test_differences_are_found(void **state)
{
    (void)state;
    assert_int_equal(first_difference("a\nb\n", 4, "a\nb\n"), -1);
    assert_int_equal(first_difference("a\nb\n", 4, "a\nc\n"), 2);
    assert_int_equal(first_difference("a\nb\n", 4, "a\n"), 2);
    assert_int_equal(first_difference("a\n", 2, "a\nb\n"), 2);
    assert_int_equal(first_difference("", 0, "a\n"), 0);
    char page[] = "x\n<!-- generated: t -->\none\n<!-- end -->\n", *end;
    char *start = section_in(page, "t", &end);
    assert_int_equal(end - start, 4);
    assert_int_equal(lines_before(page, start), 2);
    assert_null(section_in(page, "u", &end));
}

/* The formula printed for an op gives op_bytes, for every choice of optional operands. */
static void test_byte_formulas(void **state)
{
    (void)state;
    static struct sample cases[CASES_MAX];
    for (enum op op = 0; op < OPS; op++) {
        struct bytes_formula f = bytes_formula_of(op);
        struct sample base = {.op = op, .dims = {1, 2, 29, 7, 15, 3, 4, 60, 0}, .seed = 1};
        int count = operands_cases(&base, true, cases), checked = 0;
        for (int c = 0; c < count; c++) {
            struct operands *o = operands_new(&cases[c], c % 2 ? F32 : F64);
            if (!o)
                continue;
            assert_int_equal(bytes_formula_value(&f, &o->args, o->sample.dims), op_bytes(op, &o->args));
            operands_free(o);
            checked++;
        }
        if (!checked)
            fail_msg("%s: no operands could be made; does every size have a value?", op_info(op)->name);
    }
}

static void expect_formula(enum op op, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    struct bytes_formula f = bytes_formula_of(op);
    FILE *out = open_memstream(&text, &size);
    bytes_formula_write(&f, out);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void test_formulas_as_text(void **state)
{
    (void)state;
    expect_formula(OP_linear, "s * ((1 + HAS(pre)) * N * M + N * D + M * D + HAS(b) * M)");
    expect_formula(OP_copy, "s * (1 + HAS(y) + ACC(y)) * N * M");
    expect_formula(OP_adamw, "s * 7 * N * M + 16");
    expect_formula(OP_mean_pool, "s * (B * D + N * D) + 8 * (B + 1)");
    expect_formula(OP_spmm, "s * (N * D + S * D + 2 * HAS(w) * S) + 8 * (N + 1) + 4 * E");
    expect_formula(OP_advance, "32");
}

/* A sweep over an axis sets its field in the rows. */
static void test_every_axis_is_a_field(void **state)
{
    (void)state;
    const struct bench bench = {.axis = AXIS_NODES, .values = axis_info(AXIS_NODES)->standard};
    for (enum axis a = 0; a < AXES; a++) {
        const char *field = axis_info(a)->field;
        char words[SWEEP_WORDS];
        axis_sweep(a, words);
        struct options o = options_of(&bench, words);
        struct row *rows[2] = {row_new(), row_new()};
        for (int i = 0; i < 2; i++)
            fields_config(rows[i], &o.plan.list[i], &o);
        if (!row_has(rows[0], field) || row_same(rows[0], rows[1], field))
            fail_msg("%s: the rows' field %s does not show it", words, field);
        row_free(rows[0]);
        row_free(rows[1]);
        options_free(&o);
    }
}

enum { FIXED_TESTS = 5, SECTIONS_MAX = 12 };

int main(void)
{
    struct CMUnitTest tests[FIXED_TESTS + SECTIONS_MAX] = {
        cmocka_unit_test(test_every_marker_is_a_section),
        cmocka_unit_test(test_differences_are_found),
        cmocka_unit_test(test_byte_formulas),
        cmocka_unit_test(test_formulas_as_text),
        cmocka_unit_test(test_every_axis_is_a_field),
    };
    static struct section sections[SECTIONS_MAX];
    for (int i = 0; metrics_sections[i].page; i++) {
        sections[i] = metrics_sections[i];
        tests[FIXED_TESTS + i] =
            (struct CMUnitTest){sections[i].name, test_section, NULL, NULL, &sections[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
