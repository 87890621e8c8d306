/* Charts of parts of the time, of the fastest attention, and the lines of memory. */
#include <math.h>

#include "analysis/charts/charts.h"
#include "analysis/charts/winner_chart.h"
#include "analysis/record/profile.h"
#include "tests/chart_directory.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* Whether the charts of the record have one of this name; *script: its text, to be freed. */
static bool has_figure(chart_adder *add, const struct record *record, const char *name, char **script)
{
    struct figures f = {0};
    *script = NULL;
    add(&f, record, NULL);
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.list[i].name, name) == 0)
            *script = strdup(f.list[i].script);
    figures_free(&f);
    return *script;
}

/* linear takes this share, add the rest; of runs, or predicted. */
static void set_profile(struct row *row, double share, bool ran)
{
    char span[] = "layer1";
    double seconds = ran ? share : NAN, rest = ran ? 1 - share : NAN;
    struct profile_entry entries[] = {
        {"linear", "simd", "forward", span, seconds, share, "compute", 1, 1, 1, {1}, NULL},
        {"add", "simd", "forward", span, rest, 1 - share, "memory", 1, 1, 1, {1}, NULL},
    };
    profile_write(&(struct profile){.runs = ran ? 10 : 0, .count = 2, .entries = entries, .ceilings = ""},
                  row, TIMED_STEP);
}

TEST(test_ops)
{
    char *script;
    for (int ran = 0; ran < 2; ran++) {
        struct record *record = empty_record();
        static const double shares[] = {0.25, 0.5, 0.75};
        for (int i = 0; i < 3; i++) { /* of which the last is not ok */
            struct row *row = i < 2 ? good_row(200 - 100 * i) : failed_row(300, "failed", "planted");
            set_profile(row, shares[i], ran);
            add_row(record, row);
            assert_true(has_figure(parts_chart_add, record, "ops", &script) == (i > 0));
            if (i < 2)
                free(script);
        }
        assert_in(script, "$points << END\n100 0 50 100\n200 0 75 100\nEND\n");
        assert_in(script, ran ? "Share of the ops in the time of a training step over nodes"
                              : "Share of the ops in the predicted time of a training step over nodes");
        free(script);
        record_free(record);
    }
}

TEST(test_phases)
{
    char *script;
    struct record *record = empty_record();
    for (int i = 1; i <= 2; i++) {
        struct row *row = good_row(100);
        row->batch = 4 * i;
        row->step.time.median = 0.1 * i;
        row->step.backward.time.median = 0.05 * i;
        row->step.optimizer.time.median = 0.01;
        add_row(record, row);
        assert_true(has_figure(parts_chart_add, record, "phases", &script) == (i > 1));
        if (i < 2)
            free(script);
    }
    assert_in(script, "array label[3]\n");
    assert_in(script,
              "$points << END\n4 0 0.01 0.0225 0.025\n8 0 0.01125 0.02375 0.025\nEND\n"); /* of a graph */
    free(script);
    record_free(record);
}

/* --- the fastest attention */

/* A row; seconds of 0: out of memory. */
static struct row *rival(const char *attention, int nodes, double degree, double seconds)
{
    struct row *row = seconds > 0 ? good_row(nodes) : failed_row(nodes, "oom", "planted");
    row->nodes = nodes;
    row->degree = degree;
    row_set_text(row, "attention", attention);
    if (seconds > 0)
        set_time(row, "step.time", seconds, 0.01);
    return row;
}

TEST(test_winner)
{
    char *script;
    struct record *record = empty_record();
    const struct {
        int nodes;
        double degree, dense, sparse; /* NAN: no row */
        int winner;
        double factor;
    } cells[] = {{100, 2, 1, 2, 0, 2},          {100, 8, 3, 2, 1, 1.5},
                 {200, 2, 1, 1.005, -1, 1.005},                         /* intervals overlap */
                 {200, 8, 0, 2, 1, NAN},                                /* out of memory */
                 {400, 2, 1, NAN, -1, NAN},     {400, 8, 1, 2, -1, 2}}; /* noisy */
    enum { CELLS = sizeof cells / sizeof *cells };
    for (size_t i = 0; i < CELLS; i++) {
        struct row *row = rival("dense", cells[i].nodes, cells[i].degree, cells[i].dense);
        if (i == CELLS - 1)
            set_time(row, "step.time", cells[i].dense, 3);
        add_row(record, row);
        assert_false(has_figure(winner_chart_add, record, "winner", &script)); /* dense alone */
    }
    for (size_t i = 0; i < CELLS; i++)
        if (!isnan(cells[i].sparse))
            add_row(record, rival("sparse", cells[i].nodes, cells[i].degree, cells[i].sparse));
    struct map m;
    assert_true(map_of(record_rows(record), &m));
    assert_true(m.kinds == 2 && m.columns == 3 && m.lines == 2 && m.program == TIMED_STEP);
    for (size_t i = 0; i < CELLS; i++) {
        const struct map_cell *c = &m.cell[i / 2][i % 2];
        assert_int_equal(c->winner, cells[i].winner);
        assert_true(isnan(cells[i].factor) ? isnan(c->factor) : fabs(c->factor / cells[i].factor - 1) < 0.01);
    }
    assert_true(has_figure(winner_chart_add, record, "winner", &script));
    assert_in(script, "The fastest attention in a training step, by nodes and degree");
    assert_in(script, "0 0 1 \"2x\"\n0 1 2 \"1.5x\"\n1 0 0 \"open\"\n1 1 2 \"alone\"\n");
    free(script);
    record_free(record);
}

GROUP("tests", hide_gnuplot, NULL)
