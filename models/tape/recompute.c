/*
 * Recomputation (Chen et al., "Training deep nets with sublinear memory cost", 2016). Before the gradients of
 * a segment are recorded, its entries are recorded once more, in their order. What the segment wrote is then
 * written to new storages, which take over the gradients that arrived from later entries; what it reads from
 * outside, its input and parameters, is the same as before.
 *
 * What an entry updates in place (the running statistics of batch norm) must change once per replay, so the
 * second entry updates a copy, which nothing reads. Its other outputs must not depend on that value. What the
 * segment itself wrote before (rows that it waits for from other ranks) is updated as it was.
 */
#include "models/tape/tape_internal.h"

#include <string.h>

void tape_segment_begin(struct tape *t)
{
    if (t->segments && t->segments->end < 0)
        tape_contract("segments do not nest");
    struct segment *s = arena_alloc(t->metadata, sizeof *s);
    *s = (struct segment){.first = t->main.count, .end = -1, .before = t->segments};
    t->segments = s;
}

void tape_segment_end(struct tape *t)
{
    if (!t->segments || t->segments->end >= 0)
        tape_contract("a segment ends that did not begin");
    t->segments->end = t->main.count;
}

struct mat tape_recomputed(const struct tape *t, struct mat m)
{
    int32_t again = t->storages[m.storage].again;
    m.storage = again ? again : m.storage;
    return m;
}

/* Makes the storage that the segment's second recording writes instead of this one. */
static void renew(struct tape *t, const struct segment *segment, int32_t id)
{
    struct storage old = t->storages[id];
    if (category_persistent(old.category) || old.producer < segment->first)
        tape_contract("%s: a segment writes to a matrix from outside", t->span);
    struct mat m = tape_storage(t, old.category, old.dtype, old.rows, old.cols, NULL);
    struct storage *s = &t->storages[m.storage];
    s->needs_grad = old.needs_grad;
    s->split = old.split;
    s->producer = old.producer;
    s->grad = old.grad;
    s->written = old.written;
    t->storages[id].grad = (struct mat){0};
    t->storages[id].again = m.storage;
}

static struct mat copy_of(struct tape *t, struct mat m)
{
    struct mat y = tape_storage(t, MEMORY_ACTIVATIONS, m.dtype, m.rows, m.cols, NULL);
    return op(t, copy, .y = y, .x = m)->y;
}

static void *record_again(struct tape *t, const struct segment *segment, const struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    union any_args args;
    memcpy(&args, e->args, info->args_size);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat *m = operand_is_mat(o) ? operand_mat(o, &args) : NULL;
        if (!m || !mat_present(*m))
            continue;
        bool updated = o->role == ROLE_INOUT;
        if (operand_writes(o) && !updated && !t->storages[m->storage].again)
            renew(t, segment, m->storage);
        bool own = t->storages[m->storage].again;
        *m = tape_recomputed(t, *m);
        if (updated && !own)
            *m = copy_of(t, *m);
    }
    return tape_record(t, e->op, &args);
}

void tape_recompute(struct tape *t, const struct segment *segment, void **args)
{
    t->phase = PHASE_RECOMPUTE;
    for (int i = segment->first; i < segment->end; i++) {
        struct entry e = t->main.entries[i]; /* the entries move when more are recorded */
        t->span = e.span;
        args[i] = record_again(t, segment, &e);
    }
    t->phase = PHASE_BACKWARD;
}
