#include "analysis/tables/csv_columns.h"

#include <stdio.h>
#include <string.h>

static void add_field(struct csv_columns *p, const char *group, const char *name)
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

static void add_interval(struct csv_columns *p, const char *group)
{
    add_field(p, group, ".time.median");
    add_field(p, group, ".time.range_low");
    add_field(p, group, ".time.range_high");
    add_field(p, group, ".time.noisy");
}

/* The fields that a column summarises. */
static void add_column(struct csv_columns *p, const char *column)
{
    add_field(p, column, "");
    add_interval(p, column);
    add_field(p, column, ".executed");
    if (strcmp(column, "kernel.rate") == 0) {
        add_field(p, "kernel", ".gflops");
        add_field(p, "kernel", ".bandwidth");
    }
}

static void add_program(struct csv_columns *p, const char *program, bool kernel)
{
    static const char *const of_all[] = {".gflops",         ".bandwidth",      ".memory.planned",
                                         ".flops.analytic", ".flops.executed", ".roofline.percent"};
    add_interval(p, program);
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        add_field(p, program, of_all[i]);
    add_field(p, program, kernel ? ".cold.median" : ".throughput");
}

static void add_main(struct csv_columns *p, const bool timed[TIMED])
{
    add_field(p, "nodes", "");
    add_field(p, "device", "");
    add_field(p, "threads", "");
    add_field(p, "graph.edges", "");
    if (timed[TIMED_ENCODING]) {
        add_interval(p, "encoding");
        add_field(p, "encoding", ".peak");
        add_field(p, "encoding", ".residual");
    }
    for (size_t k = 0; k < TIMED_ENCODING; k++)
        if (timed[k])
            add_program(p, program_name(k), k == TIMED_KERNEL);
    add_field(p, "error.norm", "");
}

struct csv_columns csv_columns_of(const struct table *t, const bool timed[TIMED])
{
    struct csv_columns p = {.count = 0};
    add_field(&p, "status", "");
    add_field(&p, "reason", "");
    for (size_t i = 0; i < t->axes_count; i++)
        add_field(&p, t->axes[i]->path, "");
    for (size_t i = 0; i < t->count && t->all; i++)
        add_column(&p, t->columns[i]);
    if (!t->all)
        add_main(&p, timed);
    return p;
}
