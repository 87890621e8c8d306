#include "bench/sweep/report_columns.h"

#include <string.h>

/* Whether an axis is a column: it has several values, or names what was measured. */
static bool is_column(const struct options *o, enum axis a)
{
    return o->axes[a].count > 1 || (o->largest.kind && a == o->largest.axis) ||
           (a == AXIS_PRESET && o->bench->axis == a);
}

/* Whether it is one of the table's axes or columns. */
static bool has_column(const struct table *t, const char *column)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->columns[i], column) == 0)
            return true;
    for (size_t i = 0; i < t->axes_count; i++)
        if (strcmp(t->axes[i]->path, column) == 0)
            return true;
    return false;
}

/* The table's axis columns, and the device if several. */
static void choose_axes(const struct options *o, struct table *t)
{
    bool several = o->device.count > 1;
    enum axis order[AXES];
    if (several)
        t->axes[t->axes_count++] = schema_find("device");
    if (o->kernels) {
        t->axes[t->axes_count++] = schema_find("op");
        t->axes[t->axes_count++] = schema_find("variant");
    }
    axes_swept(order);
    for (int i = 0; i < AXES; i++)
        if (is_column(o, order[i]))
            t->axes[t->axes_count++] = schema_find(axis_info(order[i])->field);
    if (t->axes_count == several && !o->kernels)
        t->axes[t->axes_count++] = schema_find("nodes");
}

static bool encodes(const struct options *o)
{
    const struct axis_values *pe = &o->axes[AXIS_PE];
    return pe->count > 1 || strcmp(axis_text(pe, pe->values[0]), "none") != 0;
}

/* Adds what the table has not yet; it leaves out what no row has. */
static void add_columns(struct table *t, const char *const *columns)
{
    for (; *columns; columns++)
        if (!has_column(t, *columns))
            t->columns[t->count++] = *columns;
}

void columns_of_table(const struct options *o, struct table *t)
{
    choose_axes(o, t);
    t->all = o->output.columns_count > 0;
    for (int i = 0; i < o->output.columns_count; i++)
        t->columns[t->count++] = o->output.columns[i];
    if (o->device.meta && !t->all)
        add_columns(t, table_planned);
    if (!t->all)
        add_columns(t, o->bench->columns ? o->bench->columns : table_usual);
}

struct fields {
    const struct field **list;
    size_t count;
};

static void add_field(struct fields *p, const char *group, const char *name)
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

static void add_time(struct fields *p, const char *group)
{
    add_field(p, group, ".time.median");
    add_field(p, group, ".time.ci95_low");
    add_field(p, group, ".time.ci95_high");
}

/* The fields that a column summarises. */
static void add_column(struct fields *p, const char *column)
{
    add_field(p, column, "");
    add_time(p, column);
    add_field(p, column, ".executed");
    if (strcmp(column, "kernel.rate") == 0) {
        add_field(p, "kernel", ".gflops");
        add_field(p, "kernel", ".bandwidth");
    }
}

static void add_program(struct fields *p, const char *program, bool kernel)
{
    static const char *const of_all[] = {".gflops",         ".bandwidth",      ".memory.planned",
                                         ".flops.analytic", ".flops.executed", ".roofline.percent"};
    add_time(p, program);
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        add_field(p, program, of_all[i]);
    add_field(p, program, kernel ? ".cold.median" : ".throughput");
}

static void add_main(const struct options *o, struct fields *p)
{
    add_field(p, "nodes", "");
    add_field(p, "device", "");
    add_field(p, "threads", "");
    add_field(p, "graph.edges", "");
    if (encodes(o)) {
        add_time(p, "encoding");
        add_field(p, "encoding", ".peak");
        add_field(p, "encoding", ".residual");
    }
    for (enum program_kind k = 0; k < PROGRAMS; k++)
        if (o->programs[k])
            add_program(p, program_name(k), k == PROGRAM_KERNEL);
    add_field(p, "error.norm", "");
}

size_t columns_of_csv(const struct options *o, const struct table *t, const struct field *fields[CSV_COLUMNS])
{
    struct fields p = {fields, 0};
    add_field(&p, "status", "");
    add_field(&p, "reason", "");
    for (size_t i = 0; i < t->axes_count; i++)
        add_field(&p, t->axes[i]->path, "");
    for (int i = 0; i < o->output.columns_count; i++)
        add_column(&p, o->output.columns[i]);
    if (o->output.columns_count == 0)
        add_main(o, &p);
    return p.count;
}
