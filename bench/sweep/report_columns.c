#include "bench/sweep/report_columns.h"

#include "analysis/tables/table.h"

#include <string.h>

/* Whether an axis is a column: it has several values, or names what was measured. */
static bool is_column(const struct options *o, enum axis a)
{
    return o->axes[a].count > 1 || (o->largest.kind && a == o->largest.axis) ||
           (a == AXIS_PRESET && o->bench->axis == a);
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

/* Encodings may be there if they are asked for. */
static void choose_timed(const struct options *o, bool timed[TIMED])
{
    const struct axis_values *pe = &o->axes[AXIS_PE];
    for (enum program_kind k = 0; k < PROGRAMS; k++)
        timed[k] = o->programs[k];
    timed[TIMED_ENCODING] = pe->count > 1 || strcmp(axis_text(pe, pe->values[0]), "none") != 0;
}

void columns_of_run(const struct options *o, struct printer *p)
{
    struct table *t = &p->table;
    choose_axes(o, t);
    choose_timed(o, p->timed);
    t->all = o->output.columns_count > 0;
    for (int i = 0; i < o->output.columns_count; i++)
        t->columns[t->count++] = o->output.columns[i];
    if (!t->all)
        table_choose(t, p->timed, o->device.meta);
}
