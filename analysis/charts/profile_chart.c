
#include "analysis/charts/chart.h"
#include "analysis/charts/stack.h"
#include "analysis/record/profile.h"
#include "analysis/statistics/allocate.h"

/* Ops beyond these, the longest, are one bar. */
enum { OPS_MOST = 10 };

static void add_bar(struct series_set *set, const struct quantity *quantity, const char *name, double seconds)
{
    struct series *s = &set->series[set->count++];
    *s = (struct series){.quantity = quantity, .count = 1, .points = allocate(1, sizeof *s->points)};
    snprintf(s->group, sizeof s->group, "%s", name);
    s->points->at = (struct law_point){.x = 1, .y = seconds, .low = seconds, .high = seconds};
}

/* Two bars for each op: its time, and its time at the ceilings if that is known. */
static struct series_set make_bars(struct profile_group *groups, size_t n,
                                   const struct quantity quantities[2])
{
    struct series_set set = {0, allocate(2 * OPS_MOST + 2, sizeof *set.series)};
    struct profile_group others = {.key = "other ops"};
    for (size_t i = 0; i < n; i++) {
        if (i >= OPS_MOST) {
            others.seconds += groups[i].seconds;
            continue;
        }
        add_bar(&set, &quantities[0], groups[i].key, groups[i].seconds);
        if (isfinite(groups[i].least))
            add_bar(&set, &quantities[1], "", groups[i].least);
    }
    if (others.seconds > 0)
        add_bar(&set, &quantities[0], others.key, others.seconds);
    return set;
}

/* What the profile is of, in a title: "a training step, 500 nodes". */
static void name_profiled(char name[2 * AXES_TEXT], const struct row *row, size_t kind)
{
    char nodes[AXES_TEXT];
    axes_describe(row, schema_find("nodes"), nodes);
    snprintf(name, 2 * AXES_TEXT, "%s%s%s", kind == TIMED_STEP ? "a training step" : "inference",
             *nodes ? ", " : "", nodes);
}

static void add_profile(struct figures *f, const struct record *record, const struct row *row,
                        const struct profile *p, size_t kind)
{
    size_t n;
    char title[CHART_TEXT], name[2 * AXES_TEXT];
    struct rows *rows = rows_new_view();
    struct profile_group *groups = profile_groups(p, PROFILE_OP, PROFILE_LONGEST, &n);
    struct chart chart = {
        .axis = "time in the op",
        .base = UNITS_SI,
        .unit = "s",
        .note = "medians of runs with a mark after each entry; open: the time at the machine's peak rates",
        .title = title,
        .count = 2,
        .quantities = {{"", "", "", SERIES_EXACT, 0}, {"at the peak rates", "", "", SERIES_MEASURED, 0}}};
    rows_append(rows, (struct row *)row);
    const struct drawing drawing = {.rows = rows, .record = record, .axis = schema_find("nodes")};
    struct chart_data data = {&chart, &drawing, make_bars(groups, n, chart.quantities), ""};
    name_profiled(name, row, kind);
    snprintf(title, sizeof title, "Time of the ops of %s", name);
    figures_add(f, "profile", style_bars, chart_write_bars, &data);
    series_free(&data.set);
    rows_free(rows);
    free(groups);
}

/* --- memory over the entries */

/* All categories are parts, so that each has one colour in all charts; those that no entry has have no name.
 * False: none is known. */
static bool stack_live(struct stack *s, const struct profile *p)
{
    _Static_assert((int)PROFILE_CATEGORIES <= (int)STACK_PARTS, "a part for each category");
    bool any = false;
    s->parts = PROFILE_CATEGORIES;
    for (size_t e = 0; e < p->count; e++)
        for (size_t c = 0; c < PROFILE_CATEGORIES; c++) {
            s->value[e][c] = (double)p->entries[e].live_of[c];
            if (s->value[e][c] > 0) {
                s->label[c] = profile_categories[c];
                any = true;
            }
        }
    return any;
}

/* The entry, from 1, that ends the forward pass: of the backward pass or of what it computes again; 0: none.
 */
static double turn_of(const struct profile *p)
{
    for (size_t e = 1; e < p->count; e++)
        if (strcmp(p->entries[e - 1].phase, "forward") == 0 && strcmp(p->entries[e].phase, "forward") != 0)
            return (double)e + 1;
    return 0;
}

/* Nothing in files that do not have the categories. */
static void add_timeline(struct figures *f, const struct record *record, const struct row *row,
                         const struct profile *p, size_t kind)
{
    char name[32], title[CHART_TEXT], of[2 * AXES_TEXT], note[CHART_TEXT], bytes[UNITS_TEXT];
    size_t peak = 0;
    struct rows *rows = rows_new_view();
    rows_append(rows, (struct row *)row);
    struct stack s = {.title = title,
                      .axis = "memory alive, by the plan",
                      .x_axis = "entry of the tape",
                      .unit = "B",
                      .base = UNITS_BINARY,
                      .notes = {note},
                      .turn = turn_of(p),
                      .record = record,
                      .rows = rows};
    stack_allocate(&s, p->count);
    for (size_t e = 0; e < p->count; e++) {
        s.x[e] = (double)e + 1;
        peak = p->entries[e].live > p->entries[peak].live ? e : peak;
    }
    s.marked = (double)peak + 1;
    name_profiled(of, row, kind);
    snprintf(title, sizeof title, "Memory over the tape of %s", of);
    units_format(bytes, (double)p->entries[peak].live, UNITS_BINARY, "B");
    snprintf(note, sizeof note, "dashed: the peak, %s at entry %zu, %s of %s", bytes, peak + 1,
             p->entries[peak].op, p->entries[peak].span);
    snprintf(name, sizeof name, "timeline_%s", program_name(kind));
    if (stack_live(&s, p))
        figures_add(f, name, style_stack, stack_write, &s);
    stack_free(&s);
    rows_free(rows);
}

static int64_t peak_of(const struct row *row, const struct profile *p)
{
    int64_t peak = 0;
    (void)row;
    for (size_t e = 0; e < p->count; e++)
        peak = p->entries[e].live > peak ? p->entries[e].live : peak;
    return peak;
}

void profile_chart_add(struct figures *f, const struct record *record, const struct field *axis)
{
    (void)axis;
    static const size_t programs[] = {TIMED_STEP, TIMED_FORWARD};
    const struct rows *rows = record_rows(record);
    struct profile p;
    const struct row *row = NULL;
    for (int i = 0; i < 2 && !row; i++) {
        row = profile_of_largest(rows, programs[i], &p);
        if (row && profile_total(&p).seconds > 0)
            add_profile(f, record, row, &p, programs[i]);
        profile_free(&p);
    }
    for (int i = 0; i < 2; i++) {
        row = profile_of_most(rows, programs[i], 0, peak_of, &p);
        if (row)
            add_timeline(f, record, row, &p, programs[i]);
        profile_free(&p);
    }
}
