#include "bench/cli/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "bench/cli/presets.h"
#include "kernels/arithmetic.h"
#include "models/layers/model.h"

/* The number of solvers for an encoding: one if there is no eigenproblem. */
static int solvers_of(const struct options *o, int index)
{
    return encoding_is_spectral(&o->axes[AXIS_PE].encodings[index]) ? o->axes[AXIS_SOLVER].count : 1;
}

/* Encodings and their solvers, counted as one axis. */
static int encoding_count(const struct options *o)
{
    int count = 0;
    for (int i = 0; i < o->axes[AXIS_PE].count; i++)
        count += solvers_of(o, i);
    return count;
}

/* The index-th of these combinations. */
static void choose_encoding(const struct options *o, int index, double value[AXES])
{
    int i = 0;
    for (; index >= solvers_of(o, i); i++)
        index -= solvers_of(o, i);
    value[AXIS_PE] = o->axes[AXIS_PE].values[i];
    value[AXIS_SOLVER] = o->axes[AXIS_SOLVER].values[index];
}

int64_t plan_combinations(const struct options *o)
{
    int64_t count = encoding_count(o);
    for (enum axis a = 0; a < AXES && count <= AXIS_VALUES_MAX; a++)
        count *= a == AXIS_PE || a == AXIS_SOLVER ? 1 : o->axes[a].count;
    return o->kernels ? count * o->kernel_count : count;
}

/* The axis values of a combination. Returns the index of the kernel. */
static int64_t choose_values(const struct options *o, int64_t rest, double value[AXES])
{
    enum axis order[AXES];
    axes_swept(order);
    for (int i = AXES - 1; i >= 0; i--) {
        enum axis a = order[i];
        int count = a == AXIS_SOLVER ? encoding_count(o) : a == AXIS_PE ? 1 : o->axes[a].count;
        if (a == AXIS_SOLVER)
            choose_encoding(o, (int)(rest % count), value);
        else if (a != AXIS_PE)
            value[a] = o->axes[a].values[rest % count];
        rest /= count;
    }
    return rest;
}

/* Whether presets have values for this axis. */
static bool preset_sets(enum axis a)
{
    return a != AXIS_PRESET && a != AXIS_MODEL && a != AXIS_CHECKPOINT && a != AXIS_SOLVER && a != AXIS_MLP &&
           a != AXIS_ORDER && a != AXIS_THREADS && a != AXIS_RANKS && a != AXIS_PARALLEL &&
           a != AXIS_PARTITION;
}

/* As the preset has it, before it is completed. */
static struct config config_of_preset(const struct preset *p)
{
    return (struct config){.parts = p->parts, .graph = p->graph};
}

static enum layer_kind layer_of(const struct model *m)
{
    return m->record == graphormer ? LAYER_GRAPHORMER : LAYER_GPS;
}

/*
 * Whether an axis has the value of the command line, not of the preset: it is given, or it is what the
 * benchmark sweeps. A branch of the layers that is left to the model is that of the preset, unless a model is
 * given. Without a preset the model sets some.
 */
static bool takes_option(const struct options *o, const struct preset *p, const struct model *m, enum axis a,
                         double value)
{
    if (p && !value && (a == AXIS_ATTENTION || a == AXIS_MPNN))
        return o->given[AXIS_MODEL];
    bool sets = p ? preset_sets(a) : layer_of(m) && (a == AXIS_POOL || a == AXIS_BIAS);
    return !sets || o->given[a] || o->axes[a].count > 1;
}

/* What a model has unless the command line says otherwise. */
static struct config config_of_model(const struct model *m)
{
    struct config c = {.parts = {.layer = layer_of(m)}};
    if (c.parts.layer == LAYER_GRAPHORMER) {
        c.parts.pool = POOL_TOKEN;
        c.parts.features.degrees = 64;
        bias_parse("spd:20:5", &c.parts.pe);
    }
    return c;
}

/* The combination at a position, with a value of the axis of a search; AXES: none. */
static struct config expand(const struct options *o, int64_t position, enum axis searched, double wanted)
{
    double value[AXES];
    int64_t kernel = choose_values(o, position, value);
    if (searched < AXES)
        value[searched] = wanted;
    const struct preset *p = preset_at((int64_t)value[AXIS_PRESET]);
    const struct axis_values *names = &o->axes[AXIS_MODEL];
    const struct model *m = model_named(axis_text(names, value[AXIS_MODEL]), names->others);
    struct config c = p ? config_of_preset(p) : config_of_model(m);
    c.position = position;
    if (o->kernels)
        c.timed = o->kernels[kernel];
    c.graph.seed = o->seed;
    c.tables = o->tables;
    for (enum axis a = 0; a < AXES; a++)
        if (a == searched || takes_option(o, p, m, a, value[a]))
            config_set(&c, a, &o->axes[a], value[a]);
    c.parts.pe.seed = o->seed;
    if (p && p->parts.layer && !o->given[AXIS_MODEL])
        c.model = "graphormer";
    else /* the layers of a given model replace those of a preset */
        c.parts.layer = layer_of(m);
    bool own = m->record && !c.parts.layer; /* of the plug-in */
    c.parts.own = own ? m : NULL;
    c.library = own ? o->plugin.id : NULL;
    config_complete(&c);
    c.parts.ring = c.parallel == PARALLEL_RING;
    c.threads = c.threads > 0 ? c.threads : (int)min_of(o->threads, max_of(1, o->cores / c.ranks));
    if (o->weak && c.parallel == PARALLEL_DATA)
        c.graph.graphs *= c.ranks;
    else if (o->weak)
        c.graph.nodes *= c.ranks;
    bool first = value[AXIS_SOLVER] == o->axes[AXIS_SOLVER].values[0],
         whole = !o->model_nodes || (c.graph.nodes <= o->model_nodes && first);
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        c.runs[p] = o->programs[p] && whole;
    c.lacks = config_missing_op(o, &c);
    config_work(&c, o->seed, c.work);
    return c;
}

int64_t config_step(const struct options *o, const struct config *c)
{
    return o->largest.axis == AXIS_HIDDEN ? c->parts.heads : 1;
}

void plan_make(struct options *o)
{
    int64_t all = min_of(plan_combinations(o), AXIS_VALUES_MAX), count = 0;
    struct config *list = allocate((size_t)all, sizeof *list);
    free(o->plan.list);
    for (bool empty = false; count == 0; empty = true)
        for (int64_t i = 0; i < all; i++) {
            struct config *c = &list[count];
            *c = expand(o, i, AXES, 0);
            if (o->largest.kind != LARGEST_NONE) /* with the smallest value of the search */
                *c = expand(o, i, o->largest.axis, (double)config_step(o, c));
            count += empty || encoding_any(&c->parts.pe) || memchr(c->runs, true, sizeof c->runs);
        }
    o->plan = (struct run_plan){list, count};
    for (int64_t i = 0; i < count; i++)
        list[i].index = i;
}

struct config plan_with(const struct options *o, int64_t index, enum axis searched, double value)
{
    struct config c = expand(o, o->plan.list[index].position, searched, value);
    c.index = index;
    return c;
}

const char *config_missing_op(const struct options *o, const struct config *c)
{
    const char *lacks = NULL;
    bool all = !o->device.backend->device || o->kernels; /* the host has the reference */
    enum dtype dtype = precision_dtype(c->parts.precision);
    if (c->timed.kernel && !backend_form_kernel(o->device.backend, c->timed.form.op, c->timed.form.options,
                                                dtype, c->timed.kernel->variant))
        return form_name(c->timed.form);
    for (enum program_kind kind = 0; kind < MODEL_PROGRAMS && !all && !lacks; kind++)
        if (!model_refuses(&c->parts) && c->runs[kind])
            lacks = program_missing(kind, &c->parts, o->device.backend);
    return lacks;
}

bool config_is_skipped(const struct options *o, const struct config *c, char reason[SKIP_REASON])
{
    bool beyond = c->parallel == PARALLEL_ULYSSES && c->parts.heads < c->ranks;
    if (beyond)
        snprintf(reason, SKIP_REASON, "fewer heads than ranks");
    else if (c->lacks)
        snprintf(reason, SKIP_REASON, "--device %s has no kernel for %s", o->device.given, c->lacks);
    return beyond || c->lacks;
}

void config_changes(const struct config *c, char *text, size_t size)
{
    struct config published = config_of_preset(preset_at(c->preset));
    enum axis order[AXES];
    size_t used = 0;
    if (!published.parts.ffn)
        published.parts.ffn = config_ffn(&published.parts, c->parts.hidden);
    config_complete(&published);
    axes_swept(order);
    *text = '\0';
    for (int i = 0; i < AXES && used < size; i++)
        if (preset_sets(order[i]) && !config_same(c, &published, order[i]))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     axis_info(order[i])->name);
}
