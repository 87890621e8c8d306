/*
 * Charts of what ranks do with their time: shares computed by hand, for strong and weak scaling, measured and
 * predicted.
 */
#include "analysis/charts/charts.h"
#include "analysis/charts/figure.h"
#include "analysis/charts/rank_bars.h"
#include "tests/chart_directory.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* A step of so many nodes and graphs on these ranks, of which `exposed` is exchange. */
static struct row *measured(int64_t ranks, int64_t nodes, int64_t batch, double seconds, double spread,
                            double exposed)
{
    struct row *row = good_row(nodes);
    row_set_count(row, "ranks.count", ranks);
    row_set_count(row, "batch", batch);
    row_set_text(row, "ranks.parallel", "halo");
    set_time(row, "step.time", seconds, spread);
    if (ranks > 1) {
        row_set_real(row, "step.communication.exposed", exposed);
        row_set_real(row, "ranks.load", 1);
    }
    return row;
}

static struct row *predicted(int64_t ranks, const char *way, double seconds, double exposed)
{
    struct row *row = good_row(500);
    row_omit(row, "step.time", "planned only");
    row_set_text(row, "device", "meta");
    row_set_count(row, "ranks.count", ranks);
    row_set_text(row, "ranks.parallel", way);
    row_set_real(row, "step.communication.predicted_run", seconds);
    row_set_real(row, "step.communication.predicted_exposed", exposed);
    if (ranks > 1)
        row_set_text(row, "step.communication.link", "2.00 us, given");
    return row;
}

static struct rows *pair(struct row *a, struct row *b)
{
    struct rows *rows = rows_new();
    rows_append(rows, a);
    rows_append(rows, b);
    return rows;
}

TEST(test_shares)
{
    struct rows *rows = pair(measured(4, 500, 8, 0.1, 0, 0.02), measured(1, 500, 8, 0.3, 0, 0));
    struct rank_bars b = rank_bars_of(rows, TIMED_STEP, false);
    assert_int_equal(b.count, 2);
    assert_true(b.lines == 1 && b.ranks == 2 && b.of[0] == 1 && b.of[1] == 4 && b.others == 0);
    assert_near(b.bar[0].efficiency, 1);
    assert_near(b.bar[0].exchange, 0);
    assert_near(b.bar[1].efficiency, 0.75);
    assert_near(b.bar[1].exchange, 0.2);
    assert_true(!b.bar[1].predicted && !b.bar[1].noisy && !b.bar[1].shared);
    assert_int_equal(rank_bars_of(rows, TIMED_STEP, true).count, 0);
    assert_int_equal(rank_bars_of(rows, TIMED_FORWARD, false).count, 2); /* of one time each */
    assert_int_equal(rank_bars_of(rows, TIMED_KERNEL, false).count, 0);
    rows_free(rows);
    rows = pair(measured(1, 500, 8, 0.3, 0, 0), measured(4, 2000, 8, 0.4, 0, 0.04));
    b = rank_bars_of(rows, TIMED_STEP, true);
    assert_true(b.count == 2 && b.weak && b.nodes);
    assert_near(b.bar[1].efficiency, 0.75);
    assert_near(b.bar[1].exchange, 0.1);
    assert_int_equal(rank_bars_of(rows, TIMED_STEP, false).count, 0);
    rows_free(rows);
    rows = pair(predicted(1, "data", 0.3, 0), predicted(2, "data", 0.2, 0.05));
    b = rank_bars_of(rows, TIMED_STEP, false);
    assert_true(b.count == 2 && b.bar[1].predicted && strcmp(b.bar[1].link, "2.00 us, given") == 0);
    assert_near(b.bar[1].efficiency, 0.75);
    assert_near(b.bar[1].exchange, 0.25);
    rows_free(rows);
    rows = pair(predicted(1, "data", 0.3, 0), measured(2, 500, 1, 0.2, 0, 0.05));
    row_set_text(rows_at(rows, 1), "ranks.parallel", "data");
    row_set_text(rows_at(rows, 1), "device", "meta"); /* as if one device had both */
    assert_int_equal(rank_bars_of(rows, TIMED_STEP, false).count, 0);
    rows_free(rows);
}

/* An interval far beyond all bars is cut, and its end is a number. */
TEST_BETWEEN(test_wide_interval, make_directory, remove_directory)
{
    struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct record *record = empty_record();
    add_row(record, measured(1, 500, 2, 0.3, 0.9, 0));
    add_row(record, measured(4, 2000, 2, 0.4, 0.95, 0.04));
    draw_added(rank_chart_add, record, p->prefix, message);
    assert_title(p, "_weak.gp", "Weak scaling of a training step over ranks, with as many times the nodes");
    assert_null(content(p, "_strong.gp"));
    char *script = content(p, "_weak.gp");
    assert_in(script, "set yrange [0:165]");
    assert_in(script, "intervals are cut; the widest reaches 2.85e+03 %");
    free(script);
    record_free(record);
}

TEST_BETWEEN(test_drawn, make_directory, remove_directory)
{
    struct chart_directory *p = *state;
    char message[MESSAGE_SIZE] = "?";
    struct record *record = empty_record();
    assert_int_equal(draw_added(rank_chart_add, record, p->prefix, message), CHART_SKIPPED);
    for (int way = 0; way < 2; way++)
        for (int64_t ranks = 1; ranks <= 4; ranks *= 2)
            if (way == 0 || ranks < 4)
                add_row(record, predicted(ranks, way ? "ulysses" : "data", (way ? 0.3 : 0.36) / (double)ranks,
                                          way || ranks == 1 ? 0 : 0.03));
    draw_added(rank_chart_add, record, p->prefix, message);
    char *script = content(p, "_strong.gp");
    assert_in(script, style_ranks);
    assert_in(script, "lines = 2\n");
    assert_in(script, "label[2] = \"ulysses\"\n");
    assert_in(script, "set xtics (\"1\" 0, \"2\" 1, \"4\" 2)\n");
    assert_in(script, "\n0.79 0.1932 1 0 100 0\n"); /* ideal: the work of one rank alone */
    assert_in(script, "\n1.79 0.1932 1 0 100 0\n1.79 0.1932 1 100 133.333 1\n");
    assert_in(script, "link: 2.00 us, given");
    assert_in(script, "turned = 0\n");
    free(script);
    assert_title(p, "_strong.gp", "Strong scaling of a training step over ranks");
    assert_null(content(p, "_weak.gp"));
    if (on_path("gnuplot")) {
        char *picture = content(p, "_strong.svg");
        assert_in(picture, "</svg>");
        free(picture);
    }
    record_free(record);
}

/* The memory of two ranks is that of the largest, not of rank 0: of the step. */
TEST_BETWEEN(test_memory, make_directory, remove_directory)
{
    struct chart_directory *p = *state;
    char message[MESSAGE_SIZE];
    struct record *record = empty_record();
    for (int64_t ranks = 1; ranks <= 2; ranks++) {
        struct row *row = predicted(ranks, "data", 1, 0);
        row_set_count(row, "forward.memory.planned", 3000);
        row_set_count(row, "step.memory.planned", ranks == 1 ? 4096 : 1024);
        if (ranks == 2)
            row_set_count(row, "ranks.memory", 2048);
        add_row(record, row);
    }
    draw_charts(record, NULL, p->prefix, message);
    char *script = content(p, "_memory.gp");
    assert_in(script, "\n2 2048 2048 2048 0\n");
    assert_in(script, "\n1 3000 3000 3000 0\nEND");
    free(script);
    record_free(record);
}
