/* What a rank must know of the others, and its share of the loss. */
#include "kernels/ranks.h"
#include "models/parallel/parallel.h"
#include "models/tape/tape_internal.h"

static struct mat bounds(struct tape *t, const char *name, int64_t parts, const int64_t *from)
{
    return input_copy(t, name, I64, parts + 1, 1, from);
}

struct peers parallel_inputs(struct tape *t, const struct batch *b)
{
    const struct halo *h = &b->halo;
    struct peers p = {
        .ranks = h->ranks, .nodes = (int)h->nodes, .halo_nodes = (int)h->halo_nodes, .all = b->part.nodes};
    if (!h->ranks)
        return p;
    const int64_t *none = arena_alloc(t->metadata, (size_t)(b->graphs + 1) * sizeof *none);
    if (!tape_config(t)->part.ranks)
        tape_contract("the nodes are divided, but the tape has one rank");
    p.rank = tape_config(t)->part.ranks->rank;
    p.first = bounds(t, "ranks.first", h->ranks, h->first);
    p.get_at = bounds(t, "ranks.get_at", h->ranks, h->get_at);
    p.send_at = bounds(t, "ranks.send_at", h->ranks, h->send_at);
    p.send = input_copy(t, "ranks.send", I32, h->sends, 1, h->send);
    p.own = (struct offsets){bounds(t, "ranks.own", b->graphs, b->part.empty ? none : b->offset), 0};
    p.graphs = (struct offsets){bounds(t, "ranks.graphs", b->graphs, h->offset), b->pairs};
    return p;
}

/* Ranks that divide the nodes all have the outputs and the loss of all graphs: only those of the first count.
 */
double parallel_share(const struct batch *b, const struct ranks *ranks, bool of_graphs)
{
    const struct batch_part *p = &b->part;
    if (b->halo.ranks && of_graphs)
        return ranks->rank == 0;
    if (p->empty)
        return 0;
    return of_graphs ? (double)b->graphs / (double)p->graphs : (double)b->adj.nodes / (double)p->nodes;
}
