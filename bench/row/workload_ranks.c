#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "bench/row/workload.h"

/* On all ranks: whether all are good; the same answer on all. facts: on rank 0, receives those of all. */
static bool orders_all_good(const struct ranks *r, struct rank_facts *facts, const struct rank_facts *own)
{
    bool good = true;
    r->gather(r, r->rank == 0 ? facts : NULL, own, sizeof *own);
    for (int p = 0; p < r->count && r->rank == 0; p++)
        good = good && facts[p].good;
    r->broadcast(r, &good, sizeof good);
    return good;
}

void workload_take_part(struct workload *w, const struct ranks *ranks)
{
    w->group.ranks = ranks;
    w->config.graph.rank = ranks->rank;
    w->config.graph.ranks = ranks->count;
    w->config.graph.by_nodes = parts_divided(&w->config);
}

static void drop_parts(struct workload *w)
{
    for (int r = 0; w->group.parts && r < w->group.ranks->count; r++)
        batch_free(&w->group.parts[r]);
    free(w->group.parts);
    w->group.parts = NULL;
}

void workload_drop_group(struct workload *w)
{
    drop_parts(w);
    batch_free(&w->group.whole);
    if (w->group.partition)
        partition_free(w->group.partition);
    free(w->group.partition);
    free(w->group.facts);
    w->group.facts = NULL;
    w->group.partition = NULL;
}

bool workload_plan_first(struct workload *w, struct message *error)
{
    bool made;
    w->group.parts = parts_shape(&w->config, &made, error);
    w->batch = *w->group.parts;
    *w->group.parts = (struct batch){0};
    return made;
}

static bool share_partition(struct workload *w, struct message *error)
{
    orders_tell(w->options, (struct group_order){.kind = GROUP_PARTITION, .index = w->config.index});
    return orders_share(w->group.ranks, w->group.facts, w->group.partition) ||
           complain(error, "a rank has no memory for the numbers of all nodes");
}

/* With --partition metis rank 0 has the nodes divided, and tells the others, unless this is a plan. */
static bool choose_nodes(struct workload *w, struct message *error)
{
    if (w->config.partition == PARTITION_RANGE || w->config.graph.partition)
        return true;
    if (w->group.ranks->rank > 0)
        return complain(error, "rank 0 has sent no partition");
    w->group.partition = allocate(1, sizeof *w->group.partition);
    if (!parts_partition(w->group.partition, &w->config, &w->group.partition_seconds, &w->batch.peak,
                         error) ||
        (w->group.ranks != &w->group.planned && !share_partition(w, error)))
        return false;
    w->config.graph.partition = w->group.partition;
    return true;
}

bool workload_group(struct workload *w, struct message *error)
{
    struct graph_config all = w->config.graph;
    all.ranks = all.rank = all.by_nodes = 0;
    if (!w->group.ranks)
        return true;
    w->group.facts = allocate((size_t)w->group.ranks->count, sizeof *w->group.facts);
    return batch_shape(&w->group.whole, &all, error->text, sizeof error->text) && choose_nodes(w, error);
}

bool workload_as_rank(struct workload *own, struct workload *w, int rank, struct message *error)
{
    bool made = true;
    if (rank > 0 && !w->group.parts)
        w->group.parts = parts_shape(&w->config, &made, error);
    if (!made) {
        drop_parts(w);
        return false;
    }
    *own = *w;
    if (!w->group.ranks)
        return true;
    own->group.planned =
        (struct ranks){.mpi = "planned", .rank = rank, .count = w->group.ranks->count, .hosts = 1};
    own->group.ranks = &own->group.planned;
    if (rank > 0)
        own->batch = w->group.parts[rank];
    return true;
}

bool workload_alone(struct workload *alone, const struct workload *w)
{
    struct config c = w->config;
    struct message error;
    c.ranks = 1;
    c.graph.rank = c.graph.ranks = c.graph.by_nodes = 0;
    c.graph.partition = NULL;
    return workload_generate(alone, w->options, &c, &error);
}

struct rank_facts workload_facts(const struct workload *w, const struct recording *r)
{
    bool empty = w->batch.part.empty;
    struct rank_facts f = {.good = true,
                           .nodes = empty ? 0 : w->batch.adj.nodes,
                           .edges = w->batch.adj.edges,
                           .halo_nodes = w->batch.halo.halo_nodes,
                           .cut = w->batch.halo.cut,
                           .arena = tape_plan(r->tape)->arena};
    for (enum phase p = 0; p < PHASES; p++)
        f.cost[p] = tape_cost(r->tape, p);
    for (enum convention c = 0; c < CONVENTIONS; c++)
        f.convention[c] = convention_total(c, r->tape, OPS);
    return f;
}

/* As the first rank that could not make its part of the batch. False. */
static bool fail_as_rank(const struct rank_facts *facts, struct outcome *outcome)
{
    int p = 0;
    while (facts[p].good)
        p++;
    return outcome_set(outcome, facts[p].oom ? "oom" : "failed", "rank %d: %.400s", p, facts[p].reason.text);
}

bool workload_lay_out(const struct workload *w, const struct ranks *ranks, struct recording *r,
                      struct outcome *outcome)
{
    struct rank_facts own =
        r ? workload_facts(w, r)
          : (struct rank_facts){.oom = strcmp(outcome->status, "oom") == 0, .reason = outcome->reason};
    struct rank_facts *facts = ranks->rank == 0 ? w->group.facts : NULL;
    if (!orders_all_good(ranks, facts, &own))
        return facts && fail_as_rank(facts, outcome);
    int64_t bytes = 0;
    for (int p = 0; p < ranks->count && facts; p++)
        bytes += facts[p].arena;
    own.good =
        workload_fits(w->options, "the program of all ranks", bytes, workload_limit(w->options), outcome);
    if (!orders_all_good(ranks, facts, &own))
        return false;
    own.good = workload_open_blas(w, r->tape, outcome) && tape_layout(r->tape);
    return orders_all_good(ranks, facts, &own) ||
           outcome_set(outcome, "oom", "the arena of a rank could not be allocated");
}

void orders_tell(const struct options *o, struct group_order order)
{
    if (o->world)
        o->world->broadcast(o->world, &order, sizeof order);
}

bool orders_share(const struct ranks *r, struct rank_facts *facts, struct partition *p)
{
    int64_t nodes = p->nodes;
    r->broadcast(r, &nodes, sizeof nodes);
    struct rank_facts own = {.good = r->rank == 0 || partition_allocate(p, nodes, r->count)};
    if (!orders_all_good(r, facts, &own)) {
        partition_free(p);
        return false;
    }
    r->broadcast(r, p->first, (p->parts + 1) * (int64_t)sizeof *p->first);
    r->broadcast(r, p->number, nodes * (int64_t)sizeof *p->number);
    return true;
}

bool workload_load_together(const struct workload *w, enum program_kind kind, struct recording *r,
                            struct outcome *outcome)
{
    orders_tell(w->options, (struct group_order){GROUP_PROGRAM, w->config.index, kind});
    if (!workload_lay_out(w, w->group.ranks, r, outcome))
        return false;
    tape_lead(r->tape);
    return true;
}
