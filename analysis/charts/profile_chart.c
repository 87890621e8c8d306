#include "analysis/charts/profile_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/charts/chart_script.h"
#include "analysis/charts/frame.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/style.h"
#include "analysis/record/profile.h"

/* Ops beyond these, the longest, are one bar. */
enum { OPS_MOST = 10 };

static void add_bar(struct series_set *set, const struct quantity *quantity, const char *name, double seconds)
{
    struct series *s = &set->series[set->count++];
    *s = (struct series){.quantity = quantity, .count = 1, .points = calloc(1, sizeof *s->points)};
    if (!s->points)
        abort();
    snprintf(s->group, sizeof s->group, "%s", name);
    s->points->at = (struct law_point){.x = 1, .y = seconds, .low = seconds, .high = seconds};
}

/* Two bars for each op: its time, and its time at the ceilings if that is known. */
static struct series_set make_bars(struct profile_group *groups, size_t n,
                                   const struct quantity quantities[2])
{
    struct series_set set = {0, calloc(2 * OPS_MOST + 2, sizeof *set.series)};
    struct profile_group others = {.key = "other ops"};
    if (!set.series)
        abort();
    for (size_t i = 0; i < n; i++) {
        if (i >= OPS_MOST) {
            others.seconds += groups[i].seconds;
            continue;
        }
        add_bar(&set, &quantities[0], groups[i].key, groups[i].seconds);
        if (isfinite(groups[i].least))
            add_bar(&set, &quantities[1], "", groups[i].least);
    }
    if (others.seconds > 0)
        add_bar(&set, &quantities[0], others.key, others.seconds);
    return set;
}

static enum chart_result draw(const struct record *record, const struct row *row, const struct profile *p,
                              const char *program, const char *prefix, char *message)
{
    size_t n;
    char title[CHART_TEXT], op[2 * PROFILE_KEY];
    struct rows *rows = rows_new_view();
    struct profile_group *groups = profile_groups(p, PROFILE_OP, PROFILE_LONGEST, &n);
    struct chart chart = {
        .name = "profile",
        .axis = "time in the op",
        .base = UNITS_SI,
        .unit = "s",
        .note = "medians of runs with a mark after each entry; open: the time at the machine's ceilings",
        .title = title,
        .count = 2,
        .quantities = {{"", "", "", SERIES_EXACT, NULL}, {"at the ceilings", "", "", SERIES_MEASURED, NULL}}};
    rows_append(rows, (struct row *)row);
    const struct drawing drawing = {.rows = rows, .record = record, .axis = schema_find("nodes")};
    struct chart_data data = {&chart, &drawing, make_bars(groups, n, chart.quantities)};
    gnuplot_escape(op, sizeof op, groups[0].key);
    snprintf(title, sizeof title, "%s spends %.0f %% of its time in %s",
             strcmp(program, "step") == 0 ? "A training step" : "A forward pass",
             100 * groups[0].seconds / profile_total(p).seconds, op);
    struct figure figure = {.name = "profile", .style = style_bars, .write = chart_write_bars, .what = &data};
    enum chart_result result = figures_draw(&figure, 1, prefix, message);
    series_free(&data.set);
    rows_free(rows);
    free(groups);
    return result;
}

enum chart_result profile_chart_draw(const struct record *record, const char *prefix, char *message)
{
    struct profile p;
    const char *program = "step";
    const struct row *row = profile_of_largest(record_rows(record), program, &p);
    if (!row)
        row = profile_of_largest(record_rows(record), program = "forward", &p);
    *message = '\0';
    enum chart_result result = row && p.count > 0 && profile_total(&p).seconds > 0
                                   ? draw(record, row, &p, program, prefix, message)
                                   : CHART_SKIPPED;
    profile_free(&p);
    return result;
}
