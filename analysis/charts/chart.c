/* Charts: their quantities and words. */
#include "analysis/charts/chart.h"

#include "analysis/charts/style.h"
#include "analysis/record/axes.h"
#include "analysis/record/record.h"

#include <string.h>

#define STEP    "A training step"
#define FORWARD "A forward pass"
#define MEDIANS "medians, with their 95 % intervals"

const struct chart chart_kinds[CHARTS_MAX] = {
    {.name = "time",
     .axis = "time of one run",
     .verb = "takes",
     .base = UNITS_SI,
     .unit = "s",
     .note = MEDIANS,
     .count = 3,
     .quantities = {{"step", STEP, "step.time.median", SERIES_TIME, "step"},
                    {"forward", FORWARD, "forward.time.median", SERIES_TIME, "forward"},
                    {"", "An op", "kernel.time.median", SERIES_TIME, "kernel"}}},
    {.name = "memory",
     .axis = "memory",
     .verb = "needs",
     .base = UNITS_BINARY,
     .unit = "B",
     .note = "planned (filled): the arena, laid out before the run; resident (open): what one run took",
     .count = 4,
     .quantities = {{"step, planned", STEP, "step.memory.planned", SERIES_EXACT, NULL},
                    {"step, resident", STEP, "step.memory.resident", SERIES_MEASURED, NULL},
                    {"forward, planned", FORWARD, "forward.memory.planned", SERIES_EXACT, NULL},
                    {"forward, resident", FORWARD, "forward.memory.resident", SERIES_MEASURED, NULL}}},
    {.name = "flops",
     .axis = "work of one run",
     .verb = "needs",
     .base = UNITS_SI,
     .unit = "FLOP",
     .note = "analytic (filled): what the mathematics asks for; executed (open): what the processor did",
     .count = 4,
     .quantities = {{"step, analytic", STEP, "step.flops.analytic", SERIES_EXACT, NULL},
                    {"step, executed", STEP, "step.flops.executed", SERIES_MEASURED, NULL},
                    {"forward, analytic", FORWARD, "forward.flops.analytic", SERIES_EXACT, NULL},
                    {"forward, executed", FORWARD, "forward.flops.executed", SERIES_MEASURED, NULL}}},
    {.name = "throughput",
     .axis = "graphs per second",
     .verb = "handles",
     .base = UNITS_SI,
     .unit = "graphs/s",
     .note = "graphs of the batch over the median time, with 95 % intervals",
     .count = 2,
     .quantities = {{"step", "Training", "step.throughput", SERIES_RATE, "step"},
                    {"forward", "Inference", "forward.throughput", SERIES_RATE, "forward"}}},
    {.name = "encoding",
     .axis = "time of one encoding",
     .verb = "takes",
     .base = UNITS_SI,
     .unit = "s",
     .note = MEDIANS,
     .count = 1,
     .quantities = {{"", "The encoding", "encoding.time.median", SERIES_TIME, "encoding"}}},
    {.name = "encoding_memory",
     .axis = "memory of one encoding",
     .verb = "needs",
     .base = UNITS_BINARY,
     .unit = "B",
     .note = "peak (filled): while it is computed; stored (open): the encoding itself",
     .count = 2,
     .quantities = {{"peak", "The encoding", "encoding.peak", SERIES_EXACT, NULL},
                    {"stored", "The encoding", "encoding.storage", SERIES_MEASURED, NULL}}},
};
_Static_assert((int)CHARTS_MAX <= (int)FIGURES_MAX, "more charts than figures_draw draws");

enum chart_result chart_draw_all(const struct chart *all, size_t n, const struct drawing *d,
                                 const char *prefix, char *message)
{
    struct chart_data data[CHARTS_MAX];
    struct figure figures[CHARTS_MAX] = {0};
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct chart_data *c = &data[count];
        *c = (struct chart_data){
            .chart = &all[i],
            .drawing = d,
            .set = series_collect(d->sources, d->count, d->axis, all[i].quantities, all[i].count)};
        if (c->set.count == 0)
            continue;
        bool bars = series_has_one_x(&c->set);
        figures[count] = (struct figure){.style = bars ? style_bars : style_scaling,
                                         .write = bars ? chart_write_bars : chart_write_lines,
                                         .what = c};
        snprintf(figures[count++].name, sizeof figures->name, "%s", all[i].name);
    }
    enum chart_result result = figures_draw(figures, count, prefix, message);
    while (count > 0)
        series_free(&data[--count].set);
    return result;
}

enum chart_result chart_draw(const struct record *record, const struct field *axis, const char *prefix,
                             char *message)
{
    const struct source source = {.rows = record_rows(record)};
    const struct drawing d = {.sources = &source,
                              .count = 1,
                              .rows = source.rows,
                              .record = record,
                              .axis = axis ? axis : axes_default(source.rows)};
    return chart_draw_all(chart_kinds, CHARTS_MAX, &d, prefix, message);
}
