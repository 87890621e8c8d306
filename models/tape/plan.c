/*
 * The memory plan: lifetimes become offsets in one arena.
 *
 * Persistent storages come first, category by category; parameters and gradients have no gaps, so the
 * optimizer sees each as one vector. The others are placed greedily by size: the largest first, each into the
 * smallest gap that is free for its whole lifetime (Pisarchyk and Lee, "Efficient memory management for deep
 * neural net inference", 2020, algorithm "greedy by size").
 *
 * Where entries may run at the same time (streams.c), two storages may share memory if all entries that use
 * one are over before any begins that uses the other.
 *
 * The storages that only initialisation uses (scratch, unused results) are placed so too, in the same region.
 */
#include "models/tape/tape_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HOST_ALIGN = 64 };

static int64_t aligned(const struct tape *t, int64_t bytes)
{
    const struct device *device = t->config.backend->device;
    int64_t unit = device ? device->alignment : HOST_ALIGN;
    return bytes > BYTES_MOST - unit ? BYTES_MOST : (bytes + unit - 1) / unit * unit;
}

/*
 * When a storage is used, by streams: the last place on each that uses it, and the last that is over before
 * any that uses it begins; -1: none.
 */
struct span {
    int last[DEVICE_STREAMS], before[DEVICE_STREAMS];
};

/* A dynamic storage with the first and last entry that uses it. */
struct life {
    int storage, first, last;
    struct span span;
    int64_t bytes, offset, end; /* end: offset + bytes */
};

static const struct span never = {{-1, -1, -1}, {INT_MAX, INT_MAX, INT_MAX}},
                         always = {{INT_MAX, INT_MAX, INT_MAX}, {-1, -1, -1}};

static void extend(struct span *s, const struct stream_place *turn, int place)
{
    s->last[turn->stream] = place;
    for (int i = 0; i < DEVICE_STREAMS; i++)
        s->before[i] = turn->known[i] < s->before[i] ? turn->known[i] : s->before[i];
}

static void use(struct life *lives, const struct tape *t, const struct program *program, struct mat m,
                const struct stream_place *turn, int place)
{
    const int entry = turn->entry;
    struct life *l = &lives[m.storage];
    if (!mat_present(m) || category_persistent(t->storages[m.storage].category))
        return;
    const struct storage *s = &t->storages[m.storage];
    if (l->first < 0)
        l->first = s->whole ? 0 : entry;
    l->last = s->keep || s->whole ? program->count - 1 : entry;
    extend(&l->span, turn, place);
    if (s->whole)
        l->span = always;
    else if (s->keep)
        l->span.last[0] = INT_MAX;
}

/* Lifetimes by storage; first = -1 for storages that the program does not use. */
static struct life *lifetimes(const struct tape *t, const struct program *program)
{
    struct life *lives = arena_alloc(t->metadata, (size_t)t->storage_count * sizeof *lives);
    for (int i = 0; i < t->storage_count; i++)
        lives[i] = (struct life){
            .storage = i, .first = -1, .span = never, .bytes = aligned(t, t->storages[i].bytes)};
    const struct stream_place *turns = program == &t->main ? t->turns : NULL;
    for (int i = 0; i < (turns ? t->turn_count : program->count); i++) {
        const struct stream_place turn =
            turns ? turns[i] : (struct stream_place){.entry = i, .known = {i - 1, -1, -1}};
        const struct entry *entry = &program->entries[turn.entry];
        const struct op_info *info = op_info(entry->op);
        for (int k = 0; k < info->operand_count; k++) {
            const struct operand *o = &info->operands[k];
            if (operand_is_mat(o) && stream_touches(t, turn.part, o, *operand_mat(o, entry->args)))
                use(lives, t, program, *operand_mat(o, entry->args), &turn, i);
        }
        use(lives, t, program, entry->scratch, &turn, i);
    }
    return lives;
}

static int larger_first(const void *a, const void *b)
{
    const struct life *x = *(struct life *const *)a, *y = *(struct life *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->storage - y->storage;
}

/* A storage that is placed. */
struct placed {
    struct span span;
    const struct life *life;
};

static inline int is_over(struct span a, struct span b)
{
    return (a.last[0] <= b.before[0]) & (a.last[1] <= b.before[1]) & (a.last[2] <= b.before[2]);
}

/* Those whose lifetimes overlap, found without branches, since no processor can predict them. */
static int overlapping(const struct life **found, const struct life *l, const struct placed *placed,
                       bool *overlaps, int count, bool reuse)
{
    const struct span span = reuse ? l->span : always;
    int n = 0;
#pragma omp simd
    for (int i = 0; i < count; i++)
        overlaps[i] = !(is_over(placed[i].span, span) | is_over(span, placed[i].span));
    for (int i = 0; i < count; i++) {
        found[n] = placed[i].life;
        n += overlaps[i];
    }
    return n;
}

/* The offset of the smallest sufficient gap between these storages, ordered by offset. */
static int64_t smallest_gap(const struct life *l, const struct life *const *others, int count)
{
    int64_t end = 0, best = -1, best_size = INT64_MAX;
    for (int i = 0; i < count; i++) {
        int64_t gap = others[i]->offset - end;
        if ((gap >= l->bytes) & (gap < best_size))
            best = end, best_size = gap;
        end = others[i]->end > end ? others[i]->end : end;
    }
    return best >= 0 ? best : end;
}

/* Places the dynamic storages starting at `base` and returns the end of the arena. */
static int64_t place(struct tape *t, struct life *lives, int64_t base)
{
    size_t room = (size_t)t->storage_count;
    struct life **order = arena_alloc(t->metadata, room * sizeof *order);
    struct placed *placed = arena_alloc(t->metadata, room * sizeof *placed); /* by offset */
    const struct life **found = arena_alloc(t->metadata, room * sizeof *found);
    bool *overlaps = arena_alloc(t->metadata, room * sizeof *overlaps);
    int count = 0;
    for (int i = 1; i < t->storage_count; i++)
        if (lives[i].first >= 0)
            order[count++] = &lives[i];
    qsort(order, (size_t)count, sizeof *order, larger_first);

    int64_t end = 0;
    for (int n = 0; n < count; n++) {
        struct life *l = order[n];
        l->offset = smallest_gap(l, found, overlapping(found, l, placed, overlaps, n, !t->config.no_reuse));
        l->end = add_bytes(l->offset, l->bytes);
        t->storages[l->storage].offset = add_bytes(base, l->offset);
        int at = n;
        while (at > 0 && placed[at - 1].life->offset > l->offset)
            at--;
        memmove(placed + at + 1, placed + at, (size_t)(n - at) * sizeof *placed);
        placed[at] = (struct placed){l->span, l};
        end = l->end > end ? l->end : end;
    }
    return add_bytes(base, end);
}

/* Places a persistent category, or the copies in it, starting at `offset` and returns its end. */
static int64_t place_category(struct tape *t, enum category c, bool copies, int64_t offset)
{
    bool dense = c == MEMORY_PARAMETERS || c == MEMORY_GRADIENTS;
    int64_t start = offset;
    for (int i = 1; i < t->storage_count; i++) {
        struct storage *s = &t->storages[i];
        if (s->category != c || s->is_copy != copies)
            continue;
        s->offset = s->alias ? start : offset;
        if (!s->alias)
            offset = add_bytes(offset, dense ? s->bytes : aligned(t, s->bytes));
    }
    return aligned(t, offset);
}

/* Live bytes at an entry without workspace. */
static int64_t live_operands(const struct tape *t, int entry)
{
    int64_t bytes = 0;
    for (enum category c = 0; c < MEMORY_WORKSPACE; c++)
        bytes = add_bytes(bytes, t->live[entry][c]);
    return bytes;
}

/* Live bytes of each category at each entry, and the peaks. */
static void measure(struct tape *t, const struct life *lives)
{
    struct plan *p = &t->plan;
    int64_t persistent[MEMORY_CATEGORIES] = {0};
    t->live = arena_alloc(t->metadata, (size_t)(t->main.count + 1) * sizeof *t->live);
    for (int i = 1; i < t->storage_count; i++) {
        const struct storage *s = &t->storages[i];
        if (category_persistent(s->category) && !s->alias) {
            persistent[s->category] = add_bytes(persistent[s->category], s->bytes);
            p->peak = p->operands = add_bytes(p->peak, s->bytes);
        }
        for (int e = lives[i].first; lives[i].first >= 0 && e <= lives[i].last; e++)
            t->live[e][s->category] = add_bytes(t->live[e][s->category], s->bytes);
    }
    p->peak_entry = -1;
    double sum = 0;
    memcpy(p->at_peak, persistent, sizeof persistent);
    for (int e = 0; e < t->main.count; e++) {
        for (enum category c = 0; c < MEMORY_CATEGORIES; c++)
            t->live[e][c] = add_bytes(t->live[e][c], persistent[c]);
        int64_t live = tape_live_bytes(t, e), operands = live_operands(t, e);
        sum += (double)live;
        p->operands = operands > p->operands ? operands : p->operands;
        if (p->peak_entry >= 0 && live <= p->peak)
            continue;
        p->peak = live;
        p->peak_entry = e;
        memcpy(p->at_peak, t->live[e], sizeof t->live[e]);
    }
    bool exact = t->main.count > 0 && p->peak < BYTES_MOST;
    p->average = exact ? (int64_t)(sum / t->main.count) : p->peak;
}

const struct plan *tape_plan(struct tape *t)
{
    t->plan = (struct plan){0};
    int64_t end = 0;
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++)
        if (category_persistent(c))
            end = place_category(t, c, true, place_category(t, c, false, end));
    streams_plan(t);
    struct life *lives = lifetimes(t, &t->main);
    int64_t initial = place(t, lifetimes(t, &t->init), end), running = place(t, lives, end);
    t->plan.arena = initial > running ? initial : running;
    measure(t, lives);
    return &t->plan;
}

const struct plan *tape_planned(const struct tape *t)
{
    return &t->plan;
}

int64_t tape_live_bytes(const struct tape *t, int entry)
{
    return add_bytes(live_operands(t, entry), t->live[entry][MEMORY_WORKSPACE]);
}

int64_t tape_live_of(const struct tape *t, int entry, enum category c)
{
    return t->live[entry][c];
}
