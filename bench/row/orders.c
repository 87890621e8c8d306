#include "bench/row/orders.h"

#include "kernels/ranks.h"

void orders_tell(const struct options *o, struct group_order order)
{
    if (o->world)
        o->world->broadcast(o->world, &order, sizeof order);
}

bool orders_all_good(const struct ranks *r, struct rank_facts *facts, const struct rank_facts *own)
{
    bool good = true;
    r->gather(r, r->rank == 0 ? facts : NULL, own, sizeof *own);
    for (int p = 0; p < r->count && r->rank == 0; p++)
        good = good && facts[p].good;
    r->broadcast(r, &good, sizeof good);
    return good;
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
