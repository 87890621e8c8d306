#include "analysis/compare/compare.h"

enum { CHARTS = 2 }; /* one for each of the first programs */

#define OVER_AXIS                                                                                            \
    .axis = "time of one run", .noun = "Time", .base = UNITS_SI, .unit = "s",                                \
    .note = "medians, with their 95 % intervals", .count = 1

static const struct chart charts[CHARTS] = {
    {.name = "forward",
     OVER_AXIS,
     .quantities = {{"", "inference, by file,", "forward.time.median", SERIES_TIME, TIMED_FORWARD}}},
    {.name = "step",
     OVER_AXIS,
     .quantities = {{"", "a training step, by file,", "step.time.median", SERIES_TIME, TIMED_STEP}}},
};

/* The rows of a file with the times that the table shows. To be freed. */
static struct rows *drawn_rows(const struct comparison *c, size_t file)
{
    struct rows *rows = rows_new();
    for (size_t line = 0; line < comparison_lines(c); line++)
        if (comparison_row(c, file, line)) {
            struct row *row = row_copy(comparison_row(c, file, line));
            rows_append(rows, row);
            for (size_t p = 0; p < TIMED && c->files[file].runs.count > 1; p++) {
                row_timed(row, p)->median = comparison_time(c, file, line, p);
                row_timed(row, p)->ci95_low = row_timed(row, p)->ci95_high = NAN;
            }
        }
    return rows;
}

enum chart_result compare_chart(const struct comparison *c, const char *prefix, char *message)
{
    struct source sources[COMPARED_MAX];
    struct chart drawn[CHARTS];
    char names[COMPARED_MAX][2 * AXES_TEXT];
    struct figures figures = {0};
    size_t n = 0;
    struct rows *all = rows_new_view();
    for (size_t f = 0; f < c->count; f++) {
        char label[AXES_TEXT];
        compare_label(label, c, f);
        snprintf(names[f], sizeof names[f], "%c: %s", c->files[f].letter, label);
        sources[f] = (struct source){.name = names[f], .rows = drawn_rows(c, f)};
        for (size_t i = 0; i < rows_count(sources[f].rows); i++)
            rows_append(all, rows_at(sources[f].rows, i));
    }
    for (size_t p = 0; p < CHARTS; p++)
        if (c->programs[p])
            drawn[n++] = charts[p];
    struct drawing d = {
        .sources = sources, .count = c->count, .rows = all, .axis = axes_default(sources[0].rows)};
    chart_add_all(&figures, drawn, n, &d);
    struct crossings ratios = compare_crossings(c);
    crossing_chart_draw(&figures, "ratio", &ratios, true, &d);
    crossings_free(&ratios);
    enum chart_result result = figures_draw(&figures, prefix, message);
    figures_free(&figures);
    for (size_t f = 0; f < c->count; f++)
        rows_free((struct rows *)sources[f].rows);
    rows_free(all);
    return result;
}
