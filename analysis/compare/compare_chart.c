#include "analysis/compare/compare_chart.h"

#include "analysis/charts/chart_text.h"
#include "analysis/compare/compare_notes.h"

enum { CHARTS = 2 }; /* one for each of the first programs */

static const struct chart charts[CHARTS] = {
    {.name = "forward",
     .axis = "time of one run",
     .what = "time",
     .base = UNITS_SI,
     .unit = "s",
     .note = "points: medians; bars: their 95 % intervals",
     .count = 1,
     .quantities = {{"", "Forward pass", "forward.time.median", "forward.time.ci95_low",
                     "forward.time.ci95_high", false}}},
    {.name = "step",
     .axis = "time of one run",
     .what = "time",
     .base = UNITS_SI,
     .unit = "s",
     .note = "points: medians; bars: their 95 % intervals",
     .count = 1,
     .quantities = {{"", "Training step", "step.time.median", "step.time.ci95_low", "step.time.ci95_high",
                     false}}},
};

/* "Training step, time over that of A: B 0.891, C 1.23 (geometric means)" */
static const char *title(char text[CHART_TEXT], const struct comparison *c, size_t program)
{
    int used = snprintf(text, CHART_TEXT, "%s, time over that of A:", charts[program].quantities[0].subject);
    const char *separator = "";
    for (size_t f = 1; f < c->count; f++) {
        struct tally t = comparison_tally(c, f, program);
        if (t.ratios == 0)
            continue;
        used += snprintf(text + used, CHART_TEXT - (size_t)used, "%s %c %#.3g", separator, c->files[f].letter,
                         t.mean);
        separator = ",";
    }
    snprintf(text + used, CHART_TEXT - (size_t)used, " (geometric mean%s)", c->count > 2 ? "s" : "");
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
    enum chart_result result = chart_draw_all(drawn, n, &d, NULL, prefix, message);
    for (size_t f = 0; f < c->count; f++)
        rows_free((struct rows *)sources[f].rows);
    rows_free(all);
    return result;
}
