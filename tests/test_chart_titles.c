/* Titles of charts, which say what is drawn, and what is left out. */
#include "analysis/charts/charts.h"
#include "analysis/charts/figure.h"
#include "analysis/charts/frame.h"
#include "analysis/record/axes.h"
#include "analysis/record/profile.h"
#include "tests/chart_directory.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

static const struct chart_directory *drawn(void **state, struct record *record)
{
    char message[MESSAGE_SIZE];
    draw_charts(record, NULL, ((struct chart_directory *)*state)->prefix, message);
    record_free(record);
    return *state;
}

/* Titles say what is drawn, whatever the times are; laws stand in the legend. */
TEST_BETWEEN(test_titles, make_directory, remove_directory)
{
    for (int last = 0; last < 2; last++) { /* the last row is noisy */
        struct record *record = empty_record();
        for (int64_t nodes = 100; nodes <= 1600; nodes *= 2) {
            struct row *row = good_row(nodes);
            set_time(row, "step.time", 1e-8 * (double)(nodes * nodes), 0);
            row_set_count(row, "step.flops.analytic", 7 * nodes * nodes);
            if (nodes == 1600 && last)
                row_set_text(row, "step.time.noisy", "made up");
            add_row(record, row);
        }
        const struct chart_directory *p = drawn(state, record);
        assert_title(p, "_time.gp", "Time of a training step and of inference over nodes");
        assert_title(p, "_memory.gp", "Memory of a training step and of inference over nodes");
        assert_title(p, "_flops.gp", "Work of a training step and of inference over nodes");
        char *script = content(p, "_time.gp");
        assert_in(script, "label[1] = \"step\"\ntail[1] = \": 10.0 ns N^2\"\n");
        assert_in(script, "\n100 0.0001 \"100 nodes, step: 100 µs\"\n");
        assert_int_equal(strstr(script, "pale: wide range") != NULL, last);
        free(script);
    }
}

/* One size: bars. */
TEST_BETWEEN(test_bars, make_directory, remove_directory)
{
    struct record *record = empty_record();
    struct row *row = good_row(1); /* the singular */
    set_time(row, "step.time", 3e-3, 0);
    set_time(row, "forward.time", 1e-3, 0);
    row_set_text(row, "forward.time.noisy", "made up");
    add_row(record, row);
    const struct chart_directory *p = drawn(state, record);
    assert_title(p, "_time.gp", "Time of a training step and of inference, 1 node");
    char *script = content(p, "_time.gp");
    assert_in(script, style_bars);
    assert_in(script, "set ytics (\"step\" 0, \"forward\" 1)");
    assert_in(script, "\n0 0.003 0.003 0.003 1 0 \"3.00 ms\"\n");
    assert_in(script, "\"~1.00 ms\"\n");
    free(script);
}

/* What is not drawn is named. */
TEST_BETWEEN(test_many_series, make_directory, remove_directory)
{
    char name[AXES_TEXT];
    struct record *record = empty_record();
    for (int i = 0; i < 8; i++)
        for (int64_t nodes = 100; nodes <= 400; nodes *= 2) {
            struct row *row = good_row(nodes);
            memset(name, 'W', sizeof name);
            name[i == 0 ? 200 : i + 1] = '\0';
            row_set_text(row, "graph.family", name);
            add_row(record, row);
        }
    char *script = content(drawn(state, record), "_time.gp");
    assert_in(script, "series = 6\n");
    assert_in(script, "not drawn: step, WWWWWWW graph; step, WWWWWWWW gr");
    assert_in(script, "; and 4 more\\n");
    free(script);
}

/* A row of an encoding that a solver made, or whose vectors are all of the null space. */
static struct row *encoded(const char *pe, int64_t nodes, int64_t solved, int64_t stored)
{
    struct row *row = good_row(nodes);
    row_set_text(row, "pe", pe);
    set_time(row, "encoding.time", 1e-3, 0);
    row_set_count(row, "encoding.peak", strlen(pe) * 1000);
    row_set_count(row, "encoding.storage", stored);
    row_set_count(row, "encoding.iterated", solved);
    row_set_count(row, "encoding.nullity", solved ? 1 : 16);
    return row;
}

/* Encodings without a solver are left out; so is what all have alike. */
TEST_BETWEEN(test_encodings, make_directory, remove_directory)
{
    for (int stored = 0; stored < 2; stored++) {
        struct record *record = empty_record();
        add_row(record, encoded("lap:16", 500, 16, 2048));
        add_row(record, encoded("rwse:16", 500, 16, stored ? 2080 : 2060));
        add_row(record, encoded("lap:8", 500, 0, 2048));
        const struct chart_directory *p = drawn(state, record);
        assert_title(p, "_encoding.gp", "Time of encodings, 500 nodes");
        char *script = content(p, "_encoding.gp");
        assert_in(script, "set ytics (\"lap:16\" 0, \"rwse:16\" 1)");
        assert_in(script, "left out: 1 encoding with all vectors in the null space");
        free(script);
        script = content(p, "_encoding_memory.gp");
        assert_in(script, stored ? "bars = 4\n" : "bars = 2\n");
        assert_int_equal(strstr(script, "; the same for all within 1 %: stored") == NULL, stored);
        free(script);
    }
}

/* Each text begins a line; none is cut. */
TEST(test_wrapping)
{
    const char *const texts[] = {"one two three", "", NULL, "unbreakable four"};
    size_t lines;
    char *wrapped = frame_wrap(texts, 4, 8, &lines);
    assert_string_equal(wrapped, "one two\nthree\nunbreakable\nfour");
    assert_int_equal(lines, 4);
    free(wrapped);
    wrapped = frame_wrap(texts + 1, 2, 8, &lines);
    assert_string_equal(wrapped, "");
    assert_int_equal(lines, 0);
    free(wrapped);
}

/* Bars of the ops and of their ceilings, and the bytes over the entries; noise in the times is none of these.
 */
TEST_BETWEEN(test_profile, make_directory, remove_directory)
{
    const struct chart_directory *p = *state;
    char message[MESSAGE_SIZE], span[] = "layer1";
    struct record *record = empty_record();
    struct row *row = good_row(500);
    struct profile_entry entries[] = {
        {"add", "simd", "forward", span, 1, 0.5, "memory", 1, 1, 1 << 10, {1 << 10}, NULL},
        {"linear_backward",
         "simd",
         "backward",
         span,
         3,
         1,
         "compute",
         1,
         1,
         5 << 10,
         {4 << 10, 0, 1 << 10},
         NULL},
    };
    add_row(record, row);
    assert_int_equal(draw_added(profile_chart_add, record, p->prefix, message), CHART_SKIPPED);
    profile_write(&(struct profile){.runs = 10, .count = 2, .entries = entries, .ceilings = ""}, row,
                  TIMED_STEP);
    draw_added(profile_chart_add, record, p->prefix, message);
    assert_title(p, "_profile.gp", "Time of the ops of a training step, 500 nodes");
    char *script = content(p, "_profile.gp");
    assert_in(script, "bars = 4");
    assert_in(script, "at the peak rates");
    free(script);
    row_set_text(row, "step.time.noisy", "made up");
    draw_added(profile_chart_add, record, p->prefix, message);
    assert_title(p, "_timeline_step.gp", "Memory over the tape of a training step, 500 nodes");
    script = content(p, "_timeline_step.gp");
    assert_in(script,
              "label[1] = \"parameters\"\nlabel[2] = \"\"\nlabel[3] = \"optimizer\"\n"); /* in all charts */
    assert_in(script, "marked = 2\nturn = 2\n");
    assert_in(
        script,
        "\n1 0 1024 1024 1024 1024 1024 1024 1024 1024\n2 0 4096 4096 5120 5120 5120 5120 5120 5120\nEND");
    assert_in(script, "dashed: the peak, 5.00 KiB at entry 2, linear_backward of layer1");
    free(script);
    profile_write(&(struct profile){.runs = 10, .count = 1, .entries = entries, .ceilings = ""}, row,
                  TIMED_FORWARD); /* no backward pass */
    draw_added(profile_chart_add, record, p->prefix, message);
    script = content(p, "_timeline_forward.gp");
    assert_in(script, "label[1] = \"parameters\"\nlabel[2] = \"\"\nlabel[3] = \"\"\n");
    assert_in(script, "marked = 1\nturn = 0\n");
    free(script);
    record_free(record);
}

GROUP("tests", hide_gnuplot, NULL)
