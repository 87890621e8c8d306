#include "analysis/compare/compare_chart.h"

#include "analysis/charts/chart_text.h"
#include "analysis/compare/compare_notes.h"

enum { CHARTS = 2 }; /* one for each of the first programs */

#define OVER_AXIS                                                                                            \
    .axis = "time of one run", .verb = "takes", .base = UNITS_SI, .unit = "s",                               \
    .note = "medians, with their 95 % intervals", .count = 1

static const struct chart charts[CHARTS] = {
    {.name = "forward",
     OVER_AXIS,
     .quantities = {{"", "A forward pass", "forward.time.median", SERIES_TIME, "forward"}}},
    {.name = "step",
     OVER_AXIS,
     .quantities = {{"", "A training step", "step.time.median", SERIES_TIME, "step"}}},
};

/* " 0.554 times as long in B on average (2 faster, 1 unclear)" */
static int describe_file(char *text, size_t size, char letter, const struct tally *t)
{
    if (t->verdicts[VERDICT_UNCLEAR] == t->pairs)
        return snprintf(text, size, " unclear in %c (%zu row%s)", letter, t->pairs, t->pairs == 1 ? "" : "s");
    int used = snprintf(text, size, " %#.3g times as long in %c on average", t->mean, letter);
    const char *separator = " (";
    for (int k = VERDICTS - 1; k >= 0; k--)
        if (t->verdicts[k] > 0) {
            used += snprintf(text + used, size - (size_t)used, "%s%zu %s", separator, t->verdicts[k],
                             verdict_name((enum verdict_kind)k));
            separator = ", ";
        }
    return used + snprintf(text + used, size - (size_t)used, ")");
}

/* "A training step, compared with A: 0.554 times as long in B on average (2 faster, 1 unclear)" */
static const char *title(char text[CHART_TEXT], const struct comparison *c, size_t program)
{
    int used = snprintf(text, CHART_TEXT, "%s, compared with A", charts[program].quantities[0].subject);
    const char *separator = ":";
    for (size_t f = 1; f < c->count; f++) {
        struct tally t = comparison_tally(c, f, program);
        if (t.ratios == 0)
            continue;
        used += snprintf(text + used, CHART_TEXT - (size_t)used, "%s", separator);
        used += describe_file(text + used, CHART_TEXT - (size_t)used, c->files[f].letter, &t);
        separator = ",";
    }
    return text;
}

/* The matched rows of a file, which are also appended to `all`. */
static struct rows *rows_matched(const struct comparison *c, size_t file, struct rows *all)
{
    struct rows *rows = rows_new_view();
    for (size_t i = 0; i < comparison_lines(c); i++)
        if (comparison_row(c, file, i)) {
            rows_append(rows, (struct row *)comparison_row(c, file, i));
            rows_append(all, (struct row *)comparison_row(c, file, i));
        }
    return rows;
}

enum chart_result compare_chart(const struct comparison *c, const char *prefix, char *message)
{
    struct source sources[COMPARED_MAX];
    struct chart drawn[CHARTS];
    char names[COMPARED_MAX][2 * AXES_TEXT], titles[CHARTS][CHART_TEXT];
    size_t n = 0;
    struct rows *all = rows_new_view();
    for (size_t f = 0; f < c->count; f++) {
        char label[AXES_TEXT];
        compare_label(label, c, f);
        snprintf(names[f], sizeof names[f], "%c: %s", c->files[f].letter, label);
        sources[f] = (struct source){.name = names[f], .rows = rows_matched(c, f, all)};
    }
    for (size_t p = 0; p < CHARTS; p++)
        if (c->programs[p]) {
            drawn[n] = charts[p];
            drawn[n++].title = title(titles[p], c, p);
        }
    struct drawing d = {
        .sources = sources, .count = c->count, .rows = all, .axis = axes_default(sources[0].rows)};
    enum chart_result result = chart_draw_all(drawn, n, &d, prefix, message);
    for (size_t f = 0; f < c->count; f++)
        rows_free((struct rows *)sources[f].rows);
    rows_free(all);
    return result;
}
