/* Charts: the images, and the contents of their scripts. */
#include "analysis/charts/chart.h"
#include "analysis/record/record.h"
#include "tests/test_analysis_rows.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct chart_directory {
    char directory[64], prefix[96];
};

static int make_directory(void **state)
{
    struct chart_directory *p = calloc(1, sizeof *p);
    snprintf(p->directory, sizeof p->directory, "/tmp/gtmark-chart-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    snprintf(p->prefix, sizeof p->prefix, "%s/it's", p->directory); /* a quote, to be escaped in scripts */
    *state = p;
    return 0;
}

static int remove_directory(void **state)
{
    struct chart_directory *p = *state;
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

static struct record *record_to_draw(void)
{
    char error[MESSAGE_SIZE];
    struct record *record = empty_record();
    const int64_t sizes[] = {1000, 100, 500};
    for (size_t i = 0; i < 3; i++)
        assert_true(record_add(record, good_row(sizes[i]), error));
    assert_true(record_add(record, failed_row(5000, "oom", "needs 17 GiB"), error));
    return record;
}

/* The file's content, allocated, or null. */
static char *content(const struct chart_directory *p, const char *end)
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
    const struct chart_directory *p = *state;
    static const char *const charts[] = {"_time", "_memory", "_flops"};
    char message[MESSAGE_SIZE];
    if (!on_path("gnuplot"))
        skip();
    struct record *record = record_to_draw();
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
    record_free(record);
}

static void test_chart_scripts_say_what_was_found(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct record *record = record_to_draw();
    for (size_t i = 0; i < 3; i++) { /* an exact law: 1 ms at 100 nodes, growing as N^1.5 */
        struct row *row = rows_at(record_rows(record), i);
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
    record_free(record);
}

/* The script of the time chart over these sizes; the step's times follow an exact law, except the last. */
static char *time_script(const struct chart_directory *p, const int64_t *sizes, size_t count, double last)
{
    char message[MESSAGE_SIZE];
    struct record *record = empty_record();
    for (size_t i = 0; i < count; i++) {
        struct row *row = good_row(sizes[i]);
        const double seconds = 1e-6 * pow((double)sizes[i], 1.5) * (i + 1 == count ? last : 1);
        row_set_samples(row, "step.time", &seconds, 1);
        assert_true(record_add(record, row, message));
    }
    chart_draw(record, schema_find("nodes"), NULL, p->prefix, message);
    record_free(record);
    return content(p, "_time.gp");
}

/* For 1 size, for 2, and for 3 with an exponent known to 3.34 and to 0.23. */
static void test_titles_claim_what_is_known(void **state)
{
    static const int64_t sizes[] = {100, 300, 1000};
    static const struct {
        size_t count;
        double last;
        const char *title, *label;
    } known[] = {
        {1, 1, "'Training step: 1.00 ms at 100 nodes'", "'step'"},
        {2, 1, "'Training step: 1.00 ms at 100 nodes, 5.20 ms at 300 nodes'", "'step'"},
        {3, 3, "'Training step: 1.00 ms at 100 nodes, 94.9 ms at 1000 nodes'", "'step'"},
        {3, 1.08, "'Training step time grows as N^{1.5}: 1.00 ms at 100 nodes, 34.2 ms at 1000 nodes'",
         "'step, N^{1.53 ± 0.23}'"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char wanted[256], *script = time_script(*state, sizes, known[i].count, known[i].last);
        assert_non_null(script);
        snprintf(wanted, sizeof wanted, "title = %s\n", known[i].title);
        if (!strstr(script, wanted))
            fail_msg("no %s in %.300s", wanted, script);
        snprintf(wanted, sizeof wanted, "label[1] = %s\n", known[i].label);
        if (!strstr(script, wanted))
            fail_msg("no %s in %s", wanted, strstr(script, "label[1]"));
        free(script);
    }
}

/* The singular for one unit. */
static void test_title_at_size_one(void **state)
{
    static const int64_t sizes[] = {1, 4};
    char *script = time_script(*state, sizes, 2, 1);
    assert_non_null(script);
    assert_non_null(strstr(script, "'Training step: 1.00 µs at 1 node, 8.00 µs at 4 nodes'"));
    free(script);
}

static void test_charts_by_combination(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct record *record = record_to_draw();
    struct record *more = record_to_draw();
    for (size_t i = 0; i < 3; i++) {
        struct row *row = rows_at(record_rows(more), i);
        row_set_text(row, "act", "gelu_tanh");
        assert_true(record_add(record, row_copy(row), message));
    }
    chart_draw(record, NULL, NULL, p->prefix, message);
    char *script = content(p, "_time.gp");
    assert_non_null(script);
    assert_non_null(strstr(script, "series = 4\n"));
    assert_non_null(strstr(script, "= 'step, gelu, N^{"));
    assert_non_null(strstr(script, "= 'forward, gelu\\_tanh, N^{")); /* not a subscript */
    free(script);
    record_free(record);
    record_free(more);
}

/*
 * An FFN of twice the width follows the width: one series over the width, separate from a sweep of the FFN.
 */
static void test_an_axis_that_follows(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], label[64];
    struct record *record = empty_record();
    for (int64_t hidden = 64; hidden <= 256; hidden *= 2) {
        struct row *row = good_row(hidden);
        row_set_count(row, "nodes", 500);
        row_set_count(row, "hidden", hidden);
        row_set_count(row, "ffn", 2 * hidden);
        assert_true(record_add(record, row, message));
    }
    for (int swept = 0; swept < 2; swept++) {
        chart_draw(record, NULL, NULL, p->prefix, message);
        char *script = content(p, "_time.gp");
        assert_non_null(script);
        snprintf(label, sizeof label, "series = %d\n", swept ? 8 : 2); /* 2 programs x 4 widths of the FFN */
        assert_non_null(strstr(script, label));
        assert_non_null(strstr(script, "xtitle = 'channels'"));
        free(script);
        struct row *row = row_copy(rows_at(record_rows(record), 0));
        row_set_count(row, "ffn", 1024);
        assert_true(record_add(record, row, message));
    }
    record_free(record);
}

static void test_charts_are_skipped(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], path[4096];
    struct record *record = record_to_draw(), *nothing = empty_record();
    assert_int_equal(chart_draw(nothing, NULL, NULL, p->prefix, message), CHART_SKIPPED);
    assert_int_equal(chart_draw(record, schema_find("act"), NULL, p->prefix, message), CHART_SKIPPED);
    assert_non_null(strstr(message, "act is not numeric"));
    assert_int_equal(chart_draw(record, NULL, "/nonexistent", p->prefix, message), CHART_SKIPPED);
    assert_int_equal(chart_draw(record, NULL, NULL, "/nonexistent/x", message), CHART_FAILED);
    assert_non_null(strstr(message, "/nonexistent/x_time.gp"));

    snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(chart_draw(record, NULL, NULL, p->prefix, message), CHART_SKIPPED);
    setenv("PATH", path, 1);
    assert_string_equal(message, "charts skipped: gnuplot is not installed");
    record_free(record);
    record_free(nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_charts_are_drawn, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_chart_scripts_say_what_was_found, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_titles_claim_what_is_known, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_title_at_size_one, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_charts_by_combination, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_an_axis_that_follows, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_charts_are_skipped, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
