/*
 * Entries of the same op with the same analytic FLOPs and bytes have the same shape, so one of them is
 * counted for all. The counting kernels compute nothing, and touch no memory but graph offsets.
 */
#include "models/count.h"

struct counted {
    const struct entry *entry;
    int64_t flops;
};

static const struct counted *counted_before(const struct counted *list, int count, const struct entry *e)
{
    for (int i = 0; i < count; i++)
        if (list[i].entry->op == e->op && list[i].entry->flops == e->flops &&
            list[i].entry->bytes == e->bytes)
            return &list[i];
    return NULL;
}

static int64_t count_entry(const struct entry *e, enum dtype dtype)
{
    ref_count_take();
    backend_kernel(&backend_count, e->op, dtype, NULL)->run(e->args);
    return ref_count_take();
}

int64_t tape_count(const struct tape *t, int64_t limit)
{
    enum { DISTINCT = 256 };
    struct counted list[DISTINCT];
    int distinct = 0;
    int64_t total = 0;
    for (int i = 0; i < tape_entry_count(t); i++) {
        const struct entry *e = tape_entry(t, i);
        if (e->flops < 0 || e->flops > limit)
            return -1;
        const struct counted *known = counted_before(list, distinct, e);
        int64_t flops = known ? known->flops : count_entry(e, tape_config(t)->dtype);
        if (!known && distinct < DISTINCT)
            list[distinct++] = (struct counted){e, flops};
        total += flops;
    }
    return total;
}
