/*
 * Which of a device's streams each entry of the main program is captured on, and where one stream waits for
 * the other, so that entries that do not depend on one another may run at the same time. An entry that also
 * computes gradients of parameters, for which nothing waits but the end of a step, has a second part for
 * these, if its kernel can.
 *
 * An entry depends on each earlier one that touches a storage of it, if one of the two writes it. Dependent
 * entries stay in the order of the tape: on one stream they are, and across the two an event orders them. So
 * any run gives the bits of a run one by one. The plan lets storages share memory only if all uses of one
 * come before all uses of the other in this order (plan.c).
 *
 * Each entry goes, in the order of the tape, to the stream on which it can begin first, as if all took
 * equally long (list scheduling); second parts have the last stream to themselves.
 */
#include <string.h>

#include "kernels/plugin_rows.h"
#include "models/tape/tape_internal.h"

enum { STREAMS = DEVICE_STREAMS, PARAMETERS = STREAMS - 1 };

/* The last place on each stream that wrote a storage, and the last that read it; -1: none. */
struct touched {
    int written[STREAMS], read[STREAMS];
};

struct streams {
    const struct tape *tape;
    struct stream_place *turns;
    int count;                   /* of places so far */
    struct touched *touched;     /* by storage */
    int *end;                    /* of each place, in places */
    int last[STREAMS];           /* place */
    int known[STREAMS][STREAMS]; /* by each, of each */
};

static void later(int *at, int place)
{
    *at = place > *at ? place : *at;
}

/* What is placed, its number, and the last places on each stream that it comes after. */
struct placing {
    struct stream_place *turn;
    int number, after[STREAMS];
};

static void come_after(struct touched *s, bool writes, struct placing *e)
{
    for (int i = 0; i < STREAMS; i++) {
        later(&e->after[i], s->written[i]);
        later(&e->after[i], writes ? s->read[i] : -1);
    }
}

static void note(struct touched *s, bool writes, struct placing *e)
{
    *(writes ? &s->written[e->turn->stream] : &s->read[e->turn->stream]) = e->number;
}

typedef void visitor(struct touched *s, bool writes, struct placing *e);

/* The storages of a matrix: an alias is a view of all of its category. */
static void visit_matrix(const struct streams *p, struct mat m, bool writes, visitor *visit,
                         struct placing *e)
{
    const struct storage *all = p->tape->storages, *of = &all[m.storage];
    if (!of->alias && mat_present(m))
        visit(&p->touched[m.storage], writes, e);
    for (int i = 1; i < p->tape->storage_count && of->alias; i++)
        if (all[i].category == of->category && all[i].is_copy == of->is_copy)
            visit(&p->touched[i], writes, e);
}

static bool of_parameter(const struct tape *t, struct mat m)
{
    return t->storages[m.storage].category == MEMORY_GRADIENTS;
}

bool stream_touches(const struct tape *t, enum run_part part, const struct operand *o, struct mat m)
{
    return part == RUN_WHOLE || !operand_writes(o) || of_parameter(t, m) == (part == RUN_PARAMETERS);
}

/* Scratch is written, also where an earlier entry prepared it. */
static void visit_operands(const struct streams *p, visitor *visit, struct placing *to)
{
    const struct entry *e = &p->tape->main.entries[to->turn->entry];
    const struct op_info *info = op_info(e->op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (operand_is_mat(o) && stream_touches(p->tape, to->turn->part, o, *operand_mat(o, e->args)))
            visit_matrix(p, *operand_mat(o, e->args), operand_writes(o), visit, to);
    }
    visit_matrix(p, e->scratch, true, visit, to);
}

/* The earliest beginning on a stream. */
static int beginning(const struct streams *p, const struct placing *e, int stream)
{
    int at = p->last[stream] < 0 ? 0 : p->end[p->last[stream]];
    for (int i = 0; i < STREAMS; i++)
        later(&at, e->after[i] < 0 ? 0 : p->end[e->after[i]]);
    return at;
}

static bool is_tied(const struct tape *t, int entry)
{
    const struct kernel *k = t->main.entries[entry].kernel;
    return t->config.backend->device->tied(k) || plugin_is_row(k);
}

/* What a place waits for, beside what its stream waited for before. */
static void await(struct streams *p, struct stream_place *turn, const int *after)
{
    int *known = p->known[turn->stream];
    later(&known[turn->stream], p->last[turn->stream]);
    for (int i = STREAMS - 1; i >= 0; i--) {
        turn->after[i] = after[i] > known[i] ? after[i] : -1;
        for (int k = 0; k < STREAMS && turn->after[i] >= 0; k++)
            later(&known[k], k == i ? after[i] : p->turns[after[i]].known[k]);
        if (turn->after[i] >= 0)
            p->turns[after[i]].awaited = true;
    }
    memcpy(turn->known, known, sizeof turn->known);
}

/* The first and the last entry are on the first stream, at which the others begin and end. */
static void schedule(struct streams *p, int entry, enum run_part part)
{
    const bool last = entry + 1 == p->tape->main.count, free = entry > 0 && !last && !is_tied(p->tape, entry);
    struct stream_place *turn = &p->turns[p->count];
    struct placing e = {turn, p->count, {-1, -1, -1}};
    *turn = (struct stream_place){.entry = entry, .part = part};
    visit_operands(p, come_after, &e);
    turn->stream = !free                    ? 0
                   : part == RUN_PARAMETERS ? PARAMETERS
                                            : beginning(p, &e, 1) < beginning(p, &e, 0);
    if (turn->stream > 0)
        later(&e.after[0], 0);
    const int begin = beginning(p, &e, turn->stream);
    for (int i = 0; i < STREAMS && last; i++)
        later(&e.after[i], p->last[i]);
    await(p, turn, e.after);
    p->end[p->count] = begin + 1;
    p->last[turn->stream] = p->count++;
    visit_operands(p, note, &e);
}

/* Whether gradients of parameters are beside dx, which is none. */
static bool is_divided(const struct tape *t, int entry)
{
    const struct entry *e = &t->main.entries[entry];
    const struct linear_backward_args *a = e->args;
    return e->op == OP_linear_backward && !is_tied(t, entry) && mat_present(a->dx) &&
           !of_parameter(t, a->dx) && of_parameter(t, a->dw) &&
           (!mat_present(a->db) || of_parameter(t, a->db));
}

void streams_plan(struct tape *t)
{
    const struct device *device = t->config.backend->device;
    size_t most = 2 * (size_t)t->main.count + 1, storages = (size_t)t->storage_count;
    t->turns = NULL;
    t->turn_count = 0;
    if (!device || !device->tied)
        return;
    struct streams p = {.tape = t,
                        .turns = arena_alloc(t->metadata, most * sizeof *p.turns),
                        .touched = arena_alloc(t->metadata, storages * sizeof *p.touched),
                        .end = arena_alloc(t->metadata, most * sizeof *p.end),
                        .last = {-1, -1, -1}};
    memset(p.known, -1, sizeof p.known);
    memset(p.touched, -1, storages * sizeof *p.touched);
    for (int e = 0; e < t->main.count; e++) {
        const bool divided = is_divided(t, e);
        schedule(&p, e, divided ? RUN_DATA : RUN_WHOLE);
        if (divided)
            schedule(&p, e, RUN_PARAMETERS);
    }
    if (p.last[1] < 0 && p.last[PARAMETERS] < 0)
        return;
    t->turns = p.turns;
    t->turn_count = p.count;
}
