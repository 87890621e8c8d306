#include "analysis/tables/tracked.h"

#include <math.h>

#include "analysis/tables/units.h"

/* "bench_model: step, 500 nodes" */
static void name_time(const struct value *head, const struct table *t, const struct row *row, size_t kind,
                      char *name, size_t size)
{
    const char *benchmark = "";
    char axes[AXES_TEXT];
    value_get_text(head, "benchmark", &benchmark);
    axes_describe_all(row, t->axes, t->axes_count, axes);
    snprintf(name, size, "%s: %s%s%s", benchmark, program_name(kind), *axes ? ", " : "", axes);
}

static void set_bounds(struct value *metric, const struct row_times *time)
{
    value_set_real(metric, "value", 1e9 * time->median);
    if (isnan(time->ci95_low) || isnan(time->ci95_high))
        return;
    value_set_real(metric, "lower_value", 1e9 * time->ci95_low);
    value_set_real(metric, "upper_value", 1e9 * time->ci95_high);
}

static void set_time(struct value *all, const char *name, const struct row_times *time)
{
    struct value *measures = value_new_object(), *metric = value_new_object();
    set_bounds(metric, time);
    value_set(measures, "latency", metric);
    value_set(all, name, measures);
}

static void append_time(struct value *all, const char *name, const struct row_times *time)
{
    struct value *entry = value_new_object();
    char range[UNITS_TEXT];
    value_set_text(entry, "name", name);
    value_set_text(entry, "unit", "ms");
    value_set_real(entry, "value", 1e3 * time->median);
    snprintf(range, sizeof range, "%.4g to %.4g", 1e3 * time->ci95_low, 1e3 * time->ci95_high);
    if (!isnan(time->ci95_low) && !isnan(time->ci95_high))
        value_set_text(entry, "range", range);
    value_append(all, entry);
}

void tracked_print(FILE *out, bool github, const struct value *head, const struct table *axes,
                   const struct table_line *lines, size_t n)
{
    struct value *all = github ? value_new_array() : value_new_object();
    for (size_t i = 0; i < n; i++)
        for (size_t kind = 0; kind < TIMED; kind++) {
            const struct row_times *time = row_timed(lines[i].row, kind);
            char name[2 * AXES_TEXT];
            if (!row_is_ok(lines[i].row) || isnan(time->median))
                continue;
            name_time(head, axes, lines[i].row, kind, name, sizeof name);
            (github ? append_time : set_time)(all, name, time);
        }
    value_write_indented(all, 1, out);
    putc('\n', out);
    value_free(all);
}
