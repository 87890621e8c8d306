/* The parts of a batch that ranks share. */
#include <math.h>

#include "analysis/record/row.h"
#include "bench/row/fields.h"
#include "bench/row/result.h"
#include "kernels/ranks.h"

/* The ranks that run. */
static void set_group(struct row *row, const struct result *r)
{
    int count = r->group.count, threads = count * r->job->config.threads;
    const struct ranks *world = r->job->options->world, *group = world->first(world, count);
    row_set_text(row, "ranks.mpi", group->mpi);
    row_set_count(row, "ranks.hosts", group->hosts);
    row_set_real(row, "ranks.load", (double)threads / group->hosts / r->job->options->cores);
}

static void set_cut(struct row *row, int64_t cut, int64_t edges)
{
    if (edges > 0)
        row_set_real(row, "ranks.cut", (double)cut / (double)edges);
}

void fields_ranks(struct row *row, const struct result *r)
{
    const struct group_result *g = &r->group;
    const struct config *c = &r->job->config;
    if (c->ranks == 1) {
        row_set_count(row, "ranks.count", 1);
        row_set_text(row, "ranks.parallel", parallel_name((int)c->parallel));
        row_set_text(row, "ranks.partition", partition_name((int)c->partition));
    }
    if (g->count == 0)
        return;
    if (!r->job->options->device.meta)
        set_group(row, r);
    row_set_count(row, "ranks.nodes_max", g->nodes_max);
    row_set_count(row, "ranks.nodes_min", g->nodes_min);
    row_set_count(row, "ranks.edges_max", g->edges_max);
    row_set_count(row, "ranks.edges_min", g->edges_min);
    if (g->divided) {
        row_set_count(row, "ranks.ghosts_max", g->ghosts_max);
        set_cut(row, g->cut, r->graph.edges);
    }
    if (!isnan(g->partition_seconds))
        row_set_real(row, "ranks.partition_seconds", g->partition_seconds);
    row_set_real(row, "ranks.imbalance", g->imbalance);
    row_set_count(row, "ranks.memory", g->memory);
}
