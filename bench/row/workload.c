#include "bench/row/workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "graphs/graph.h"
#include "graphs/halo.h"
#include "graphs/inputs.h"
#include "graphs/order.h"
#include "graphs/part_shapes.h"
#include "kernels/arithmetic.h"
#include "models/layers/features.h"
#include "models/layers/op_program.h"

bool outcome_set(struct outcome *o, const char *status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    o->status = status;
    vsnprintf(o->reason.text, sizeof o->reason.text, format, values);
    va_end(values);
    return false;
}

bool outcome_fail(struct outcome *o, const char *reason)
{
    return outcome_set(o, strstr(reason, "no memory") ? "oom" : "failed", "%s", reason);
}

bool outcome_is_ok(const struct outcome *o)
{
    return strcmp(o->status, "ok") == 0;
}

double workload_limit(const struct options *o)
{
    const struct device_choice *d = &o->device;
    bool on_device = d->context && o->mem_limit <= 0;
    return on_device ? (double)d->backend->device->available(d->context) : options_host_memory(o);
}

bool workload_fits(const struct options *o, const char *what, int64_t bytes, double limit,
                   struct outcome *outcome)
{
    if ((double)bytes <= limit)
        return true;
    char need[UNITS_TEXT], have[UNITS_TEXT];
    units_format(need, (double)bytes, UNITS_BINARY, "B");
    units_format(have, limit, UNITS_BINARY, "B");
    return outcome_set(outcome, "oom", "%s needs %s (%lld bytes); %s %s", what, need, (long long)bytes,
                       o->mem_limit > 0 ? "--mem-limit is" : "free memory is", have);
}

static bool is_interrupted(const void *context)
{
    (void)context;
    return interrupt_signal() != 0;
}

/* Graphs are built on the host. Planning reads those in files, draws giant components, and builds no others.
 */
static struct workload workload_of(const struct options *o, const struct config *c, bool planned)
{
    struct workload w = {.options = o, .config = *c};
    w.config.graph.limits.cancel = (struct cancel){is_interrupted, NULL};
    if (!planned || graph_is_file(c->graph.family) || strstr(c->graph.family, ":giant") || parts_divided(c))
        w.config.graph.limits.memory = (int64_t)options_host_memory(o);
    return w;
}

const struct batch *workload_whole(const struct workload *w)
{
    return w->group.ranks ? &w->group.whole : &w->batch;
}

bool workload_numbers_edges(const struct options *o, const struct config *c)
{
    return c->timed.kernel ? op_program_numbers_edges(c->timed.form)
                           : o->programs[PROGRAM_STEP] && model_numbers_edges(&c->parts);
}

static bool order_nodes(struct workload *w, struct message *error)
{
    double begin = clock_now();
    bool done = batch_order(&w->batch, w->config.order, &w->config.graph, error->text, sizeof error->text);
    w->order_seconds = clock_now() - begin;
    return done;
}

/* Keeps the nodes of this rank, if ranks divide them and it was not done before. */
static bool divide_nodes(struct workload *w, struct message *error)
{
    const struct graph_config *c = &w->config.graph;
    return !c->by_nodes || !w->config.order || batch_divide(&w->batch, c, error->text, sizeof error->text);
}

static bool plan_batch(struct workload *w, struct message *error)
{
    const struct graph_config *c = &w->config.graph;
    return w->group.ranks ? workload_plan_first(w, error)
                          : batch_shape(&w->batch, c, error->text, sizeof error->text);
}

/* The batch to make, or this rank's part of it; of nodes that are ordered and then divided, all. */
static struct graph_config parts_graph(const struct config *c)
{
    struct graph_config g = c->graph;
    if (g.by_nodes && c->order)
        g.rank = g.ranks = g.by_nodes = 0;
    return g;
}

static bool generate_batch(struct workload *w, struct message *error)
{
    const struct graph_config first = parts_graph(&w->config);
    return batch_generate(&w->batch, &first, error->text, sizeof error->text);
}

/* What only the graph tells. */
static bool check_degrees(struct workload *w, struct message *error)
{
    const struct batch *b = &w->batch;
    int rows = b->adj.row_ptr ? w->config.parts.features.degrees : 0;
    int64_t most = rows ? max_of(csr_degrees(&b->adj).max, csr_degrees(&b->out).max) : -1;
    if (most < rows)
        return true;
    batch_drop(&w->batch);
    return complain(error, "a node has %d edges; the model has rows for fewer than %d", (int)most, rows);
}

static bool make_batch(struct workload *w, bool planned, struct message *error)
{
    const struct graph_config *g = &w->config.graph;
    bool made = workload_group(w, error) && (planned ? plan_batch : generate_batch)(w, error) &&
                batch_read_inputs(&w->batch, g, &w->config.tables, error->text, sizeof error->text);
    if (made)
        model_take_inputs(&w->config.parts, &w->batch.inputs);
    made = made && ((planned && g->by_nodes) || (order_nodes(w, error) && divide_nodes(w, error))) &&
           (!workload_numbers_edges(w->options, &w->config) ||
            batch_number_edges(&w->batch, g, error->text, sizeof error->text)) &&
           check_degrees(w, error);
    if (!made)
        workload_drop_group(w);
    return made;
}

bool workload_plan(struct workload *w, const struct options *o, const struct config *c, struct message *error)
{
    *w = workload_of(o, c, true);
    w->group.planned = (struct ranks){.mpi = "planned", .count = c->ranks, .hosts = 1};
    if (c->ranks > 1)
        workload_take_part(w, &w->group.planned);
    return make_batch(w, true, error);
}

/* Whether a plan of one rank has the batch of another configuration. */
static bool has_batch_of(const struct workload *w, const struct config *c)
{
    const struct graph_config *a = &w->config.graph, *b = &c->graph;
    return w->batch.graphs > 0 && !w->group.ranks && c->ranks == 1 && !graph_is_file(b->family) &&
           strcmp(a->family, b->family) == 0 && a->nodes == b->nodes && a->degree == b->degree &&
           a->graphs == b->graphs && a->seed == b->seed && a->batching == b->batching &&
           w->config.order == c->order &&
           workload_numbers_edges(w->options, &w->config) == workload_numbers_edges(w->options, c);
}

bool workload_plan_next(struct workload *w, const struct options *o, const struct config *c,
                        struct message *error)
{
    struct graph_limits limits = w->config.graph.limits;
    if (!w->options || !has_batch_of(w, c)) {
        if (w->options)
            workload_close(w);
        return workload_plan(w, o, c, error);
    }
    w->config = *c;
    w->config.graph.limits = limits;
    return true;
}

bool workload_generate(struct workload *w, const struct options *o, const struct config *c,
                       struct message *error)
{
    *w = workload_of(o, c, false);
    if (o->world && c->ranks > 1)
        workload_take_part(w, o->world->first(o->world, c->ranks));
    return make_batch(w, false, error);
}

bool workload_open(struct workload *w, const struct options *o, const struct config *c,
                   struct outcome *outcome)
{
    struct message error;
    return (o->device.meta ? workload_plan : workload_generate)(w, o, c, &error) ||
           (workload_fits(o, "building the graph", w->batch.peak, (double)w->config.graph.limits.memory,
                          outcome) &&
            outcome_fail(outcome, error.text));
}

void workload_close(struct workload *w)
{
    batch_free(&w->batch);
    workload_drop_group(w);
    if (w->group.ranks && w->group.ranks != &w->group.planned && w->group.ranks->rank == 0)
        orders_tell(w->options, (struct group_order){.kind = GROUP_CLOSE, .index = w->config.index});
}

bool parts_divided(const struct config *c)
{
    return c->ranks > 1 && c->parallel != PARALLEL_DATA;
}

/* The batch of all ranks, with its nodes in order. */
static bool make_whole(struct batch *all, const struct config *c, struct message *error)
{
    struct graph_config g = c->graph;
    g.rank = g.ranks = g.by_nodes = 0;
    return batch_generate(all, &g, error->text, sizeof error->text) &&
           batch_order(all, c->order, &g, error->text, sizeof error->text);
}

bool parts_partition(struct partition *p, const struct config *c, double *seconds, int64_t *peak,
                     struct message *error)
{
    struct batch all;
    bool made = make_whole(&all, c, error);
    double begin = clock_now();
    made = made && partition_make(p, &all, &c->graph, c->ranks, error->text, sizeof error->text);
    *seconds = clock_now() - begin;
    *peak = all.peak;
    batch_free(&all);
    return made;
}

/* Of ranks that divide the nodes; nodes that are ordered first are those of the whole batch. */
static bool shape_divided(struct batch *parts, const struct config *c, struct message *error)
{
    struct batch all = {0};
    bool made =
        (!c->order || make_whole(&all, c, error)) &&
        batch_shape_parts(parts, &c->graph, all.adj.row_ptr ? &all : NULL, error->text, sizeof error->text);
    parts->peak = max_of(parts->peak, all.peak);
    batch_free(&all);
    return made;
}

struct batch *parts_shape(const struct config *c, bool *made, struct message *error)
{
    struct graph_config g = c->graph;
    struct batch *parts = allocate((size_t)g.ranks, sizeof *parts);
    *made = !g.by_nodes || shape_divided(parts, c, error);
    for (g.rank = 0; g.rank < g.ranks && *made && !g.by_nodes; g.rank++)
        *made = batch_shape(&parts[g.rank], &g, error->text, sizeof error->text);
    return parts;
}
