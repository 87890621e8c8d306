#include "analysis/record/profile.h"

#include "analysis/statistics/allocate.h"

const char *const profile_categories[PROFILE_CATEGORIES] = {
    "parameters", "gradients", "optimizer", "graph", "encodings", "state", "activations", "workspace"};

void profile_free(struct profile *p)
{
    free(p->entries);
    free(p->texts);
    *p = (struct profile){0};
}

/* --- as fields of a row */

/* Where the values of a field are: in a program of a row, and in an entry, as a member like that of an item.
 */
struct place {
    const char *field;
    enum field_type type;
    size_t items, member;
};

#define PLACE_OF(field, type, member)                                                                        \
    {                                                                                                        \
        "profile." #field, type, offsetof(struct row_program, profile.field),                                \
            offsetof(struct profile_entry, member)                                                           \
    }
#define PLACE(member, type)   PLACE_OF(member, type, member)
#define LIVE(category, index) PLACE_OF(live_##category, FIELD_COUNTS, live_of[index])
static const struct place places[] = {
    PLACE(span, FIELD_TEXTS),
    PLACE(op, FIELD_TEXTS),
    PLACE(variant, FIELD_TEXTS),
    PLACE(phase, FIELD_TEXTS),
    PLACE(seconds, FIELD_REALS),
    PLACE(least, FIELD_REALS),
    PLACE(bound, FIELD_TEXTS),
    PLACE(launched, FIELD_TEXTS),
    PLACE(flops, FIELD_COUNTS),
    PLACE(bytes, FIELD_COUNTS),
    PLACE(live, FIELD_COUNTS),
    LIVE(parameters, 0),
    LIVE(gradients, 1),
    LIVE(optimizer, 2),
    LIVE(graph, 3),
    LIVE(encodings, 4),
    LIVE(state, 5),
    LIVE(activations, 6),
    LIVE(workspace, 7),
};
enum { PLACES = sizeof places / sizeof *places };

static struct items *items_at(const struct row_program *program, const struct place *place)
{
    return (struct items *)((char *)program + place->items);
}

static bool item_is_known(const void *item, enum field_type type)
{
    return type == FIELD_TEXTS    ? *(const char *const *)item != NULL
           : type == FIELD_COUNTS ? *(const int64_t *)item >= 0
                                  : isfinite(*(const double *)item);
}

/* Why the time at the peak rates is not known. */
static const char *why_not_predicted(const struct profile *p)
{
    return *p->ceilings ? "the work exceeds 63 bits"
           : p->runs    ? "no peak rates for this state of the machine"
                        : "no peak rates given (--peaks)";
}

/* Why a list is absent; null where nobody asked for it. */
static const char *why_absent(const struct profile *p, const struct place *place)
{
    if (place->member == offsetof(struct profile_entry, seconds))
        return NULL;
    if (place->member == offsetof(struct profile_entry, launched))
        return *p->why_not_seen ? p->why_not_seen : NULL;
    return place->type == FIELD_COUNTS ? "exceeds 63 bits" : why_not_predicted(p);
}

static void write_place(const struct profile *p, const struct place *place, struct row *row, size_t kind)
{
    bool known = true;
    char *items = allocate(p->count + 1, ITEM);
    for (size_t i = 0; i < p->count; i++) {
        const void *item = (const char *)&p->entries[i] + place->member;
        memcpy(items + i * ITEM, item, ITEM);
        known = known && item_is_known(item, place->type);
    }
    if (known)
        *items_at(row_program(row, kind), place) = row_keep_items(row, items, p->count, place->type);
    else
        row_omit_of(row, kind, place->field, why_absent(p, place));
    free(items);
}

void profile_write(const struct profile *p, struct row *row, size_t kind)
{
    struct row_program *program = row_program(row, kind);
    struct profile_group total = profile_total(p);
    bool predicted = isfinite(total.least);
    row_omit_of(row, kind, "profile", NULL);
    row_omit_of(row, kind, "predicted", predicted ? NULL : why_not_predicted(p));
    for (size_t i = 0; i < PLACES; i++)
        write_place(p, &places[i], row, kind);
    if (predicted) {
        program->predicted.time = total.least + p->launches;
        program->predicted.memory_bound = total.least > 0 ? total.memory / program->predicted.time : 0;
        if (p->launches > 0)
            program->predicted.launches = p->launches;
        program->predicted.peaks = row_keep(row, p->ceilings);
    }
    if (p->runs > 0)
        program->profile.runs = p->runs;
    profile_cover(program);
}

void profile_cover(struct row_program *program)
{
    struct items seconds = program->profile.seconds;
    double sum = 0;
    for (size_t i = 0; i < seconds.count; i++)
        sum += seconds.reals[i];
    if (seconds.list && program->time.median > 0)
        program->profile.covered = sum / program->time.median;
}

/* A field that is absent leaves its members unknown; one of another length is no part of this profile. */
static bool read_place(struct profile *p, const struct place *place, const struct items *items)
{
    static const double no_real = NAN;
    static const int64_t no_count = -1;
    static const char *const no_text = NULL;
    const void *unknown = place->type == FIELD_TEXTS    ? (const void *)&no_text
                          : place->type == FIELD_COUNTS ? (const void *)&no_count
                                                        : &no_real;
    if (items->list && items->count != p->count)
        return false;
    for (size_t i = 0; i < p->count; i++)
        memcpy((char *)&p->entries[i] + place->member,
               items->list ? (const char *)items->list + i * ITEM : unknown, ITEM);
    return true;
}

/* What every profile has; times, unless it is only planned. */
static bool is_complete(const struct profile *p, const struct profile_entry *e)
{
    return e->span && e->op && e->variant && e->phase && (p->runs > 0 ? e->seconds >= 0 : isnan(e->seconds));
}

bool profile_read(struct profile *p, const struct row *row, size_t kind)
{
    const struct row_program *program = row_program(row, kind);
    bool good = true;
    *p = (struct profile){0};
    if (!program || !program->profile.op.list)
        return false;
    const char *ceilings = program->predicted.peaks;
    p->count = program->profile.op.count;
    p->runs = program->profile.runs == COUNT_ABSENT ? 0 : program->profile.runs;
    p->launches = program->predicted.launches > 0 ? program->predicted.launches : 0;
    snprintf(p->ceilings, sizeof p->ceilings, "%s", ceilings ? ceilings : "");
    p->entries = allocate(p->count, sizeof *p->entries);
    for (size_t i = 0; i < PLACES; i++)
        good = read_place(p, &places[i], items_at(program, &places[i])) && good;
    for (size_t i = 0; i < p->count; i++)
        good = good && is_complete(p, &p->entries[i]);
    if (!good)
        profile_free(p);
    return good;
}

/* --- sums */

static const char *class_of(const struct profile_entry *e)
{
    static const struct {
        double below;
        const char *name;
    } classes[] = {{0.25, "below 0.25 FLOP/B"},
                   {1, "0.25 to 1 FLOP/B"},
                   {4, "1 to 4 FLOP/B"},
                   {16, "4 to 16 FLOP/B"},
                   {64, "16 to 64 FLOP/B"}};
    enum { CLASSES = sizeof classes / sizeof *classes };
    if (e->flops < 0 || e->bytes < 0)
        return "not known";
    for (size_t i = 0; i < CLASSES && e->flops > 0; i++)
        if ((double)e->flops < classes[i].below * (double)e->bytes)
            return classes[i].name;
    return e->flops > 0 ? "64 FLOP/B and above" : "no FLOPs";
}

/* The span within a layer, which all layers share: "ffn.up"; "layer" for the layer itself. */
static const char *part_of_layer(const char *span)
{
    static const char layer[] = "layer";
    size_t length = strlen(layer), digits = 0;
    const char *dot = strchr(span, '.');
    if (dot)
        return dot + 1;
    if (strncmp(span, layer, length) == 0)
        digits = strspn(span + length, "0123456789");
    return digits > 0 && !span[length + digits] ? layer : span;
}

static void make_key(const struct profile_entry *e, enum profile_key key, char text[PROFILE_KEY])
{
    const char *dot = strchr(e->span, '.');
    switch (key) {
    case PROFILE_OP:
        snprintf(text, PROFILE_KEY, "%s", e->op);
        break;
    case PROFILE_PART:
        snprintf(text, PROFILE_KEY, "%.40s %.30s", part_of_layer(e->span), e->op);
        break;
    case PROFILE_LAYER:
        snprintf(text, PROFILE_KEY, "%.*s", (int)(dot ? dot - e->span : 63), e->span);
        break;
    case PROFILE_PHASE:
        snprintf(text, PROFILE_KEY, "%s", e->phase);
        break;
    case PROFILE_ENTRY:
        snprintf(text, PROFILE_KEY, "%.40s %.30s", e->span, e->op);
        break;
    case PROFILE_INTENSITY:
        snprintf(text, PROFILE_KEY, "%s", class_of(e));
        break;
    case PROFILE_BOUND:
        snprintf(text, PROFILE_KEY, "%s", e->bound ? e->bound : "not known");
        break;
    }
}

/* -1 if one of them is negative, or the sum exceeds 63 bits. */
static int64_t add_known(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

static void add_entry(struct profile_group *g, const struct profile_entry *e)
{
    g->calls++;
    g->seconds += e->seconds;
    g->least += e->least;
    g->memory += !e->bound ? NAN : strcmp(e->bound, "memory") == 0 ? e->least : 0;
    g->flops = add_known(g->flops, e->flops);
    g->bytes = add_known(g->bytes, e->bytes);
}

static double time_of(const struct profile_group *g)
{
    return isnan(g->seconds) ? g->least : g->seconds;
}

static int longest_first(const void *a, const void *b)
{
    double x = time_of(a), y = time_of(b);
    return (x < y) - (x > y);
}

static int most_flops_first(const void *a, const void *b)
{
    const struct profile_group *x = a, *y = b;
    return (x->flops < y->flops) - (x->flops > y->flops);
}

/* Intensities of classes, which do not overlap. */
static int rising(const void *a, const void *b)
{
    const struct profile_group *x = a, *y = b;
    double i = (double)x->flops * (double)y->bytes, j = (double)y->flops * (double)x->bytes;
    return (i > j) - (i < j);
}

struct profile_group *profile_groups(const struct profile *p, enum profile_key key, enum profile_order order,
                                     size_t *count)
{
    static int (*const orders[])(const void *, const void *) = {[PROFILE_LONGEST] = longest_first,
                                                                [PROFILE_MOST_FLOPS] = most_flops_first,
                                                                [PROFILE_RISING] = rising};
    struct profile_group *groups = allocate(p->count, sizeof *groups);
    *count = 0;
    for (size_t i = 0; i < p->count; i++) {
        char text[PROFILE_KEY];
        size_t g = 0;
        make_key(&p->entries[i], key, text);
        while (g < *count && strcmp(groups[g].key, text) != 0)
            g++;
        if (g == *count)
            memcpy(groups[(*count)++].key, text, sizeof text);
        add_entry(&groups[g], &p->entries[i]);
    }
    if (order != PROFILE_AS_RUN)
        qsort(groups, *count, sizeof *groups, orders[order]);
    return groups;
}

struct profile_group profile_total(const struct profile *p)
{
    struct profile_group total = {.key = "total"};
    for (size_t i = 0; i < p->count; i++)
        add_entry(&total, &p->entries[i]);
    return total;
}

struct profile_ops profile_ops_of(const struct profile *p)
{
    struct profile_ops ops = {.total = profile_total(p)};
    ops.list = profile_groups(p, PROFILE_OP, PROFILE_AS_RUN, &ops.count);
    ops.measure = p->runs > 0                 ? PROFILE_BY_TIME
                  : isfinite(ops.total.least) ? PROFILE_BY_PREDICTION
                                              : PROFILE_BY_FLOPS;
    return ops;
}

const struct profile_group *profile_op(const struct profile_ops *ops, const char *op)
{
    for (size_t i = 0; i < ops->count; i++)
        if (strcmp(ops->list[i].key, op) == 0)
            return &ops->list[i];
    return NULL;
}

double profile_amount(const struct profile_ops *ops, const struct profile_group *g)
{
    return ops->measure == PROFILE_BY_TIME         ? g->seconds
           : ops->measure == PROFILE_BY_PREDICTION ? g->least
                                                   : (double)g->flops;
}

double profile_share(const struct profile_ops *ops, const char *op)
{
    const struct profile_group *g = profile_op(ops, op);
    return g ? profile_amount(ops, g) / profile_amount(ops, &ops->total) : 0;
}

const char *profile_next_op(const struct profile_ops *ops, size_t n, const char *const *before, size_t count)
{
    const char *found = NULL;
    double most = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < ops[i].count; k++) {
            const char *op = ops[i].list[k].key;
            bool used = false;
            for (size_t b = 0; b < count; b++)
                used = used || strcmp(before[b], op) == 0;
            if (!used && profile_share(&ops[i], op) > most) {
                most = profile_share(&ops[i], op);
                found = op;
            }
        }
    return found;
}

const struct row *profile_of_most(const struct rows *rows, size_t kind, int64_t least,
                                  int64_t measure(const struct row *row, const struct profile *p),
                                  struct profile *p)
{
    const struct row *found = NULL;
    *p = (struct profile){0};
    for (size_t i = 0; i < rows_count(rows); i++) {
        struct profile next;
        if (!profile_read(&next, rows_at(rows, i), kind))
            continue;
        int64_t most = measure(rows_at(rows, i), &next);
        bool more = most > least;
        profile_free(more ? p : &next);
        if (more) {
            least = most;
            found = rows_at(rows, i);
            *p = next;
        }
    }
    return found;
}

/* -1: none, or not known. */
static int64_t measured_work(const struct row *row, const struct profile *p)
{
    bool sound = row_is_ok(row) && !row_unchecked(row) && p->runs > 0;
    return sound ? profile_total(p).flops : -1;
}

const struct row *profile_of_largest(const struct rows *rows, size_t kind, struct profile *p)
{
    return profile_of_most(rows, kind, -1, measured_work, p);
}
