/* What the program compare prints as CSV, JSON and Markdown, and its charts. */
#include <math.h>

#include "tests/compared.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* The fields of a CSV line without quotes. */
static size_t fields_of(char *line, char *fields[64])
{
    size_t n = 0;
    while (n < 64 && (fields[n] = strsep(&line, ",")) != NULL)
        n++;
    return n;
}

static void test_csv(void **state)
{
    save(*state, "a.json", machine("A", three, 1));
    save(*state, "b.json", machine("B", three, 1.1));
    struct ended e = program_run(*state, "a.json b.json --phase step --format csv", NULL);
    assert_int_equal(e.status, 0);
    assert_says(e.err, "B, step: 3 slower;");
    char *rest = e.out, *names[64], *fields[64];
    size_t n = fields_of(strsep(&rest, "\n"), names);
    for (int line = 0; line < 3; line++) {
        assert_int_equal(fields_of(strsep(&rest, "\n"), fields), n);
        double ratio = 0, base = 0, median = 0, low = 0, high = 0;
        for (size_t i = 0; i < n; i++) {
            base = strcmp(names[i], "baseline_median") ? base : atof(fields[i]);
            median = strcmp(names[i], "median") ? median : atof(fields[i]);
            ratio = strcmp(names[i], "ratio") ? ratio : atof(fields[i]);
            low = strcmp(names[i], "ratio_low") ? low : atof(fields[i]);
            high = strcmp(names[i], "ratio_high") ? high : atof(fields[i]);
        }
        assert_true(base > 0 && ratio > 1.09 && ratio < 1.11 && fabs(ratio * base / median - 1) < 1e-9);
        assert_true(1 < low && low < ratio && ratio < high);
        assert_int_equal(atoi(fields[0]), three[line]);
    }
    assert_string_equal(rest, "");
    ended_free(&e);
}

/* The JSON document that compare prints, to be freed. */
static struct value *compare_document(const struct house *h, const char *words)
{
    char error[MESSAGE_SIZE], *out = compare(h, words, 0);
    struct value *document = value_parse(out, error);
    if (!document)
        fail_msg("%s\n%s", error, out);
    free(out);
    return document;
}

static void test_json(void **state)
{
    struct record *b = machine("New", three, 1.1);
    for (size_t i = 0; i < 3; i++)
        row_set_count(row_at(b, i), "threads", 16);
    row_omit(row_at(b, 2), "step.time", "not asked for");
    save(*state, "a.json", machine("Old", three, 1));
    save(*state, "b.json", b);
    struct value *d = compare_document(*state, "a.json b.json --phase step --format json");
    const struct value *files = value_get(d, "files"), *pairs = value_get(d, "pairs");
    const char *text;
    int64_t count;
    double real, low = 0, high = 0;
    assert_int_equal(value_size(files), 2);
    assert_true(value_get_text(value_at(files, 1), "path", &text) && strcmp(text, "b.json") == 0);
    assert_true(value_get_text(value_at(files, 0), "name", &text) && strcmp(text, "Old") == 0);
    assert_true(value_get_real(d, "margin", &real) && real == 0);
    assert_int_equal(value_size(pairs), 3);
    const struct value *pair = value_at(pairs, 1);
    assert_true(value_get_text(pair, "file", &text) && strcmp(text, "B") == 0);
    assert_true(value_get_text(pair, "program", &text) && strcmp(text, "step") == 0);
    assert_true(value_get_text(pair, "verdict", &text) && strcmp(text, "slower") == 0);
    assert_true(value_get_count(pair, "axes.nodes", &count) && count == 200);
    assert_true(value_get_count(pair, "axes.threads", &count) && count == 16);
    assert_true(value_get_count(pair, "baseline_axes.threads", &count) && count == 2);
    assert_int_equal(value_size(value_get(pair, "baseline_axes")), 1);
    assert_true(value_get_real(pair, "ratio", &real) && value_get_real(pair, "low", &low) &&
                value_get_real(pair, "high", &high));
    assert_true(1 < low && low < real && real < high && fabs(real - 1.1) < 0.01);
    pair = value_at(pairs, 2);
    assert_true(value_get_text(pair, "verdict", &text) && strcmp(text, "inconclusive") == 0);
    assert_true(value_get_text(pair, "reason", &text) && strcmp(text, "not asked for") == 0);
    assert_int_equal(value_kind(value_get(pair, "ratio")), VALUE_NULL);
    const struct value *tally = value_get(d, "tally");
    assert_int_equal(value_size(tally), 1);
    assert_true(value_get_count(value_at(tally, 0), "slower", &count) && count == 2);
    assert_true(value_get_count(value_at(tally, 0), "inconclusive", &count) && count == 1);
    assert_true(value_get_real(value_at(tally, 0), "mean", &real) && fabs(real - 1.1) < 0.01);
    value_free(d);
    free(compare_missed(*state, "a.json b.json --format json --fail-on slower", 1,
                        "--fail-on slower: 2 of 6"));
}

static void test_markdown(void **state)
{
    save(*state, "a.json", machine("A", three, 1));
    save(*state, "b.json", machine("B", three, 1));
    char *out = compare(*state, "a.json b.json --format md", 0);
    assert_says(out,
                "\n| nodes | program | A | B | B / A | verdict |\n| --: | --: | --: | --: | --: | :-- |\n");
    assert_int_equal(occurrences(out, "| same: between 0.9"), 6);
    free(out);
}

static void test_charts(void **state)
{
    const struct house *h = *state;
    char path[PATH_MAX], script[1 << 14] = "";
    save(h, "a.json", machine("Same", three, 1));
    save(h, "b.json", machine("Same", three, 2));
    free(compare(h, "a.json b.json --chart both", 0));
    for (int p = 0; p < 2; p++) {
        snprintf(path, sizeof path, "%s/both_%s.gp", h->work, p ? "step" : "forward");
        FILE *in = fopen(path, "r");
        assert_non_null(in);
        script[fread(script, 1, sizeof script - 1, in)] = '\0';
        fclose(in);
        assert_says(script, p ? "title[1] = \"Time of a training step, by file, over nodes\""
                              : "title[1] = \"Time of inference, by file, over nodes\"");
        assert_says(script, "label[1] = \"A: a"); /* one name: told apart by file */
        assert_says(script, "label[2] = \"B: b");
        assert_says(script, "series = 2\n");
    }
    free(compare(h, "a.json b.json --chart /nonexistent/x", 1));
}

static int setup(void **state)
{
    return house_of(state, "compare");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_charts),
    };
    return cmocka_run_group_tests(tests, setup, house_teardown);
}
