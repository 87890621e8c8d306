/*
 * Between neighbouring points (x0, r0) and (x1, r1), r the ratio of the times, the ratio is taken to be a
 * power of x, so that it is 1 at
 *
 *     log x = log x0 + log(x1 / x0) log r0 / (log r0 - log r1).
 *
 * Its range has the ends at which the lower and the upper ends of the ranges of the ratios pass 1 in this
 * way. The ranges of the two deciding points exclude 1 on opposite sides, so it lies between these.
 */
#include "analysis/compare/crossing.h"

#include "analysis/record/slices.h"
#include "analysis/statistics/allocate.h"

/* An axis of variants, and the axes that one of its values may determine. */
struct contest {
    const char *axis, *determines[3]; /* null-terminated */
    bool encodings;                   /* the variants compute the encoding; otherwise they run the programs */
};

static const struct contest contests[] = {
    {"model", {"attention", "mpnn"}, false},
    {"attention", {NULL}, false},
    {"mpnn", {NULL}, false},
    {"op", {"variant"}, false},
    {"threads", {NULL}, false},
    {"solver", {NULL}, true},
};

struct entry {
    const struct row *row;
    double x;
    char name[AXES_TEXT];
};

static int by_variant(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->x > y->x) - (x->x < y->x);
}

/* The rows along an axis that differ in the variant alone, and in what it determines. Null c: without
 * variants. */
static struct slices groups_of(const struct rows *rows, const struct field *axis, const struct contest *c)
{
    const char *any[4] = {c ? c->axis : NULL};
    for (size_t i = 0, n = 1; c && c->determines[i]; i++)
        if (axes_determine(rows, schema_find(c->axis), schema_find(c->determines[i])))
            any[n++] = c->determines[i];
    return slices_of(rows, axis, any);
}

/* The rows of a slice that have a place on the axis and a variant, sorted; to be freed. */
static struct entry *entries_of(const struct slice *slice, const struct field *axis, const struct contest *c,
                                size_t *n)
{
    struct entry *entries = allocate(slice->count, sizeof *entries);
    *n = 0;
    for (size_t i = 0; i < slice->count; i++) {
        struct entry *e = &entries[*n];
        *e = (struct entry){.row = slice->rows[i].row};
        if (!field_number(e->row, axis, &e->x) || !(e->x > 0))
            continue;
        if (c)
            axes_describe(e->row, schema_find(c->axis), e->name);
        *n += !c || *e->name;
    }
    qsort(entries, *n, sizeof *entries, by_variant);
    return entries;
}

/* Whether a program has a time, an encoding that of a solver. */
static bool has_time_of(const struct row *row, size_t kind)
{
    return !isnan(row_timed(row, kind)->median) && !(kind == TIMED_ENCODING && row_solved_nothing(row));
}

/* Where the power through (x0, r0) and (x1, r1) is 1. */
static double crossing_at(double x0, double r0, double x1, double r1)
{
    return x0 * exp(log(x1 / x0) * log(r0) / (log(r0) - log(r1)));
}

enum end { LOWER, MIDDLE, UPPER };

static double end_of(const struct verdict *v, enum end end)
{
    return end == LOWER ? v->low : end == UPPER ? v->high : v->ratio;
}

/* Where this end first and last passes 1 between the two deciding points. */
static void passes_of(const struct crossing *c, enum end end, double pass[2])
{
    const struct crossing_point *before = &c->points[c->from], *last = &c->points[c->to];
    pass[0] = INFINITY;
    pass[1] = 0;
    for (const struct crossing_point *p = before + 1; p <= last; p++) {
        double r0 = end_of(&before->verdict, end), r1 = end_of(&p->verdict, end);
        if (!isfinite(r1))
            continue;
        if ((r0 > 1) != (r1 > 1)) {
            double x = crossing_at(before->x, r0, p->x, r1);
            pass[0] = fmin(pass[0], x);
            pass[1] = fmax(pass[1], x);
        }
        before = p;
    }
}

static void locate(struct crossing *c)
{
    double lower[2], middle[2], upper[2];
    passes_of(c, LOWER, lower);
    passes_of(c, MIDDLE, middle);
    passes_of(c, UPPER, upper);
    c->at = sqrt(middle[0] * middle[1]);
    c->low = fmin(lower[0], upper[0]);
    c->high = fmax(lower[1], upper[1]);
}

/* Whether a variant is slower at no point, by more than the margin. */
static bool is_never_slower(const struct crossing *c, int variant)
{
    double most = 1 + verdict_within.margin;
    bool never = true;
    for (size_t i = 0; i < c->count; i++) {
        const struct verdict *v = &c->points[i].verdict;
        never = never && !v->few && (variant ? v->high <= most : v->low >= 1 / most);
    }
    return never;
}

void crossing_judge(struct crossing *c)
{
    size_t last = c->count;
    c->changes = c->settled = 0;
    c->winner = 0;
    for (size_t i = 0; i < c->count; i++) {
        enum verdict_kind kind = c->points[i].verdict.kind;
        if (!verdict_differs(kind))
            continue;
        if (c->settled++ && kind != c->points[last].verdict.kind) {
            c->from = last;
            c->to = i;
            c->changes++;
        }
        last = i;
    }
    if (c->settled > 0)
        c->winner = c->points[last].verdict.kind == VERDICT_FASTER;
    if (c->changes == 0)
        c->from = c->to = c->settled > 0 ? last : 0;
    c->kind = c->changes == 1                     ? CROSSING_FOUND
              : c->changes > 0 || c->settled == 0 ? CROSSING_OPEN
              : c->settled == c->count            ? CROSSING_NONE
              : is_never_slower(c, c->winner)     ? CROSSING_NEVER
                                                  : CROSSING_OPEN;
    if (c->kind == CROSSING_FOUND)
        locate(c);
}

/* Whether variant v runs out of memory beyond a point up to which it fits, while the other fits. */
static bool judge_memory(struct crossing *c, int v)
{
    size_t fits = c->count, fails = c->count;
    for (size_t i = 0; i < c->count; i++) {
        const struct crossing_point *p = &c->points[i];
        if (row_is_ok(p->row[v]))
            fits = i;
        else if (fails == c->count && same_text(p->row[v]->status, "oom") && row_is_ok(p->row[1 - v]))
            fails = i;
    }
    c->kind = CROSSING_MEMORY;
    c->from = fits;
    c->to = fails;
    c->winner = 1 - v;
    return fits < fails && fails < c->count;
}

static void add(struct crossings *all, const struct crossing *c)
{
    all->list = grow(all->list, all->count, sizeof *all->list);
    struct crossing *added = &all->list[all->count++];
    *added = *c;
    added->points = allocate(c->count, sizeof *c->points);
    memcpy(added->points, c->points, c->count * sizeof *c->points);
}

/* The points at which both variants have a row, and of a program a time: a value given twice counts once. */
static void collect_points(struct crossing *c, const struct entry *a, size_t n, const struct entry *b,
                           size_t m, bool timed)
{
    c->count = 0;
    for (size_t i = 0, k = 0; i < n; i++) {
        while (k < m && b[k].x < a[i].x)
            k++;
        bool repeated = c->count > 0 && c->points[c->count - 1].x == a[i].x;
        if (k == m || b[k].x != a[i].x || repeated)
            continue;
        struct crossing_point p = {.x = a[i].x, .row = {a[i].row, b[k].row}};
        if (timed && !(has_time_of(p.row[0], c->program[0]) && has_time_of(p.row[1], c->program[1])))
            continue;
        if (timed)
            p.verdict = row_verdict(p.row[0], c->program[0], p.row[1], c->program[1], verdict_within);
        c->points[c->count++] = p;
    }
}

/* Adds the crossing of the times, if they have a place at two points. */
static void add_timed(struct crossings *all, struct crossing *c, const struct entry *a, size_t n,
                      const struct entry *b, size_t m)
{
    collect_points(c, a, n, b, m, true);
    if (c->count < 2)
        return;
    crossing_judge(c);
    add(all, c);
}

/* What the rows of two variants in one group show: a[n] and b[m]. */
static void add_two(struct crossings *all, struct crossing c, const struct contest *contest,
                    const struct entry *a, size_t n, const struct entry *b, size_t m)
{
    size_t first = contest->encodings ? TIMED_ENCODING : 0,
           last = contest->encodings ? TIMED : TIMED_ENCODING;
    char sparse[AXES_TEXT + 8];
    c.points = allocate(n + 1, sizeof *c.points);
    snprintf(sparse, sizeof sparse, "sparse_%s", a->name);
    bool comparable = strcmp(contest->axis, "op") != 0 || strcmp(sparse, b->name) == 0;
    memcpy(c.name[0], a->name, AXES_TEXT);
    memcpy(c.name[1], b->name, AXES_TEXT);
    for (size_t kind = first; comparable && kind < last; kind++) {
        c.program[0] = c.program[1] = kind;
        add_timed(all, &c, a, n, b, m);
    }
    c.program[0] = c.program[1] = TIMED;
    collect_points(&c, a, n, b, m, false);
    for (int v = 0; v < 2 && comparable && c.count > 1; v++)
        if (judge_memory(&c, v))
            add(all, &c);
    free(c.points);
}

static void add_variants(struct crossings *all, struct crossing like, const struct contest *c,
                         const struct entry *e, size_t n)
{
    size_t start[VARIANTS_MAX + 1] = {0}, variants = 0;
    for (size_t i = 1; i <= n && variants < VARIANTS_MAX; i++)
        if (i == n || strcmp(e[i].name, e[i - 1].name) != 0)
            start[++variants] = i;
    for (size_t i = 0; i < variants; i++)
        for (size_t k = i + 1; k < variants; k++)
            add_two(all, like, c, e + start[i], start[i + 1] - start[i], e + start[k],
                    start[k + 1] - start[k]);
}

/* The encoding of each row against a program of the same row. */
static void add_encodings(struct crossings *all, struct crossing c, const struct entry *e, size_t n)
{
    static const char *const runs[] = {
        [TIMED_FORWARD] = "an inference run", [TIMED_STEP] = "a training step"};
    c.points = allocate(n + 1, sizeof *c.points);
    snprintf(c.name[1], AXES_TEXT, "the encoding");
    for (size_t kind = TIMED_FORWARD; kind <= TIMED_STEP; kind++) {
        c.program[0] = kind;
        c.program[1] = TIMED_ENCODING;
        snprintf(c.name[0], AXES_TEXT, "%s", runs[kind]);
        add_timed(all, &c, e, n, e, n);
    }
    free(c.points);
}

/* c: null for encodings against programs. */
static void add_contest(struct crossings *all, const struct rows *rows, const struct field *axis,
                        const struct contest *c)
{
    struct slices groups = groups_of(rows, axis, c);
    for (const struct slice *s = groups.list; s < groups.list + groups.count; s++) {
        size_t n;
        struct entry *entries = entries_of(s, axis, c, &n);
        struct crossing like = {.axis = axis};
        slice_name(&groups, s, like.group);
        if (c)
            add_variants(all, like, c, entries, n);
        else
            add_encodings(all, like, entries, n);
        free(entries);
    }
    slices_free(&groups);
}

/* Whether an axis of variants is determined by the model, which names them already. */
static bool is_named_by_model(const struct rows *rows, const struct field *axis)
{
    const struct field *model = schema_find("model");
    return has_name(contests[0].determines, axis->path) && axes_vary(rows, model) &&
           axes_determine(rows, model, axis);
}

struct crossings crossings_find(const struct rows *rows)
{
    struct crossings all = {0};
    const struct field *numeric[AXES_MAX];
    size_t n = axes_numeric(rows, numeric);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof contests / sizeof *contests; k++) {
            const struct field *variant = schema_find(contests[k].axis);
            if (variant != numeric[i] && axes_vary(rows, variant) && !is_named_by_model(rows, variant))
                add_contest(&all, rows, numeric[i], &contests[k]);
        }
        add_contest(&all, rows, numeric[i], NULL);
    }
    return all;
}

struct crossings crossings_of_kernels(const struct rows *rows)
{
    static const struct contest kernels = {"variant", {NULL}, false};
    struct crossings all = {0};
    const struct field *numeric[AXES_MAX];
    size_t n = axes_numeric(rows, numeric);
    for (size_t i = 0; i < n; i++)
        add_contest(&all, rows, numeric[i], &kernels);
    return all;
}

void crossings_free(struct crossings *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->list[i].points);
    free(c->list);
    *c = (struct crossings){0};
}

bool crossing_is_settled(const struct crossing *c)
{
    bool judged = c->kind == CROSSING_MEMORY;
    for (size_t i = 0; i < c->count; i++)
        for (int v = 0; v < 2; v++)
            if (row_is_ok(c->points[i].row[v]) && row_unchecked(c->points[i].row[v]))
                return false;
    for (size_t i = 0; i < c->count; i++)
        judged = judged || !c->points[i].verdict.uncompared;
    return judged;
}
