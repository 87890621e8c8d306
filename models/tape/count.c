/*
 * Entries with the same op and the same analytic FLOPs and bytes have the same shape, so one of them is
 * counted for all. The counting kernels compute nothing and access no memory except graph offsets.
 */
#include "models/tape/count.h"

#include <stdlib.h>
#include <string.h>

#include "models/tape/tape_internal.h"

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

/* The counting loops read only indices, so only these are copied to the host. */
static int64_t count_entry(const struct tape *t, const struct entry *e)
{
    enum { OPERANDS = 16 };
    const struct op_info *info = op_info(e->op);
    union any_args args;
    void *copies[OPERANDS];
    int count = 0;
    memcpy(&args, e->args, info->args_size);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat *m = operand_is_mat(o) ? operand_mat(o, &args) : NULL;
        if (m && mat_present(*m) && (m->dtype == I64 || m->dtype == I32))
            *m = tape_read(t, *m, &copies[count++]);
    }
    ref_count_take();
    backend_kernel(&backend_count, e->op, tape_config(t)->dtype, NULL)->run(&args);
    while (count > 0)
        free(copies[--count]);
    return ref_count_take().flops;
}

bool tape_learn(struct tape *t)
{
    bool changed = false;
    for (int i = 0; i < t->main.count; i++) {
        struct entry *e = &t->main.entries[i];
        int64_t flops = op_info(e->op)->host ? op_flops(e->op, e->args) : e->flops;
        changed |= flops != e->flops;
        e->flops = flops;
    }
    return changed;
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
        int64_t flops = known ? known->flops : count_entry(t, e);
        if (!known && distinct < DISTINCT)
            list[distinct++] = (struct counted){e, flops};
        total += flops;
    }
    return total;
}
