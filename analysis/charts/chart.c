/*
 * Charts. Each has a gnuplot script with everything that depends on the rows, which loads plots/scaling.gp
 * for the style. One run of gnuplot draws all charts.
 */
#include "analysis/charts/chart.h"

#include "analysis/charts/figure.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/record/axes.h"
#include "analysis/record/record.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const struct chart charts[] = {
    {.name = "time",
     .axis = "time of one run",
     .what = "time",
     .base = UNITS_SI,
     .unit = "s",
     .note = "points: medians; bars: their 95 % intervals",
     .count = 3,
     .quantities = {{"step", "Training step", "step.time.median", "step.time.ci95_low", "step.time.ci95_high",
                     false},
                    {"forward", "Forward pass", "forward.time.median", "forward.time.ci95_low",
                     "forward.time.ci95_high", false},
                    {"op", "Op", "kernel.time.median", "kernel.time.ci95_low", "kernel.time.ci95_high",
                     false}}},
    {.name = "memory",
     .axis = "memory",
     .what = "memory",
     .base = UNITS_BINARY,
     .unit = "B",
     .note = "planned: arena, laid out before the run; open: resident memory of one run",
     .count = 4,
     .quantities = {{"step", "Training step", "step.memory.planned", NULL, NULL, false},
                    {"forward", "Forward pass", "forward.memory.planned", NULL, NULL, false},
                    {"step, resident", "Training step", "step.memory.resident", NULL, NULL, true},
                    {"forward, resident", "Forward pass", "forward.memory.resident", NULL, NULL, true}}},
    {.name = "flops",
     .axis = "work of one run",
     .what = "work",
     .base = UNITS_SI,
     .unit = "FLOP",
     .note = "analytic: derived from the mathematics; open: measured",
     .count = 4,
     .quantities = {{"step", "Training step", "step.flops.analytic", NULL, NULL, false},
                    {"forward", "Forward pass", "forward.flops.analytic", NULL, NULL, false},
                    {"step, executed", "Training step", "step.flops.executed", NULL, NULL, true},
                    {"forward, executed", "Forward pass", "forward.flops.executed", NULL, NULL, true}}},
    {.name = "throughput",
     .axis = "graphs per second",
     .what = "throughput",
     .base = UNITS_SI,
     .unit = "graphs/s",
     .note = "graphs of the batch over the median time",
     .count = 2,
     .quantities = {{"step", "Training step", "step.throughput", NULL, NULL, false},
                    {"forward", "Forward pass", "forward.throughput", NULL, NULL, false}}},
    {.name = "encoding",
     .axis = "time of one encoding",
     .what = "time",
     .base = UNITS_SI,
     .unit = "s",
     .note = "points: medians; bars: their 95 % intervals",
     .count = 1,
     .quantities = {{"", "Encoding", "encoding.time.median", "encoding.time.ci95_low",
                     "encoding.time.ci95_high", false}}},
    {.name = "encoding_memory",
     .axis = "memory of one encoding",
     .what = "memory",
     .base = UNITS_BINARY,
     .unit = "B",
     .note = "peak while it is computed; open: stored",
     .count = 2,
     .quantities = {{"", "Encoding", "encoding.peak", NULL, NULL, false},
                    {"stored", "Encoding", "encoding.storage", NULL, NULL, true}}},
};
enum { CHARTS = sizeof charts / sizeof *charts };
_Static_assert(sizeof charts / sizeof *charts <= CHARTS_MAX, "more charts than chart_draw_all draws");

/* Writes one chart's script to `path`; false with a message on failure. */
static bool write_chart_script(const char *path, const struct chart *c, const struct series_set *set,
                               const struct drawing *d, const char *prefix, const char *look, char *message)
{
    char pictures[PATH_MAX];
    snprintf(pictures, sizeof pictures, "%s_%s", prefix, c->name);
    FILE *out = fopen(path, "w");
    bool good = out && chart_script_write(out, c, set, d, pictures, look);
    if (out && fclose(out) != 0)
        good = false;
    if (!good)
        snprintf(message, MESSAGE_SIZE, "charts: %s: cannot be written: %s", path, strerror(errno));
    return good;
}

struct scripts {
    size_t count;
    char paths[CHARTS_MAX][PATH_MAX];
    const struct chart *charts[CHARTS_MAX];
};

/* Writes the scripts of those of all[n] that have points. */
static bool write_scripts(struct scripts *scripts, const struct chart *all, size_t n, const struct drawing *d,
                          const char *prefix, const char *look, char *message)
{
    for (size_t i = 0; i < n; i++) {
        const struct chart *c = &all[i];
        char *path = scripts->paths[scripts->count];
        struct series_set set = series_collect(d->sources, d->count, d->axis, c->quantities, c->count);
        bool good = true;
        if (set.count > 0 && snprintf(path, PATH_MAX, "%s_%s.gp", prefix, c->name) < PATH_MAX) {
            good = write_chart_script(path, c, &set, d, prefix, look, message);
            scripts->charts[scripts->count++] = c;
        }
        series_free(&set);
        if (!good)
            return false;
    }
    return true;
}

static enum chart_result skip(char *message, const char *why)
{
    snprintf(message, MESSAGE_SIZE, "charts skipped: %s", why);
    return CHART_SKIPPED;
}

static enum chart_result draw(const struct scripts *scripts, const char *prefix, char *message)
{
    const char *paths[CHARTS_MAX];
    for (size_t i = 0; i < scripts->count; i++)
        paths[i] = scripts->paths[i];
    switch (gnuplot_run(paths, scripts->count)) {
    case GNUPLOT_MISSING:
        return skip(message, "gnuplot is not installed");
    case GNUPLOT_FAILED:
        snprintf(message, MESSAGE_SIZE, "charts: gnuplot failed on %s", paths[0]);
        return CHART_FAILED;
    case GNUPLOT_DONE:
        break;
    }
    size_t used = (size_t)snprintf(message, MESSAGE_SIZE, "charts:");
    for (size_t i = 0; i < scripts->count && used < MESSAGE_SIZE; i++)
        used += (size_t)snprintf(message + used, MESSAGE_SIZE - used, " %s_%s.png", prefix,
                                 scripts->charts[i]->name);
    if (used < MESSAGE_SIZE)
        snprintf(message + used, MESSAGE_SIZE - used, " (and .svg)");
    return CHART_DRAWN;
}

enum chart_result chart_draw_all(const struct chart *all, size_t n, const struct drawing *d,
                                 const char *plots_dir, const char *prefix, char *message)
{
    struct scripts scripts = {0};
    char look[PATH_MAX];
    if (d->axis->type == FIELD_TEXT) {
        snprintf(message, MESSAGE_SIZE, "charts skipped: %s is not numeric", d->axis->path);
        return CHART_SKIPPED;
    }
    if (!figure_look(plots_dir, "scaling.gp", look))
        return skip(message, "analysis/plots/scaling.gp was not found");
    if (!write_scripts(&scripts, all, n, d, prefix, look, message))
        return CHART_FAILED;
    if (scripts.count == 0)
        return skip(message, "no row has a value to draw");
    return draw(&scripts, prefix, message);
}

enum chart_result chart_draw(const struct record *record, const struct field *axis, const char *plots_dir,
                             const char *prefix, char *message)
{
    const struct source source = {.rows = record_rows(record)};
    const struct drawing d = {.sources = &source,
                              .count = 1,
                              .rows = source.rows,
                              .record = record,
                              .axis = axis ? axis : axes_default(source.rows)};
    return chart_draw_all(charts, CHARTS, &d, plots_dir, prefix, message);
}
