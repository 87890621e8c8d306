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
