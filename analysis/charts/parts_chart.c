#include "analysis/charts/charts.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/stack.h"
#include "analysis/record/profile.h"
#include "analysis/record/slices.h"
#include "analysis/statistics/allocate.h"

/* Rows that differ in one axis only, ascending. */
struct line {
    const struct field *axis;
    char group[AXES_TEXT]; /* what distinguishes them from the others; "" if nothing does */
    size_t count;
    const struct row **rows;
};

/* The rows of a slice that are ok and have what is wanted, each value once. */
static void take_slice(struct line *l, const struct slice *slice, bool (*wanted)(const struct row *, size_t),
                       size_t kind)
{
    l->count = 0;
    for (size_t i = 0; i < slice->count; i++) {
        const struct row *row = slice->rows[i].row;
        bool again = l->count > 0 && row_order(l->rows[l->count - 1], row, l->axis) == 0;
        if (!again && row_is_ok(row) && wanted(row, kind) && series_has_place(row, l->axis))
            l->rows[l->count++] = row;
    }
}

/* The longest of the lines; to be freed. */
static struct line line_of(const struct rows *rows, const struct field *axis,
                           bool (*wanted)(const struct row *, size_t), size_t kind)
{
    struct line l = {.axis = axis, .rows = allocate(rows_count(rows), sizeof *l.rows)};
    struct slices slices = slices_of(rows, axis, NULL);
    const struct slice *best = NULL;
    size_t most = 0;
    for (const struct slice *s = slices.list; s < slices.list + slices.count; s++) {
        take_slice(&l, s, wanted, kind);
        best = l.count > most ? s : best;
        most = l.count > most ? l.count : most;
    }
    if (best) {
        take_slice(&l, best, wanted, kind);
        slice_name(&slices, best, l.group);
    }
    slices_free(&slices);
    return l;
}

static void add_stack(struct figures *f, const char *name, struct stack *s, const struct line *l, size_t kind,
                      const struct record *record, const char *noun)
{
    char title[CHART_TEXT], note[CHART_TEXT], others[64] = "";
    size_t all = rows_count(record_rows(record));
    bool noisy = false;
    struct rows *rows = rows_new_view();
    for (size_t i = 0; i < l->count; i++) {
        rows_append(rows, (struct row *)l->rows[i]);
        noisy = noisy || row_noisy(l->rows[i], kind);
        if (!field_number(l->rows[i], l->axis, &s->x[i]))
            s->x[i] = NAN;
    }
    s->x_axis = axes_title(l->axis);
    snprintf(title, sizeof title, "%s over %s%s%.500s", noun, s->x_axis, *l->group ? ", " : "", l->group);
    snprintf(note, sizeof note, "%s%s", s->notes[0], noisy ? "; some times have a wide range" : "");
    if (l->count < all)
        snprintf(others, sizeof others, "drawn: %zu of %zu rows", l->count, all);
    s->title = title;
    s->notes[0] = note;
    s->notes[1] = others;
    s->record = record;
    s->rows = rows;
    s->logarithmic = true;
    figures_add(f, name, style_stack, stack_write, s);
    rows_free(rows);
}

/* --- ops */

static bool has_profile(const struct row *row, size_t kind)
{
    struct profile p;
    bool known = profile_read(&p, row, kind) && (p.runs > 0 || profile_total(&p).least > 0);
    profile_free(&p);
    return known;
}

/* In percent; what has no part of its own is the last. */
static void stack_ops(struct stack *s, const struct profile_ops *ops, size_t n)
{
    const char *op;
    while (s->parts + 1 < STACK_PARTS && (op = profile_next_op(ops, n, s->label, s->parts)) != NULL)
        s->label[s->parts++] = op;
    bool more = profile_next_op(ops, n, s->label, s->parts);
    for (size_t i = 0; i < n; i++) {
        double rest = 100;
        for (size_t p = 0; p < s->parts; p++)
            rest -= s->value[i][p] = 100 * profile_share(&ops[i], s->label[p]);
        if (more)
            s->value[i][s->parts] = fmax(rest, 0);
    }
    if (more)
        s->label[s->parts++] = "other ops";
}

/* Lines of measured and of predicted times are not mixed: the first row decides. */
static size_t read_ops(struct line *l, struct profile_ops *ops, size_t kind)
{
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct profile p;
        profile_read(&p, l->rows[i], kind);
        struct profile_ops o = profile_ops_of(&p);
        profile_free(&p);
        if (n > 0 && o.measure != ops[0].measure) {
            free(o.list);
            continue;
        }
        l->rows[n] = l->rows[i];
        ops[n++] = o;
    }
    return l->count = n;
}

static void add_ops(struct figures *f, const struct record *record, const struct field *axis)
{
    size_t kind = TIMED_STEP;
    struct line l = line_of(record_rows(record), axis, has_profile, kind);
    if (l.count < 2) {
        free(l.rows);
        kind = TIMED_FORWARD;
        l = line_of(record_rows(record), axis, has_profile, kind);
    }
    struct profile_ops *ops = allocate(l.count + 1, sizeof *ops);
    struct stack s = {.axis = "share of the time", .unit = "%"};
    if (read_ops(&l, ops, kind) >= 2) {
        bool ran = ops[0].measure == PROFILE_BY_TIME;
        char noun[128];
        snprintf(noun, sizeof noun, "Share of the ops in the %stime of %s", ran ? "" : "predicted ",
                 kind == TIMED_STEP ? "a training step" : "inference");
        s.notes[0] = ran ? "medians of runs with a mark after each entry"
                         : "predicted at the peak rates, not measured";
        stack_allocate(&s, l.count);
        stack_ops(&s, ops, l.count);
        add_stack(f, "ops", &s, &l, kind, record, noun);
        stack_free(&s);
    }
    for (size_t i = 0; i < l.count; i++)
        free(ops[i].list);
    free(ops);
    free(l.rows);
}

/* --- phases */

static bool has_phases(const struct row *row, size_t kind)
{
    (void)kind;
    return row->step.time.median > 0 && row->step.backward.time.median > 0 &&
           row->step.optimizer.time.median > 0 && row->batch > 0;
}

/* Seconds of each graph of the batch. */
static void add_phases(struct figures *f, const struct record *record)
{
    static const char *const names[] = {"forward (the rest)", "backward", "optimizer", "recompute"};
    struct line l = line_of(record_rows(record), schema_find("batch"), has_phases, TIMED_STEP);
    struct stack s = {.axis = "time for each graph",
                      .unit = "s",
                      .parts = 3,
                      .notes = {"medians of the step and its phases, over the graphs of the batch"}};
    memcpy(s.label, names, sizeof names);
    stack_allocate(&s, l.count);
    for (size_t i = 0; i < l.count; i++) {
        const struct row_program *step = &l.rows[i]->step;
        double scale = 1 / (double)l.rows[i]->batch, rest = step->time.median;
        double recompute = isnan(step->recompute.time.median) ? 0 : step->recompute.time.median;
        const double parts[] = {0, step->backward.time.median, step->optimizer.time.median, recompute};
        s.parts = recompute > 0 ? 4 : s.parts;
        for (size_t p = 1; p < 4; p++) {
            s.value[i][p] = scale * parts[p];
            rest -= parts[p];
        }
        s.value[i][0] = scale * fmax(rest, 0);
    }
    if (l.count >= 2)
        add_stack(f, "phases", &s, &l, TIMED_STEP, record, "Time of a training step by phase");
    stack_free(&s);
    free(l.rows);
}

void parts_chart_add(struct figures *f, const struct record *record, const struct field *axis)
{
    const struct field *over = axis ? axis : axes_default(record_rows(record));
    add_ops(f, record, over);
    if (strcmp(over->path, "batch") == 0)
        add_phases(f, record);
}
