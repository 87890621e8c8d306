/*
 * Which of a device's streams each entry of the main program is captured on, and where one stream waits for
 * the other, so that entries that do not depend on one another may run at the same time.
 *
 * An entry depends on each earlier one that touches a storage of it, if one of the two writes it. Dependent
 * entries stay in the order of the tape: on one stream they are, and across the two an event orders them. So
 * any run gives the bits of a run one by one. The plan lets storages share memory only if all uses of one
 * come before all uses of the other in this order (plan.c).
 *
 * Each entry goes, in the order of the tape, to the stream on which it can begin first, as if all took
 * equally long (list scheduling).
 */
#include "kernels/plugin_rows.h"
#include "models/tape/tape_internal.h"

enum { STREAMS = 2 };

/* The last entry of each stream that wrote a storage, and the last that read it; -1: none. */
struct touched {
    int written[STREAMS], read[STREAMS];
};

struct streams {
    const struct tape *tape;
    struct touched *touched; /* by storage */
    int *end;                /* of each entry, in entries */
    int last[STREAMS];       /* entry */
    int known[STREAMS];      /* the last entry of the other stream that each waited for */
};

static void later(int *at, int entry)
{
    *at = entry > *at ? entry : *at;
}

/* An entry that is placed: its number and stream, and the last entries of each stream that it comes after. */
struct placing {
    int entry, stream, after[STREAMS];
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
    *(writes ? &s->written[e->stream] : &s->read[e->stream]) = e->entry;
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

/* Scratch is written, also where an earlier entry prepared it. */
static void visit_operands(const struct streams *p, visitor *visit, struct placing *to)
{
    const struct entry *e = &p->tape->main.entries[to->entry];
    const struct op_info *info = op_info(e->op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (operand_is_mat(o))
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

/* The first and the last entry are on the first stream, at which the other begins and ends. */
static struct stream_place schedule(struct streams *p, int entry)
{
    bool last = entry + 1 == p->tape->main.count;
    struct placing e = {.entry = entry, .after = {-1, -1}};
    visit_operands(p, come_after, &e);
    e.stream = entry > 0 && !last && !is_tied(p->tape, entry) && beginning(p, &e, 1) < beginning(p, &e, 0);
    if (e.stream == 1)
        later(&e.after[0], 0);
    if (last)
        later(&e.after[1], p->last[1]);
    int other = e.after[1 - e.stream], *known = &p->known[e.stream];
    struct stream_place turn = {.stream = e.stream, .after = other > *known ? other : -1};
    later(known, other);
    turn.known = *known;
    p->end[entry] = beginning(p, &e, e.stream) + 1;
    p->last[e.stream] = entry;
    visit_operands(p, note, &e);
    return turn;
}

struct stream_place *streams_plan(struct tape *t)
{
    const struct device *device = t->config.backend->device;
    const int count = t->main.count;
    size_t entries = (size_t)count + 1, storages = (size_t)t->storage_count;
    if (!device || !device->tied)
        return NULL;
    struct stream_place *turns = arena_alloc(t->metadata, entries * sizeof *turns);
    struct streams p = {.tape = t,
                        .touched = arena_alloc(t->metadata, storages * sizeof *p.touched),
                        .end = arena_alloc(t->metadata, entries * sizeof *p.end),
                        .last = {-1, -1},
                        .known = {-1, -1}};
    for (size_t i = 0; i < storages; i++)
        p.touched[i] = (struct touched){{-1, -1}, {-1, -1}};
    for (int e = 0; e < count; e++) {
        turns[e] = schedule(&p, e);
        if (turns[e].after >= 0)
            turns[turns[e].after].awaited = true;
    }
    return p.last[1] < 0 ? NULL : turns;
}
