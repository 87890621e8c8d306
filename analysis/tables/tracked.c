#include "analysis/tables/tracked.h"

#include "analysis/statistics/allocate.h"

/* The axes of a row of default flags, the first line of an axis counts; others have no default. */
static const struct {
    const char *path, *value;
} defaults[] = {
    {"nodes", ""},          /* always named */
    {"attention", "dense"}, /* of the default model, as the next */
    {"mpnn", "gin"},        {"device", "cpu"}, {"seed", "42"},
#define AXIS(id, flag, group, name, kind, place, standard, ...) {SCHEMA_PATH_OF(group, name), standard},
#include "analysis/record/axes.def"
};

/* Whether the name of a row says the axis: a property of the row alone, whatever else was measured. */
static bool is_named(const struct value *head, const struct row *row, const struct field *axis)
{
    char value[AXES_TEXT];
    int64_t cores = 0, ranks = row->ranks.count > 1 ? row->ranks.count : 1;
    size_t i = 0, count = sizeof defaults / sizeof *defaults;
    axes_text(row, axis, value);
    if (strcmp(axis->path, "ffn") == 0)
        return row->ffn != 2 * row->hidden && *value;
    if (strcmp(axis->path, "threads") == 0 && value_get_count(head, "host.cores", &cores))
        return row->threads != (cores > ranks ? cores / ranks : 1);
    while (i < count && strcmp(defaults[i].path, axis->path) != 0)
        i++;
    return *value && (i == count || strcmp(defaults[i].value, value) != 0);
}

/* "bench_model: step, 500 nodes"; to be freed. */
static char *name_time(const struct value *head, const struct row *row, size_t kind)
{
    char *name = NULL, axis[AXES_TEXT];
    size_t size;
    FILE *out = open_text(&name, &size);
    fprintf(out, "%s: %s", value_text_or(head, "benchmark", ""), program_name(kind));
    for (const struct field *f = schema_fields; schema_has(f); f++)
        if (f->symbol && is_named(head, row, f)) {
            axes_describe(row, f, axis);
            fprintf(out, ", %s", axis);
        }
    fclose(out);
    return name;
}

static void set_bounds(struct value *metric, const struct row_times *time)
{
    value_set_real(metric, "value", 1e9 * time->median);
    if (!(time->range_low < time->range_high))
        return;
    value_set_real(metric, "lower_value", 1e9 * time->range_low);
    value_set_real(metric, "upper_value", 1e9 * time->range_high);
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
    snprintf(range, sizeof range, "%.4g to %.4g", 1e3 * time->range_low, 1e3 * time->range_high);
    if (time->range_low < time->range_high)
        value_set_text(entry, "range", range);
    value_append(all, entry);
}

void tracked_print(FILE *out, bool github, const struct value *head, const struct table_line *lines, size_t n)
{
    struct value *all = github ? value_new_array() : value_new_object();
    for (size_t i = 0; i < n; i++)
        for (size_t kind = 0; kind < TIMED; kind++) {
            const struct row_times *time = row_timed(lines[i].row, kind);
            if (!row_is_ok(lines[i].row) || isnan(time->median))
                continue;
            char *name = name_time(head, lines[i].row, kind);
            (github ? append_time : set_time)(all, name, time);
            free(name);
        }
    value_write_indented(all, 1, out);
    putc('\n', out);
    value_free(all);
}
