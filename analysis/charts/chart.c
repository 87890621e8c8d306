#include "analysis/charts/chart.h"

#define STEP    "a training step"
#define FORWARD "inference"
#define MEDIANS "medians, with their 95 % intervals"

/* In the order of what a run, which has at most FIGURES_OF_RUN, draws by itself. */
static const struct chart kinds[] = {
    {.name = "encoding",
     .axis = "time of one encoding",
     .noun = "Time",
     .base = UNITS_SI,
     .unit = "s",
     .note = MEDIANS,
     .count = 1,
     .quantities = {{"", "encodings", "encoding.time.median", SERIES_TIME, TIMED_ENCODING}}},
    {.name = "encoding_memory",
     .axis = "memory of one encoding",
     .noun = "Memory",
     .base = UNITS_BINARY,
     .unit = "B",
     .note = "peak (filled): while it is computed; stored (open): the encoding itself",
     .no_equals = true,
     .count = 2,
     .quantities = {{"peak", "encodings", "encoding.peak", SERIES_EXACT, TIMED_ENCODING},
                    {"stored", "encodings", "encoding.storage", SERIES_MEASURED, TIMED_ENCODING}}},
    {.name = "time",
     .axis = "time of one run",
     .noun = "Time",
     .base = UNITS_SI,
     .unit = "s",
     .note = MEDIANS,
     .count = 3,
     .quantities = {{"step", STEP, "step.time.median", SERIES_TIME, TIMED_STEP},
                    {"forward", FORWARD, "forward.time.median", SERIES_TIME, TIMED_FORWARD},
                    {"", "ops", "kernel.time.median", SERIES_TIME, TIMED_KERNEL}}},
    {.name = "throughput",
     .axis = "graphs per second",
     .noun = "Throughput",
     .base = UNITS_SI,
     .unit = "graphs/s",
     .note = "graphs of the batch over the median time, with 95 % intervals",
     .count = 2,
     .quantities = {{"step", "training", "step.throughput", SERIES_RATE, TIMED_STEP},
                    {"forward", "inference", "forward.throughput", SERIES_RATE, TIMED_FORWARD}}},
    {.name = "memory",
     .axis = "memory",
     .noun = "Memory",
     .base = UNITS_BINARY,
     .unit = "B",
     .note = "planned (filled): the arena, laid out before the run; resident (open): what one run took",
     .limits = true,
     .count = 4,
     .quantities = {{"step, planned", STEP, "step.memory.planned", SERIES_EXACT, TIMED_STEP},
                    {"step, resident", STEP, "step.memory.resident", SERIES_MEASURED, TIMED_STEP},
                    {"forward, planned", FORWARD, "forward.memory.planned", SERIES_EXACT, TIMED_FORWARD},
                    {"forward, resident", FORWARD, "forward.memory.resident", SERIES_MEASURED,
                     TIMED_FORWARD}}},
    {.name = "flops",
     .axis = "work of one run",
     .noun = "Work",
     .base = UNITS_SI,
     .unit = "FLOP",
     .note = "analytic (filled): what the mathematics asks for; executed (open): what the processor did",
     .count = 4,
     .quantities = {{"step, analytic", STEP, "step.flops.analytic", SERIES_EXACT, TIMED_STEP},
                    {"step, executed", STEP, "step.flops.executed", SERIES_MEASURED, TIMED_STEP},
                    {"forward, analytic", FORWARD, "forward.flops.analytic", SERIES_EXACT, TIMED_FORWARD},
                    {"forward, executed", FORWARD, "forward.flops.executed", SERIES_MEASURED,
                     TIMED_FORWARD}}},
};

static void add_chart(struct figures *f, const struct chart *chart, const struct drawing *d)
{
    struct chart_data data = {
        chart, d, series_collect(d->sources, d->count, d->axis, chart->quantities, chart->count), ""};
    if (chart->no_equals)
        chart_drop_duplicates(&data);
    bool bars = series_has_one_x(&data.set);
    if (data.set.count > 0)
        figures_add(f, chart->name, bars ? style_bars : style_scaling,
                    bars ? chart_write_bars : chart_write_lines, &data);
    series_free(&data.set);
}

void chart_add_all(struct figures *f, const struct chart *charts, size_t n, const struct drawing *d)
{
    for (size_t i = 0; i < n; i++)
        add_chart(f, &charts[i], d);
}

void chart_add(struct figures *f, const struct record *record, const struct field *axis)
{
    const struct source source = {.rows = record_rows(record)};
    bool kernels = rows_count(source.rows) > 0 && rows_at(source.rows, 0)->op;
    const struct drawing d = {.sources = &source,
                              .count = 1,
                              .rows = source.rows,
                              .record = record,
                              .axis = axis ? axis : axes_default(source.rows)};
    if (kernels && rows_count(source.rows) > BARS_MAX && !axes_vary(source.rows, d.axis))
        return;
    bool batches = strcmp(d.axis->path, "batch") == 0; /* otherwise throughput says what time says */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (batches || kinds[i].quantities[0].kind != SERIES_RATE)
            add_chart(f, &kinds[i], &d);
}
