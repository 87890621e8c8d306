#include "analysis/tables/choice.h"

#include "analysis/tables/columns.h"

#include <stdio.h>
#include <string.h>

/* P is the program that the question is mostly about. */
static const char *const of_encodings[] = {"encoding",          "encoding.method",          "encoding.peak",
                                           "encoding.residual", "encoding.break_even_step", NULL};
static const char *const measured[] = {"forward",
                                       "step",

                                       "kernel",
                                       "P.throughput",
                                       "kernel.rate",
                                       "P.gflops",
                                       "P.roofline.percent",
                                       "P.memory.planned",
                                       "graph.padding_waste",
                                       "kernel.bound.ratio",
                                       "kernel.cold.median",
                                       "P.flops",
                                       NULL};
static const char *const planned_only[] = {"forward.predicted.time",
                                           "step.predicted.time",
                                           "kernel.predicted.time",
                                           "P.flops.analytic",
                                           "P.bytes",
                                           "P.intensity",
                                           "P.memory.planned",
                                           "encoding.bound.flops",
                                           "encoding.storage",
                                           NULL};
static const char *const of_ranks[] = {"step.communication.bytes",
                                       "step.communication.time",
                                       "step.communication.predicted",
                                       "step.communication.exposed",
                                       "step.communication.predicted_run",
                                       "ranks.imbalance",
                                       "ranks.memory",
                                       NULL};

static bool has_axis(const struct table *t, const char *path)
{
    for (size_t i = 0; i < t->axes_count; i++)
        if (strcmp(t->axes[i]->path, path) == 0)
            return true;
    return false;
}

/* Whether the axes are about batches, or how work is shared out. */
static bool is_of_batches(const struct table *t)
{
    return has_axis(t, "batch") || has_axis(t, "batching") || has_axis(t, "preset") ||
           has_axis(t, "ranks.count") || has_axis(t, "ranks.parallel");
}

static size_t lead_of(const bool timed[TIMED])
{
    return timed[TIMED_STEP] ? TIMED_STEP : timed[TIMED_FORWARD] ? TIMED_FORWARD : TIMED_KERNEL;
}

/* The column of a program that a name with P stands for; null: there is none. */
static const char *resolve_column(const char *name, size_t program)
{
    char path[SCHEMA_PATH];
    if (strncmp(name, "P.", 2) != 0)
        return name;
    snprintf(path, sizeof path, "%s%s", program_name(program), name + 1);
    return column_named(path).path;
}

static void choose_columns(struct table *t, const char *const *names, size_t lead)
{
    bool batches = is_of_batches(t);
    for (; *names; names++) {
        bool of_batches = strcmp(*names, "P.throughput") == 0 || strcmp(*names, "graph.padding_waste") == 0;
        bool is_rate = lead == TIMED_KERNEL && strcmp(*names, "P.gflops") == 0; /* kernel.rate says it */
        const char *column = resolve_column(*names, lead);
        if (column && (batches || !of_batches) && !is_rate)
            table_add(t, (const char *[]){column, NULL});
    }
}

void table_choose(struct table *t, const bool timed[TIMED], bool planned)
{
    static const char *const of_presets[] = {"batch", "nodes", NULL};
    size_t lead = lead_of(timed);
    if (has_axis(t, "preset"))
        table_add(t, of_presets);
    else if (!planned)
        table_add(t, of_encodings);
    choose_columns(t, planned ? planned_only : measured, lead);
    table_add(t, of_ranks);
}
