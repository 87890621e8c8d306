/* The configuration in a row. */
#include "bench/row/fields.h"

#include "analysis/record/axes.h"
#include "analysis/record/row.h"
#include "analysis/record/schema.h"
#include "bench/cli/plan.h"
#include "bench/cli/plugin.h"
#include "bench/cli/presets.h"

/* What is timed alone. */
static void fields_kernel(struct row *row, const struct timed_kernel *timed)
{
    if (timed->kernel) {
        row->op = row_keep(row, form_name(timed->form));
        row->variant = row_keep(row, timed->kernel->variant);
    }
}

static void field_axis(struct row *row, const struct config *c, enum axis a)
{
    const char *field = axis_info(a)->field;
    struct axis_value v;
    config_axis(c, a, &v);
    if (v.is_absent)
        return;
    if (v.text)
        row_set_text(row, field, v.text);
    else if (v.kind == AXIS_WHOLE)
        row_set_count(row, field, v.count);
    else
        row_set_real(row, field, v.real);
}

/* What the preset says of itself, and what the command line changes. */
static void fields_preset(struct row *row, const struct config *c)
{
    const struct preset *p = preset_at(c->preset);
    char changes[256], left_out[256];
    if (!p)
        return;
    config_changes(c, changes, sizeof changes);
    row->published.parameters = p->parameters;
    row->published.batch = p->batch;
    row->published.changed = row_keep(row, changes);
    if (c->graph.graphs < p->batch)
        snprintf(left_out, sizeof left_out, "%lld of %lld graphs, %s",
                 (long long)(p->batch - c->graph.graphs), (long long)p->batch, p->left_out);
    else
        snprintf(left_out, sizeof left_out, "%s", p->left_out);
    row->published.left_out = row_keep(row, left_out);
}

void fields_config(struct row *row, const struct config *c, const struct options *o)
{
    row->work = row_keep(row, c->work);
    fields_kernel(row, &c->timed);
    for (enum axis a = 0; a < AXES; a++)
        field_axis(row, c, a);
    fields_preset(row, c);
    char plugin[PLUGIN_TEXT];
    plugin_describe(o, c, plugin);
    row->plugin = *plugin ? row_keep(row, plugin) : NULL;
    row->position = c->position;
    row->device = row_keep(row, o->device.name);
    row->seed = (int64_t)o->seed;
    row->parameters = program_parameters(&c->parts);
}

void fields_describe(const struct options *o, const struct config *c, char text[AXES_TEXT])
{
    const struct field *axes[AXES_MAX];
    enum axis order[AXES];
    size_t n = 0;
    struct row *row = row_new();
    axes_swept(order);
    for (int i = AXES - 1; i >= 0; i--)
        if (o->axes[order[i]].count > 1 || order[i] == AXIS_NODES)
            axes[n++] = schema_find(axis_info(order[i])->field);
    for (int i = 0; i < 2 && o->kernels; i++)
        axes[n++] = schema_find(i ? "variant" : "op");
    fields_config(row, c, o);
    axes_describe_all(row, axes, n, text);
    row_free(row);
}

void fields_title(const struct options *o, const struct config *c, enum program_kind kind,
                  char text[TITLE_TEXT])
{
    char row[AXES_TEXT];
    fields_describe(o, c, row);
    snprintf(text, TITLE_TEXT, "%s at %s", program_name(kind), row);
}
