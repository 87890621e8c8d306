/* What the program compare prints as JSON and Markdown, and its charts. */
#include <math.h>

#include "analysis/record/file.h"
#include "tests/compared.h"
#include "tests/files.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

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

TEST(test_json)
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

/* What is planned: the document, the exit status, and what is refused. */
TEST(test_exact)
{
    char error[MESSAGE_SIZE];
    const char *text;
    int64_t count;
    struct record *b = machine("New", three, 9); /* times do not matter */
    row_at(b, 1)->step.memory.planned++;
    row_at(b, 2)->step.flops.analytic--;
    save(*state, "a.json", machine("Old", three, 1));
    save(*state, "b.json", b);
    char *out =
        compare_missed(*state, "a.json b.json --gate exact --format json", 1, "--gate exact: 1 missed");
    struct value *d = value_parse(out, error);
    assert_non_null(d);
    free(out);
    assert_true(value_get_count(d, "more", &count) && count == 1);
    assert_true(value_get_count(d, "less", &count) && count == 1);
    assert_true(value_get_count(d, "not_compared", &count) && count == 0);
    assert_int_equal(value_size(value_get(d, "differences")), 2);
    const struct value *more = value_at(value_get(d, "differences"), 0);
    assert_true(value_get_text(more, "figure", &text) && strcmp(text, "memory") == 0);
    assert_true(value_get_text(more, "verdict", &text) && strcmp(text, "more") == 0);
    assert_true(value_get_text(more, "program", &text) && strcmp(text, "step") == 0);
    assert_true(value_get_count(more, "axes.nodes", &count) && count == 200);
    int64_t was, is;
    assert_true(value_get_count(more, "baseline", &was) && value_get_count(more, "value", &is) &&
                is == was + 1);
    assert_int_equal(value_kind(value_get(more, "entry")), VALUE_NULL);
    value_free(d);
    out = compare(*state, "a.json b.json --gate exact --phase forward", 0);
    assert_says(out, "figures as in the baseline");
    free(out);
    static const int64_t two[] = {100, 200, 0};
    save(*state, "few.json", machine("Old", two, 1));
    out = compare(*state, "few.json a.json --gate exact", 1);
    assert_says(out, "missed: 1 not compared");
    free(out);
    free(compare(*state, "few.json a.json --gate exact,allow-uncompared", 0));
    free(compare_missed(*state, "a.json b.json a.json --gate exact", 2, "--gate exact: two files, not 3"));
    free(compare_missed(*state, "a.json b.json --gate exact --margin 1%", 2,
                        "--gate exact: compares no times"));
    free(compare_missed(*state, "a.json b.json --gate allow-uncompared", 2, "only with exact"));
    free(compare_missed(*state, "a.json b.json --gate exat", 2, "did you mean exact?"));
}

/* Ways in which the new file lacks a row, and what names it. */
TEST(test_lost)
{
    static const int64_t two[] = {100, 200, 0}, none[] = {0};
    static const struct {
        const char *file, *said;
        int64_t alone, fallen, reasons;
    } ways[] = {{"few.json", "not in B (nodes 500, not ", 1, 0, 1},
                {"cut.json", "not in B (nodes 500, not ", 1, 0, 1},
                {"head.json", "not in B (the file has no rows)", 3, 0, 3},
                {"oom.json", "oom (planted)", 0, 1, 1},
                {"wrong.json", "wrong (planted)", 0, 1, 1}};
    const struct house *h = *state;
    char path[PATH_MAX], error[MESSAGE_SIZE];
    size_t size;
    save(h, "a.json", machine("Old", three, 1));
    save(h, "few.json", machine("Old", two, 1));
    save(h, "head.json", machine("Old", none, 1));
    for (int wrong = 0; wrong < 2; wrong++) {
        struct record *b = machine("Old", three, 1);
        row_set_text(row_at(b, 2), "status", wrong ? "wrong" : "oom");
        row_set_text(row_at(b, 2), "reason", "planted");
        save(h, wrong ? "wrong.json" : "oom.json", b);
    }
    snprintf(path, sizeof path, "%s/a.json", h->work);
    char *text = file_read(path, &size, error);
    snprintf(path, sizeof path, "%s/cut.json", h->work);
    write_bytes(path, text, size - 10); /* within the last row */
    free(text);
    snprintf(path, sizeof path, "%s/empty.json", h->work);
    write_bytes(path, "", 0);
    free(compare_missed(h, "a.json empty.json --gate exact", 2, "empty.json: "));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char words[128];
        const char *reason;
        int64_t count;
        for (int markdown = 0; markdown < 2; markdown++) {
            snprintf(words, sizeof words, "a.json %s --gate exact --format %s", ways[i].file,
                     markdown ? "md" : "table");
            char *out = compare(h, words, 1);
            assert_true(occurrences(out, ways[i].said) > 0);
            free(out);
        }
        snprintf(words, sizeof words, "a.json %s --gate exact --format json", ways[i].file);
        char *out = compare(h, words, 1);
        struct value *d = value_parse(out, error), *rows = value_get(d, "rows");
        assert_true(value_get_count(d, "not_compared", &count) && count == ways[i].alone);
        assert_true(value_get_count(d, "no_longer_ok", &count) && count == ways[i].fallen);
        assert_int_equal(value_size(rows), ways[i].reasons);
        assert_true(value_get_text(value_at(rows, 0), "reason", &reason));
        assert_says(reason, ways[i].said);
        assert_true(value_get_count(value_at(rows, value_size(rows) - 1), "axes.nodes", &count) &&
                    count == 500);
        value_free(d);
        free(out);
        snprintf(words, sizeof words, "a.json %s --gate exact,allow-uncompared", ways[i].file);
        free(compare(h, words, ways[i].fallen > 0 || ways[i].alone == 3));
    }
}

TEST(test_markdown)
{
    save(*state, "a.json", machine("A", three, 1));
    save(*state, "b.json", machine("B", three, 1));
    char *out = compare(*state, "a.json b.json --format md", 0);
    assert_says(out,
                "\n| nodes | program | A | B | B / A | verdict |\n| --: | --: | --: | --: | --: | :-- |\n");
    assert_int_equal(occurrences(out, "] | same |"), 6);
    free(out);
}

/* The text of a file of the house, to be freed. */
static char *content_of(const struct house *h, const char *name)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    char *text = file_read(path, &size, error);
    assert_non_null(text);
    return text;
}

TEST(test_charts)
{
    const struct house *h = *state;
    save(h, "a.json", machine("Same", three, 1));
    save(h, "b.json", machine("Same", three, 2));
    free(compare(h, "a.json b.json --chart both", 0));
    for (int p = 0; p < 2; p++) {
        char *script = content_of(h, p ? "both_step.gp" : "both_forward.gp");
        assert_says(script, p ? "title[1] = \"Time of a training step, by file, over nodes\""
                              : "title[1] = \"Time of inference, by file, over nodes\"");
        assert_says(script, "label[1] = \"A: a"); /* one name: told apart by file */
        assert_says(script, "label[2] = \"B: b");
        assert_says(script, "series = 2\n");
        free(script);
    }
    char *ratio = content_of(h, "both_ratio.gp");
    assert_says(ratio, "Time of one file over time of another");
    assert_says(ratio, "\"step: b / a\"");
    free(ratio);
    free(compare(h, "a.json b.json --chart /nonexistent/x", 1));
}

static int setup(void **state)
{
    return house_of(state, "compare");
}

GROUP("tests", setup, house_teardown)
