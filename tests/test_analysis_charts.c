/* Charts: the images, and the contents of their scripts. Titles are in test_chart_titles.c. */
#include "analysis/charts/chart.h"
#include "tests/chart_directory.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct record *record_to_draw(void)
{
    struct record *record = empty_record();
    const int64_t sizes[] = {1000, 100, 500};
    for (size_t i = 0; i < 3; i++)
        add_row(record, good_row(sizes[i]));
    add_row(record, failed_row(5000, "oom", "needs 17 GiB"));
    return record;
}

static void test_charts_are_drawn(void **state)
{
    const struct chart_directory *p = *state;
    static const char *const charts[] = {"_time", "_memory", "_flops"};
    char message[MESSAGE_SIZE];
    if (!on_path("gnuplot"))
        skip();
    struct record *record = record_to_draw();
    if (draw_charts(record, NULL, p->prefix, message) != CHART_DRAWN)
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

/* The SVG of a chart over nodes, to be freed. */
static char *svg_of(const struct record *record, const char *name)
{
    char *svg[FIGURES_MAX], *found = NULL;
    struct figures f = {0};
    chart_add(&f, record, NULL);
    assert_int_equal(figures_svg(&f, svg), CHART_DRAWN);
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.list[i].name, name) == 0)
            found = svg[i];
        else
            free(svg[i]);
    assert_non_null(found);
    figures_free(&f);
    return found;
}

static size_t count_of(const char *text, const char *wanted)
{
    size_t n = 0;
    while ((text = strstr(text, wanted)) && ++n)
        text += strlen(wanted);
    return n;
}

/* Three ticks at least, whatever the range, with units; those of the axis are at the sizes that were
 * measured. */
static void test_ticks(void **state)
{
    (void)state;
    static const double ranges[][2] = {{1e-3, 2}, {0.5, 0.6},   {100, 101},
                                       {1, 1e15}, {3e-7, 8e-6}, {2e-3, 9e-3}};
    static const char *const ticks[] = {">100 ms<", ">600 ms<", ">110 s<", ">1 Ts<", ">2 µs<", ">4 ms<"};
    const int64_t sizes[] = {2000, 100, 1000, 1010};
    if (!on_path("gnuplot"))
        skip();
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct record *record = empty_record();
        for (size_t k = 0; k < 4; k++) {
            struct row *row = good_row(sizes[k]);
            set_time(row, "step.time", ranges[i][k == 0], 0);
            set_time(row, "forward.time", ranges[i][k == 0], 0);
            row->step.memory.planned = (int64_t)fmin(1e9 * ranges[i][k == 0] / ranges[i][0], 1e18);
            row->forward.memory.planned = row->step.memory.planned;
            add_row(record, row);
        }
        char *svg = svg_of(record, "time");
        size_t seconds = count_of(svg, "s</tspan></text>") - 1; /* "nodes" */
        assert_between(seconds, 3, 12);
        assert_in(svg, ticks[i]);
        assert_true(strstr(svg, ">100<") && strstr(svg, ">1k<") && strstr(svg, ">2k<") &&
                    !strstr(svg, ">1010<"));
        free(svg);
        svg = svg_of(record, "memory");
        assert_between(count_of(svg, "iB</tspan></text>"), 3, 12);
        free(svg);
        record_free(record);
    }
}

/* A time that is too uncertain keeps the shape of its mark, and is pale. */
static void test_pale(void **state)
{
    (void)state;
    size_t circles[2];
    if (!on_path("gnuplot"))
        skip();
    for (int noisy = 0; noisy < 2; noisy++) {
        struct record *record = record_to_draw();
        if (noisy)
            row_set_text(rows_at(record_rows(record), 1), "step.time.noisy", "made up");
        char *svg = svg_of(record, "time");
        circles[noisy] = count_of(svg, "href='#gpPt6'");
        assert_int_equal(count_of(svg, " opacity='0.37'"), noisy);
        free(svg);
        record_free(record);
    }
    assert_true(circles[0] > 0);
    assert_int_equal(circles[0], circles[1]);
}

/* Lines are where the values come within a tenth of them. */
static void test_limits(void **state)
{
    static const struct {
        double bytes;
        bool small, large;
    } cases[] = {{1e8, false, false}, {5e9, true, false}, {60e9, true, true}, {1e12, true, true}};
    (void)state;
    if (!on_path("gnuplot"))
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct record *record = empty_record();
        for (int k = 1; k <= 2; k++) {
            struct row *row = good_row(100 * k);
            row->step.memory.planned = (int64_t)(cases[i].bytes * k / 2);
            add_row(record, row);
        }
        char *svg = svg_of(record, "memory");
        assert_int_equal(strstr(svg, ">24 GB<") != NULL, cases[i].small);
        assert_int_equal(strstr(svg, ">80 GB<") != NULL, cases[i].large);
        free(svg);
        record_free(record);
    }
}

static void test_scripts(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct record *record = record_to_draw();
    for (size_t i = 0; i < 3; i++) { /* an exact law: 10 ns N^2 */
        struct row *row = rows_at(record_rows(record), i);
        double nodes = 0;
        row_get_real(row, "nodes", &nodes);
        row_set_count(row, "step.flops.analytic", (int64_t)(7 * nodes * nodes));
        set_time(row, "step.time", 1e-8 * nodes * nodes, 0);
    }
    draw_charts(record, schema_find("nodes"), p->prefix, message);
    char *script = content(p, "_time.gp");
    assert_in(script, "label[1] = \"step\"\ntail[1] = \": 10.0 ns N^2\"\n");
    assert_in(script, "joined[1] = 0\n"); /* by its law */
    assert_in(script, "laws = 1\n");      /* the forward pass: no more sizes than terms */
    assert_in(script, "subtitle = \"AMD EPYC 7B13, graph_transformer, f32 precision, cpu, 2 threads\"");
    free(script);
    script = content(p, "_memory.gp"); /* planned memory is exact: no law */
    assert_in(script, "label[1] = \"step, planned\"\n");
    assert_in(script, "label[2] = \"step, resident\"\n");
    assert_in(script, "open[1] = 0\njoined[1] = 1\n");
    assert_in(script, "look[2] = 1\nopen[2] = 1\njoined[2] = 0\n"); /* of one colour, with another mark */
    assert_in(script, "laws = 0\n");
    free(script);
    script = content(p, "_flops.gp");
    assert_in(script, "not measured: step, executed; forward, executed");
    free(script);
    record_free(record);
}

/* The subtitle names what measured: a GPU, not the processor beside it. */
static void test_gpu(void **state)
{
    char message[MESSAGE_SIZE];
    struct record *record = record_to_draw();
    value_set(record_head(record), "devices",
              value_parse("[{\"device\": \"cuda:0\", \"name\": \"NVIDIA H100 80GB HBM3\"}]", message));
    for (size_t i = 0; i < 4; i++)
        row_set_text(rows_at(record_rows(record), i), "device", "cuda:0");
    draw_charts(record, NULL, ((struct chart_directory *)*state)->prefix, message);
    char *script = content(*state, "_time.gp");
    assert_in(script,
              "subtitle = \"NVIDIA H100 80GB HBM3, graph_transformer, f32 precision, cuda:0, 2 threads\"");
    free(script);
    record_free(record);
}

static size_t count_lines(const char *from, const char *to)
{
    size_t n = 0;
    for (; from < to; from++)
        n += *from == '\n';
    return n;
}

/* Of more points than pixels those that mark the extent of a column are drawn. */
static void test_thousands_of_points(void **state)
{
    enum { ROWS = 3000, OUTLIER = 2500 };
    char message[MESSAGE_SIZE];
    struct record *record = empty_record();
    for (int64_t i = 0; i < ROWS; i++) {
        struct row *row = good_row(100 + i);
        set_time(row, "step.time", i == OUTLIER ? 7.25 : 1e-6 * (double)(100 + i), 0);
        add_row(record, row);
    }
    draw_charts(record, NULL, ((struct chart_directory *)*state)->prefix, message);
    char *script = content(*state, "_time.gp");
    const char *points = strstr(script, "$points << END"), *next = strstr(points, "\n\n\n"); /* of a series */
    assert_true(count_lines(points, next) > 350);
    assert_true(count_lines(points, next) < 1800);
    assert_in(script, "\n100 0.0001 ");
    assert_in(script, "\n2600 7.25 ");
    assert_in(script, "\n3099 0.003099 ");
    free(script);
    record_free(record);
}

/* Nothing disappears: a row whose size has no logarithm is named. */
static void test_sizes_without_a_place(void **state)
{
    char message[MESSAGE_SIZE];
    struct record *record = empty_record();
    for (int degree = 0; degree <= 4; degree += 2) {
        struct row *row = good_row(500);
        row_set_real(row, "degree", degree);
        add_row(record, row);
    }
    draw_charts(record, NULL, ((struct chart_directory *)*state)->prefix, message);
    char *script = content(*state, "_time.gp");
    assert_in(script, "left out: degree 0 (no place on a logarithmic scale)");
    assert_in(script, "xtitle = \"degree\"");
    free(script);
    record_free(record);
}

/* A model has its attention: the name of the model suffices. Two attentions of a model need both. */
static void test_names_of_combinations(void **state)
{
    static const char *const models[][2] = {{"gps", "dense"}, {"gin", "none"}, {"gps", "sparse"}};
    char message[MESSAGE_SIZE];
    struct record *record = empty_record();
    for (int i = 0; i < 3; i++) {
        struct row *row = good_row(500);
        row_set_text(row, "model", models[i][0]);
        row_set_text(row, "attention", models[i][1]);
        add_row(record, row);
        draw_charts(record, NULL, ((struct chart_directory *)*state)->prefix, message);
        char *script = content(*state, "_flops.gp");
        if (i == 1)
            assert_in(script, "(\"step, analytic, gps\" 0, \"step, analytic, gin\" 1,");
        if (i == 2)
            assert_in(
                script,
                "(\"step, analytic, gps, dense attention\" 0, \"step, analytic, gin, no attention\" 1,");
        free(script);
    }
    record_free(record);
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
        add_row(record, row_copy(row));
    }
    draw_charts(record, NULL, p->prefix, message);
    char *script = content(p, "_time.gp");
    assert_in(script, "series = 4\n");
    assert_in(script, "= \"step, gelu\"");
    assert_in(script, "= \"forward, gelu\\\\_tanh\""); /* not a subscript */
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
        add_row(record, row);
    }
    for (int swept = 0; swept < 2; swept++) {
        draw_charts(record, NULL, p->prefix, message);
        char *script = content(p, "_time.gp");
        assert_non_null(script);
        snprintf(label, sizeof label, "series = %d\n",
                 swept ? 6 : 2); /* 2 programs x 4 widths of the FFN, six of them drawn */
        assert_non_null(strstr(script, label));
        assert_non_null(strstr(script, "xtitle = \"hidden size\""));
        free(script);
        struct row *row = row_copy(rows_at(record_rows(record), 0));
        row_set_count(row, "ffn", 1024);
        add_row(record, row);
    }
    record_free(record);
}

/* Names that gnuplot or a shell could take for something else. */
static void test_names_are_only_names(void **state)
{
    static const char *const names[] = {"|touch STRANGE;",
                                        "<touch STRANGE;",
                                        "`touch STRANGE`",
                                        "$(touch STRANGE)",
                                        "-e",
                                        "'",
                                        "''two",
                                        "a\"b\\",
                                        "%d%s",
                                        "~",
                                        "@x",
                                        "two\nlines",
                                        "x_{y}"};
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], here[PATH_MAX];
    bool draws = on_path("gnuplot");
    struct record *record = record_to_draw();
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(p->directory), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i += getenv("GTMARK_SMALL") ? 5 : 1) {
        struct row *row = rows_at(record_rows(record), i % 3);
        char path[64];
        row_set_text(row, "model", names[i]); /* in the legend and the title too */
        if (draw_charts(record, NULL, names[i], message) != (draws ? CHART_DRAWN : CHART_SKIPPED))
            fail_msg("%s: %s", names[i], message);
        snprintf(path, sizeof path, "%s_time.png", names[i]);
        assert_int_equal(access(path, F_OK), draws ? 0 : -1);
    }
    assert_int_equal(access("STRANGE", F_OK), -1);
    assert_int_equal(chdir(here), 0);
    record_free(record);
}

/* Without room for the pictures, whether gnuplot is killed for it or does not notice. */
static void test_cut_pictures(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct rlimit limit, small;
    if (!on_path("gnuplot"))
        skip();
    struct record *record = record_to_draw();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){24576, limit.rlim_max}; /* the scripts are smaller */
    for (int ignored = 0; ignored < 2; ignored++) {
        signal(SIGXFSZ, ignored ? SIG_IGN : SIG_DFL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        enum chart_result result = draw_charts(record, NULL, p->prefix, message);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(result, CHART_FAILED);
        assert_in(message, "charts: gnuplot failed on ");
    }
    signal(SIGXFSZ, SIG_DFL);
    record_free(record);
}

/* Pictures of an earlier run are not taken for those of this one. */
static void test_old_pictures(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], path[4096], fake[128];
    if (!on_path("gnuplot"))
        skip();
    struct record *record = record_to_draw();
    assert_int_equal(draw_charts(record, NULL, p->prefix, message), CHART_DRAWN);
    snprintf(fake, sizeof fake, "%s/gnuplot", p->directory);
    FILE *out = fopen(fake, "w");
    assert_non_null(out);
    fputs("#!/bin/sh\n", out);
    fclose(out);
    assert_int_equal(chmod(fake, 0755), 0);
    snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", p->directory, 1);
    assert_int_equal(draw_charts(record, NULL, p->prefix, message), CHART_FAILED);
    setenv("PATH", path, 1);
    record_free(record);
}

/* A file that may not be executed, as in a folder of another user. */
static void make_unusable_gnuplot(const char *directory)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/gnuplot", directory);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fclose(file);
}

static void test_charts_are_skipped(void **state)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], path[4096];
    struct record *record = record_to_draw(), *nothing = empty_record();
    assert_int_equal(draw_charts(nothing, NULL, p->prefix, message), CHART_SKIPPED);
    assert_int_equal(draw_charts(record, NULL, "/nonexistent/x", message), CHART_FAILED);
    assert_non_null(strstr(message, "/nonexistent/x_time.gp"));

    static const char *const without[] = {"/nonexistent", "/dev/null", "/etc/passwd:/nonexistent"};
    snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        setenv("PATH", without[i], 1);
        assert_int_equal(draw_charts(record, NULL, p->prefix, message), CHART_SKIPPED);
        assert_string_equal(message, "charts skipped: gnuplot is not installed");
    }
    snprintf(message, sizeof message, "%.*s", (int)(strrchr(p->prefix, '/') - p->prefix), p->prefix);
    setenv("PATH", message, 1);
    make_unusable_gnuplot(message);
    assert_int_equal(draw_charts(record, NULL, p->prefix, message), CHART_SKIPPED);
    setenv("PATH", path, 1);
    record_free(record);
    record_free(nothing);
}

int main(void)
{
    const struct CMUnitTest drawn[] = {
        cmocka_unit_test_setup_teardown(test_charts_are_drawn, make_directory, remove_directory),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_pale),
        cmocka_unit_test_setup_teardown(test_names_are_only_names, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_cut_pictures, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_old_pictures, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_charts_are_skipped, make_directory, remove_directory),
    };
    const struct CMUnitTest scripts[] = {
        cmocka_unit_test_setup_teardown(test_scripts, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_gpu, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_thousands_of_points, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_sizes_without_a_place, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_names_of_combinations, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_charts_by_combination, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_an_axis_that_follows, make_directory, remove_directory),
    };
    int failed = cmocka_run_group_tests(drawn, NULL, NULL);
    return failed + cmocka_run_group_tests(scripts, hide_gnuplot, NULL);
}
