#include "bench/cli/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/config.h"
#include "bench/cli/flags.h"
#include "kernels/ranks.h"

/* Replaces the values of an axis. */
static void replace(struct options *o, enum axis a, const char *text)
{
    struct message error;
    if (!axis_parse(a, text, &o->axes[a], &error))
        abort();
}

/* Of the benchmark's own axis. */
static void default_values(struct options *o)
{
    enum axis a = o->bench->axis;
    if (o->device.backend->device && o->bench->gpu_values && !o->given[a])
        replace(o, a, o->bench->gpu_values);
}

/* Graphs in a batch are small by default. */
static void default_nodes(struct options *o)
{
    bool batches = o->largest.kind != LARGEST_NONE && o->largest.axis == AXIS_BATCH;
    for (int i = 0; i < o->axes[AXIS_BATCH].count; i++)
        batches = batches || o->axes[AXIS_BATCH].values[i] > 1;
    if (batches && !o->given[AXIS_NODES])
        replace(o, AXIS_NODES, "32");
}

/* The default solvers to compare are for the benchmark's own sizes, at which all of them finish soon. */
static void default_solver(struct options *o)
{
    bool own = !o->given[AXIS_NODES] && !o->given[AXIS_GRAPH] && !o->given[AXIS_PE];
    if (!own && !o->given[AXIS_SOLVER])
        replace(o, AXIS_SOLVER, axis_info(AXIS_SOLVER)->standard);
}

/* A benchmark over the ranks has 1, 2, 4 and so on of those that were started. */
static void default_ranks(struct options *o)
{
    char all[32];
    if (!o->world || o->bench->axis != AXIS_RANKS || o->given[AXIS_RANKS])
        return;
    snprintf(all, sizeof all, "1-%d*2", o->world->count);
    replace(o, AXIS_RANKS, all);
}

/* Whether all rows have graphs of presets, which are shapes. */
static bool graphs_of_presets(const struct options *o)
{
    const struct axis_values *v = &o->axes[AXIS_PRESET];
    bool all = !o->given[AXIS_GRAPH];
    for (int i = 0; i < v->count; i++)
        all = all && v->values[i] > 0;
    return all;
}

/* A graph with a size of its own must not be measured once per size of the others. */
static void own_nodes(struct options *o)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    bool others = false;
    for (int i = 0; i < graphs->count; i++)
        others = others || !graph_has_size(axis_text(graphs, graphs->values[i]));
    if (!o->given[AXIS_NODES] && (!others || graphs_of_presets(o)))
        replace(o, AXIS_NODES, "1");
}

/* Ceilings from a file are those of some numbers of threads. */
static void default_ceilings(struct options *o)
{
    if (o->ceilings.count == 0)
        return;
    if (!o->given[AXIS_THREADS])
        given_ceilings_keep_largest(&o->ceilings);
    if (!o->device.meta)
        return;
    o->summed = !o->profile && o->links.count == 0;
    o->profile = o->profile || o->summed;
}

bool defaults_set(struct options *o, struct message *error)
{
    bool to_stdout = o->output.file && strcmp(o->output.file, "-") == 0;
    default_values(o);
    default_nodes(o);
    default_solver(o);
    default_ranks(o);
    if (!find_choose(o, error) || !kernels_choose(o, error))
        return false;
    own_nodes(o);
    find_over(o);
    default_ceilings(o);
    if (to_stdout && o->output.format == FORMAT_TABLE)
        o->output.format = FORMAT_JSON;
    o->profile = o->profile || o->output.format == FORMAT_CSV_PROFILE;
    o->cuda_graph = o->device.backend->device && !o->launched;
    return true;
}
