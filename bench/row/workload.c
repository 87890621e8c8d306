#include "bench/row/workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables/units.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/row/parts.h"
#include "graphs/halo.h"
#include "graphs/inputs.h"
#include "kernels/blas.h"
#include "kernels/plugin_rows.h"
#include "kernels/ranks.h"
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

/* Graphs are built on the host. Planning reads those in files, draws those with a giant component, and builds
 * no others. */
static struct workload workload_of(const struct options *o, const struct config *c, bool planned)
{
    struct workload w = {.options = o, .config = *c};
    w.config.graph.limits.cancel = (struct cancel){is_interrupted, NULL};
    if (!planned || graph_is_file(c->graph.family) || strstr(c->graph.family, ":giant") || parts_divided(c))
        w.config.graph.limits.memory = (int64_t)options_host_memory(o);
    return w;
}

static void take_part(struct workload *w, const struct ranks *ranks)
{
    w->ranks = ranks;
    w->config.graph.rank = ranks->rank;
    w->config.graph.ranks = ranks->count;
    w->config.graph.by_nodes = parts_divided(&w->config);
}

const struct batch *workload_whole(const struct workload *w)
{
    return w->ranks ? &w->whole : &w->batch;
}

/* What rank 0 knows of all ranks. */
static bool shape_whole(struct workload *w, struct message *error)
{
    struct graph_config all = w->config.graph;
    if (!w->ranks)
        return true;
    all.ranks = all.rank = all.by_nodes = 0;
    w->facts = calloc((size_t)w->ranks->count, sizeof *w->facts);
    if (!w->facts)
        abort();
    return batch_shape(&w->whole, &all, error->text, sizeof error->text);
}

static void drop_whole(struct workload *w)
{
    workload_drop_parts(w);
    batch_free(&w->whole);
    if (w->partition)
        partition_free(w->partition);
    free(w->partition);
    free(w->facts);
    w->facts = NULL;
    w->partition = NULL;
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

/* The shape of the part of the first of several ranks. */
static bool plan_first(struct workload *w, struct message *error)
{
    bool made;
    w->parts = parts_shape(&w->config, &made, error);
    w->batch = *w->parts;
    *w->parts = (struct batch){0};
    return made;
}

static bool plan_batch(struct workload *w, struct message *error)
{
    const struct graph_config *c = &w->config.graph;
    return w->ranks ? plan_first(w, error) : batch_shape(&w->batch, c, error->text, sizeof error->text);
}

static bool generate_batch(struct workload *w, struct message *error)
{
    const struct graph_config first = parts_graph(&w->config);
    return batch_generate(&w->batch, &first, error->text, sizeof error->text);
}

static bool share_partition(struct workload *w, struct message *error)
{
    orders_tell(w->options, (struct group_order){.kind = GROUP_PARTITION, .index = w->config.index});
    return orders_share(w->ranks, w->facts, w->partition) ||
           complain(error, "a rank has no memory for the numbers of all nodes");
}

/* With --partition metis rank 0 has the nodes divided, and tells the others, unless this is a plan. */
static bool choose_nodes(struct workload *w, struct message *error)
{
    if (!w->ranks || w->config.partition == PARTITION_RANGE || w->config.graph.partition)
        return true;
    if (w->ranks->rank > 0)
        return complain(error, "rank 0 has sent no partition");
    w->partition = calloc(1, sizeof *w->partition);
    if (!w->partition)
        abort();
    if (!parts_partition(w->partition, &w->config, &w->partition_seconds, &w->batch.peak, error) ||
        (w->ranks != &w->planned && !share_partition(w, error)))
        return false;
    w->config.graph.partition = w->partition;
    return true;
}

static bool make_batch(struct workload *w, bool planned, struct message *error)
{
    const struct graph_config *g = &w->config.graph;
    bool made = shape_whole(w, error) && choose_nodes(w, error) &&
                (planned ? plan_batch : generate_batch)(w, error) &&
                batch_read_inputs(&w->batch, g, &w->config.tables, error->text, sizeof error->text);
    if (made)
        model_take_inputs(&w->config.parts, &w->batch.inputs);
    made = made && ((planned && g->by_nodes) || (order_nodes(w, error) && divide_nodes(w, error))) &&
           (!workload_numbers_edges(w->options, &w->config) ||
            batch_number_edges(&w->batch, g, error->text, sizeof error->text));
    if (!made)
        drop_whole(w);
    return made;
}

bool workload_plan(struct workload *w, const struct options *o, const struct config *c, struct message *error)
{
    *w = workload_of(o, c, true);
    w->planned = (struct ranks){.mpi = "planned", .count = c->ranks, .hosts = 1};
    if (c->ranks > 1)
        take_part(w, &w->planned);
    return make_batch(w, true, error);
}

/* Whether a plan of one rank has the batch of another configuration. */
static bool has_batch_of(const struct workload *w, const struct config *c)
{
    const struct graph_config *a = &w->config.graph, *b = &c->graph;
    return w->batch.graphs > 0 && !w->ranks && c->ranks == 1 && !graph_is_file(b->family) &&
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
        take_part(w, o->world->first(o->world, c->ranks));
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

/* Opens the BLAS for all threads of the workload, which must not wait for its memory later. */
static bool open_blas(const struct workload *w, struct outcome *outcome)
{
    struct message error;
    enum blas_state state = blas_open(w->config.threads, error.text, sizeof error.text);
    return state == BLAS_OPEN ||
           outcome_set(outcome, state == BLAS_NO_MEMORY ? "oom" : "failed", "%s", error.text);
}

bool workload_open_blas(const struct workload *w, const struct tape *t, struct outcome *outcome)
{
    bool calls = false;
    for (int e = 0; e < tape_entry_count(t) && !calls; e++)
        calls = strcmp(tape_entry(t, e)->kernel->variant, "blas") == 0;
    return !calls || open_blas(w, outcome);
}

/* Whether the encoding is correct. */
static bool is_right(const struct encoded *encoded, struct outcome *outcome)
{
    const struct encoding *e = &encoded->encoding;
    if (e->excess > 1)
        return outcome_set(outcome, "failed",
                           "%s did not converge: the largest residual, %.3g, is %.3g times the limit",
                           e->method, e->residual, e->excess);
    if (encoded->missed > 0)
        return outcome_set(outcome, "wrong",
                           "%s missed copies of eigenvalues: %lld of %lld pairs should be smaller ones",
                           e->method, (long long)encoded->missed, (long long)(e->nullity + e->iterated));
    return !*encoded->check.wrong || outcome_set(outcome, "wrong", "%s", encoded->check.wrong);
}

bool workload_encode(struct workload *w, struct encoded *e, const struct sampling *rule,
                     struct outcome *outcome)
{
    if (w->config.parts.pe.kind == ENCODING_NONE || w->options->device.meta)
        return true;
    if (rule && encoding_calls_lapack(&w->config.parts.pe) && !open_blas(w, outcome))
        return false;
    if (rule && !encode(e, &w->config, &w->batch, rule))
        return e->cancelled ? outcome_set(outcome, "skipped", "%s", e->error.text)
                            : outcome_fail(outcome, e->error.text);
    struct cancel cancel = {sampling_cancelled, rule};
    if (rule)
        encode_check(e, &w->config, &w->batch, w->options, cancel);
    w->config.encoding = &e->encoding;
    return is_right(e, outcome);
}

static struct recording record_tape(const struct workload *w, enum program_kind kind, struct tape_config tape)
{
    const struct config *c = &w->config;
    bool alone = kind == PROGRAM_KERNEL;
    struct form form = c->timed.form;
    tape.ranks = w->ranks;
    if (w->ranks && w->partition && c->parts.task == TASK_NODE)
        tape.number = w->partition->number;
    tape.threads = c->threads;
    tape.seed = w->options->seed;
    if (alone)
        tape.variant[form.op][form.options] = c->timed.kernel->variant;
    struct recording r = alone ? op_program_record(form, &c->parts, &w->batch, tape)
                               : program_record(kind, &c->parts, &w->batch, c->encoding, tape);
    tape_cancel_when(r.tape, (struct cancel){is_interrupted, NULL});
    return r;
}

struct recording workload_record(const struct workload *w, enum program_kind kind)
{
    const struct options *o = w->options;
    struct tape_config tape = {.backend = o->device.backend, .context = o->device.context};
    tape.dtype = precision_dtype(w->config.parts.precision);
    tape.bits = precision_bits(w->config.parts.precision);
    memcpy(tape.variant, o->variant, sizeof tape.variant);
    return record_tape(w, kind, tape);
}

int64_t workload_flops(const struct workload *w, enum program_kind kind, struct batching_work work)
{
    struct workload other = *w;
    struct cost total = {0};
    if (work.pairs < 0)
        return -1;
    other.ranks = NULL;
    other.batch = *workload_whole(w);
    other.config.encoding = NULL;
    other.batch.nodes = NULL;
    other.batch.pairs = work.pairs;
    other.batch.adj.nodes = other.batch.out.nodes = work.rows;
    struct recording r = workload_record(&other, kind);
    for (enum phase phase = 0; phase < PHASES; phase++)
        total = cost_add(total, tape_cost(r.tape, phase));
    tape_free(r.tape);
    return total.flops;
}

/* A program to compare with keeps all activations, so that it cannot share a fault of recomputing them. */
static struct recording record_kept(const struct workload *w, enum program_kind kind, struct tape_config tape)
{
    struct workload kept = *w;
    kept.config.parts.checkpoint = NULL;
    return record_tape(&kept, kind, tape);
}

struct recording workload_record_oracle(const struct workload *w, enum program_kind kind, enum dtype dtype)
{
    int bits = precision_bits(w->config.parts.precision);
    return record_kept(w, kind,
                       (struct tape_config){.backend = &backend_oracle, .dtype = dtype, .bits = bits});
}

bool workload_went_on(const struct options *o, const char *what, struct outcome *outcome)
{
    struct fault f = device_fault(&o->device);
    return !f.kind || (f.kind == FAULT_MEMORY
                           ? outcome_set(outcome, "oom", "no memory is left for %s (%s)", what, f.words)
                           : outcome_set(outcome, "failed", "%s: %s: %s", o->device.name, f.where, f.words));
}

static bool lay_out(const struct options *o, struct tape *t, struct outcome *outcome)
{
    return tape_layout(t) || (workload_went_on(o, "its arena", outcome) &&
                              outcome_set(outcome, "oom", "the arena could not be allocated"));
}

/*
 * The first run on a device, in which libraries load code and take memory; if it will be replayed as a graph,
 * it is then captured, during which they may not.
 */
static bool run_first(const struct options *o, struct tape *t, struct outcome *outcome)
{
    if (!o->device.context)
        return true;
    tape_init(t);
    tape_run(t);
    if (o->cuda_graph)
        tape_capture(t);
    tape_wait(t);
    return workload_went_on(o, "what its libraries need", outcome);
}

/* On rank 0: the other ranks lay out the program too, and follow its tape. */
static bool load_together(const struct workload *w, enum program_kind kind, struct recording *r,
                          struct outcome *outcome)
{
    orders_tell(w->options, (struct group_order){GROUP_PROGRAM, w->config.index, kind});
    if (!workload_lay_out(w, w->ranks, r, outcome))
        return false;
    tape_lead(r->tape);
    return true;
}

/* Whether kernels of others can compute the calls that they are chosen for. */
static bool all_supported(const struct tape *t, struct outcome *outcome)
{
    const char *why = NULL;
    const struct entry *e = NULL;
    for (int i = 0; i < tape_entry_count(t) && !why; i++) {
        e = tape_entry(t, i);
        why = plugin_refuses(e->kernel, e->args);
    }
    return !why || outcome_set(outcome, "skipped", "%s=%s: %s", e->form, e->kernel->variant, why);
}

/* The functions of plug-ins. */
static bool set_up(const struct tape *t, struct outcome *outcome)
{
    const char *why = NULL;
    for (int i = 0; i < tape_entry_count(t) && !why; i++)
        why = plugin_setup(tape_entry(t, i)->kernel, tape_entry(t, i)->args);
    return !why || outcome_set(outcome, "failed", "setup: %s", why);
}

bool workload_load(const struct workload *w, enum program_kind kind, struct recording *r,
                   struct outcome *outcome)
{
    const struct options *o = w->options;
    if (!all_supported(r->tape, outcome))
        return false;
    if (w->ranks)
        return load_together(w, kind, r, outcome);
    tape_load(r->tape);
    double limit = workload_limit(o);
    return workload_went_on(o, "the code of its kernels", outcome) &&
           workload_fits(o, program_name(kind), tape_plan(r->tape)->arena, limit, outcome) &&
           workload_open_blas(w, r->tape, outcome) && lay_out(o, r->tape, outcome) &&
           run_first(o, r->tape, outcome) && set_up(r->tape, outcome);
}

void workload_unload(struct recording *r)
{
    for (int i = 0; i < tape_entry_count(r->tape); i++)
        plugin_teardown(tape_entry(r->tape, i)->kernel);
    tape_free(r->tape);
}

void workload_map_pages(const struct tape *t)
{
    memset(tape_arena(t), 0, (size_t)tape_planned(t)->arena);
}

void workload_close(struct workload *w)
{
    batch_free(&w->batch);
    drop_whole(w);
    if (w->ranks && w->ranks != &w->planned && w->ranks->rank == 0)
        orders_tell(w->options, (struct group_order){.kind = GROUP_CLOSE, .index = w->config.index});
}
