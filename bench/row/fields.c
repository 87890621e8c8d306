/* The configuration, its encoding and its ranks in a row. */
#include "bench/row/fields.h"

#include <math.h>

#include "analysis/record/axes.h"
#include "analysis/record/row.h"
#include "analysis/record/schema.h"
#include "bench/cli/plan.h"
#include "bench/cli/presets.h"
#include "bench/row/put.h"
#include "bench/row/result.h"
#include "kernels/ranks.h"

/* What is timed alone. */
static void fields_kernel(struct row *row, const struct kernel *k)
{
    if (k) {
        row->op = row_keep(row, op_info(k->op)->name);
        row->variant = row_keep(row, k->variant);
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
    fields_kernel(row, c->kernel);
    for (enum axis a = 0; a < AXES; a++)
        field_axis(row, c, a);
    fields_preset(row, c);
    row->position = c->position;
    row->device = row_keep(row, o->device.name);
    row->dtype = row_keep(row, dtype_name(MODEL_DTYPE));
    row->seed = (int64_t)o->seed;
    row->parameters = model_parameters(&c->parts);
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

static void fields_eigenpairs(struct row *row, const struct encoded *encoded)
{
    const struct encoding *e = &encoded->encoding;
    row->encoding.nullity = e->nullity;
    row->encoding.iterated = e->iterated;
    row->encoding.iterations = e->iterations;
    put_real(row, &row->encoding.residual, e->residual);
    put_real(row, &row->encoding.excess, e->excess);
    if (encoded->missed >= 0)
        row->encoding.displaced = encoded->missed;
    else if (*encoded->not_compared.text)
        row_omit(row, "encoding.displaced", encoded->not_compared.text);
}

static void fields_executed(struct row *row, const struct encoded *e)
{
    if (*e->uncounted.text)
        row_omit(row, "encoding.executed", e->uncounted.text);
    if (!e->counted)
        return;
    row->encoding.executed = e->executed.flops;
    row->encoding.executed_source = row_keep(row, e->executed.source);
    row->encoding.executed_isa = row_keep(row, e->executed.isa);
    row->encoding.executed_threads = e->executed.threads;
    row->encoding.executed_differences = row_keep(row, e->executed.differences);
}

void fields_encoding(struct row *row, const struct encoded *encoded, const struct encoding_config *c,
                     bool uploaded)
{
    const struct encoding *e = &encoded->encoding;
    row->encoding.where = row_keep(row, uploaded ? "host, then uploaded" : "host");
    bool nothing = e->iterated == 0 && e->nullity > 0;
    row->encoding.method = row_keep(row, nothing ? "null space only, no solver ran" : e->method);
    row->encoding.peak = e->peak;
    put_count(row, &row->encoding.flops, e->cost.flops);
    put_count(row, &row->encoding.bytes, e->cost.bytes);
    row->encoding.flops_label = row_keep(row, e->flops_label);
    fields_executed(row, encoded);
    if (*encoded->checked.text)
        row->encoding.checked = row_keep(row, encoded->checked.text);
    else
        row_omit(row, "encoding.checked", *encoded->check.missing ? encoded->check.missing : "not converged");
    if (!encoding_without_pairs(c))
        fields_eigenpairs(row, encoded);
}

void fields_encoding_bound(struct row *row, const struct encoding_bound *b, int64_t storage)
{
    row->encoding.storage = storage;
    if (b->iterates) {
        row_omit(row, "encoding.bound.flops", b->label);
        row_omit(row, "encoding.bound.bytes", b->label);
    } else {
        put_count(row, &row->encoding.bound.flops, b->flops);
        put_count(row, &row->encoding.bound.bytes, b->bytes);
    }
    put_count(row, &row->encoding.bound.peak, b->peak);
    row->encoding.bound.label = row_keep(row, b->label);
}

/* The ranks that run. */
static void set_group(struct row *row, const struct result *r)
{
    int count = r->group.count, threads = count * r->job->config->threads;
    const struct ranks *world = r->job->options->world, *group = world->first(world, count);
    row->ranks.mpi = row_keep(row, group->mpi);
    row->ranks.hosts = group->hosts;
    put_real(row, &row->ranks.load, (double)threads / group->hosts / r->job->options->cores);
}

static void set_cut(struct row *row, int64_t cut, int64_t edges)
{
    if (edges > 0)
        put_real(row, &row->ranks.cut, (double)cut / (double)edges);
}

void fields_ranks(struct row *row, const struct result *r)
{
    const struct group_result *g = &r->group;
    const struct config *c = r->job->config;
    if (c->ranks == 1) {
        row->ranks.count = 1;
        row->ranks.parallel = row_keep(row, parallel_name((int)c->parallel));
        row->ranks.partition = row_keep(row, partition_name((int)c->partition));
    }
    if (g->count == 0)
        return;
    if (!r->job->options->device.meta)
        set_group(row, r);
    row->ranks.nodes_max = g->nodes_max;
    row->ranks.nodes_min = g->nodes_min;
    row->ranks.edges_max = g->edges_max;
    row->ranks.edges_min = g->edges_min;
    if (g->divided) {
        row->ranks.ghosts_max = g->ghosts_max;
        set_cut(row, g->cut, r->graph.edges);
    }
    if (!isnan(g->partition_seconds))
        put_real(row, &row->ranks.partition_seconds, g->partition_seconds);
    put_real(row, &row->ranks.imbalance, g->imbalance);
    row->ranks.memory = g->memory;
}
