/* The columns of a table, and the fields of CSV, if none were asked for. */
#include "analysis/tables/columns.h"
#include "analysis/tables/table.h"

void table_choose(struct table *t, const bool timed[TIMED], bool planned)
{
    struct column list[COLUMNS_MAX];
    bool presets = table_has_axis(t, "preset"),
         batches = table_has_axis(t, "batch") || table_has_axis(t, "batching") || presets ||
                   table_has_axis(t, "ranks.count") || table_has_axis(t, "ranks.parallel");
    size_t lead = timed[TIMED_STEP] ? TIMED_STEP : timed[TIMED_FORWARD] ? TIMED_FORWARD : TIMED_KERNEL;
    unsigned where = (planned ? IN_PLAN : IN_TABLE) | (presets ? IN_PRESETS : planned ? 0 : IN_ENCODINGS);
    size_t n = columns_chosen(where, lead, list);
    for (size_t i = 0; i < n; i++)
        if (batches || !(list[i].where & OF_BATCHES))
            table_add(t, (const char *[]){list[i].path, NULL});
}

static void add_field(struct csv_fields *p, const char *group, const char *name)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s%s", group, name);
    const struct field *f = schema_find(path);
    for (size_t i = 0; f && i < p->count; i++)
        if (p->list[i] == f)
            return;
    if (f)
        p->list[p->count++] = f;
}

static void add_column(struct csv_fields *p, const struct column *c)
{
    static const char *const of_times[] = {".time.median", ".time.range_low", ".time.range_high",
                                           ".time.noisy"};
    for (size_t i = 0; i < sizeof of_times / sizeof *of_times && column_is_time(c); i++)
        add_field(p, c->path, of_times[i]);
    if (c->field || column_is_time(c))
        return add_field(p, c->path, "");
    add_field(p, c->path, ".executed");
    if (strcmp(c->path, "kernel.rate") == 0) {
        add_field(p, "kernel", ".gflops");
        add_field(p, "kernel", ".bandwidth");
    }
}

struct csv_fields table_csv(const struct table *t, const bool timed[TIMED])
{
    struct csv_fields p = {.count = 0};
    struct column list[COLUMNS_MAX];
    size_t n = t->all ? t->count : columns_chosen(IN_CSV, TIMED, list);
    for (size_t i = 0; i < n && t->all; i++)
        list[i] = column_named(t->columns[i]);
    add_field(&p, "status", "");
    add_field(&p, "reason", "");
    for (size_t i = 0; i < t->axes_count; i++)
        add_field(&p, t->axes[i]->path, "");
    for (size_t i = 0; i < n; i++)
        if (t->all || list[i].program == TIMED || timed[list[i].program])
            add_column(&p, &list[i]);
    return p;
}
