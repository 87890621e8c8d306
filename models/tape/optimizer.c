/*
 * AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019) over all parameters as one
 * vector: parameters and gradients are laid out densely in the same order. The step count and the learning
 * rate are stored in a matrix, so a replay needs no arguments. Its arithmetic is in F32 where ops are in
 * BF16: one more op then writes the copies of the parameters.
 */
#include "models/tape/tape_internal.h"

static struct mat zeros(struct tape *t, int64_t elements, const char *name)
{
    struct mat m = tape_storage(t, MEMORY_OPTIMIZER, tape_wide(t), 1, elements, name);
    tape_record_in(t, &t->init, OP_fill, &(struct fill_args){.y = m});
    return m;
}

struct mat tape_schedule(struct tape *t)
{
    if (!mat_present(t->schedule)) {
        t->start = arena_alloc(t->metadata, 2 * sizeof *t->start);
        t->schedule = tape_storage(t, MEMORY_OPTIMIZER, F64, 1, 2, "adamw.schedule");
        t->storages[t->schedule.storage].from = t->start;
    }
    return t->schedule;
}

/* The loss of all ranks is the sum of their parts, so its gradient is the sum of theirs. */
static void sum_gradients(struct tape *t, struct mat g)
{
    if (t->config.part.ranks)
        op(t, all_reduce, .y = g);
}

void tape_adamw(struct tape *t, const struct adamw *c)
{
    t->phase = PHASE_OPTIMIZER;
    span_enter(t, "adamw");
    struct mat p = tape_whole(t, MEMORY_PARAMETERS, false), g = tape_whole(t, MEMORY_GRADIENTS, false);
    sum_gradients(t, g);
    struct mat m = zeros(t, p.cols, "adamw.m"), v = zeros(t, p.cols, "adamw.v");
    struct mat schedule = tape_schedule(t);
    t->start[1] = c->lr;
    op(t, advance, .schedule = schedule);
    op(t, adamw, .p = p, .m = m, .v = v, .g = g, .schedule = schedule, .beta1 = c->beta1, .beta2 = c->beta2,
       .eps = c->eps, .decay = c->decay);
    if (t->config.dtype == BF16)
        op(t, cast, .y = tape_whole(t, MEMORY_PARAMETERS, true), .x = p);
    span_leave(t);
}
