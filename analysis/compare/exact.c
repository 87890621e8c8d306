#include "analysis/compare/exact.h"

#include "analysis/record/profile.h"

/* In which rows a figure is the same in every run. */
enum when {
    ALWAYS,
    UNITERATED, /* no solver iterated, whose steps depend on rounding */
    COUNTED     /* executed by one thread of one instruction set and compiler */
};

struct figure {
    const char *name, *unit;
    enum unit_base base;
    size_t offset; /* of a count: in struct row_program, or in struct row */
    enum when when;
};

static const struct figure of_program[] = {
    {"memory", "B", UNITS_BINARY, offsetof(struct row_program, memory.planned), ALWAYS},
    {"peak", "B", UNITS_BINARY, offsetof(struct row_program, memory.peak_live), ALWAYS},
    {"FLOPs", "FLOP", UNITS_SI, offsetof(struct row_program, flops.analytic), ALWAYS},
    {"bytes", "B", UNITS_SI, offsetof(struct row_program, bytes), ALWAYS},
    {"executed", "FLOP", UNITS_SI, offsetof(struct row_program, flops.executed), COUNTED},
};

static const struct figure of_encoding[] = {
    {"storage", "B", UNITS_BINARY, offsetof(struct row, encoding.storage), ALWAYS},
    {"FLOPs at most", "FLOP", UNITS_SI, offsetof(struct row, encoding.bound.flops), ALWAYS},
    {"bytes at most", "B", UNITS_SI, offsetof(struct row, encoding.bound.bytes), ALWAYS},
    {"peak at most", "B", UNITS_BINARY, offsetof(struct row, encoding.bound.peak), ALWAYS},
    {"FLOPs", "FLOP", UNITS_SI, offsetof(struct row, encoding.flops), UNITERATED},
    {"bytes", "B", UNITS_SI, offsetof(struct row, encoding.bytes), UNITERATED},
    {"peak", "B", UNITS_BINARY, offsetof(struct row, encoding.peak), UNITERATED},
    {"executed", "FLOP", UNITS_SI, offsetof(struct row, encoding.executed), COUNTED},
};

static int64_t figure_of(const struct row *row, size_t kind, const struct figure *f)
{
    int64_t value;
    const void *holder = kind == TIMED_ENCODING ? (const void *)row : row_program(row, kind);
    memcpy(&value, (const char *)holder + f->offset, sizeof value);
    return value;
}

bool exact_counts_alike(const struct record *a, const struct record *b)
{
    return same_text(value_text_or(record_head(a), "compiler", NULL),
                     value_text_or(record_head(b), "compiler", NULL));
}

/* The instruction set of executed FLOPs; null if they are of several threads. */
static const char *counted_by_one(const struct row *row, size_t kind)
{
    const struct row_program *p = row_program(row, kind);
    int64_t threads = p ? p->flops.executed_threads : row->encoding.executed_threads;
    return threads != 1 ? NULL : p ? p->flops.executed_isa : row->encoding.executed_isa;
}

static bool is_comparable(const struct row *a, const struct row *b, const struct exact_difference *d,
                          enum when when, bool counted)
{
    bool iterated = a->encoding.iterations > 0 || b->encoding.iterations > 0;
    const char *x = counted_by_one(d->was == COUNT_ABSENT ? b : a,
                                   d->program), /* if only one has them, its own */
        *y = counted_by_one(d->is == COUNT_ABSENT ? a : b, d->program);
    return when == ALWAYS || (when == UNITERATED && !iterated) ||
           (when == COUNTED && counted && same_text(x, y));
}

static bool is_more(const struct profile_entry *a, const struct profile_entry *b)
{
    return strcmp(a->span, b->span) != 0 || strcmp(a->op, b->op) != 0 || b->flops > a->flops ||
           b->bytes > a->bytes || b->live > a->live;
}

/* Names the first entry of B that is not in A, or has more there. */
static void name_first(struct exact_difference *d, const struct row *a, const struct row *b)
{
    struct profile x, y;
    if (d->program == TIMED_ENCODING)
        return;
    d->profiled = profile_read(&x, a, d->program);
    d->profiled = profile_read(&y, b, d->program) && d->profiled;
    size_t i = 0;
    while (d->profiled && i < x.count && i < y.count && !is_more(&x.entries[i], &y.entries[i]))
        i++;
    if (d->profiled && i < y.count)
        snprintf(d->grown, sizeof d->grown, "%s %s", y.entries[i].span, y.entries[i].op);
    profile_free(&x);
    profile_free(&y);
}

static bool both_ok(const struct comparison *c, size_t line)
{
    return row_is_ok(comparison_row(c, 0, line)) && row_is_ok(comparison_row(c, 1, line));
}

/* Counts a figure that either has, and keeps it if it differs. Rows that are not ok need not have it. */
static void compare_figure(struct exact *e, const struct comparison *c, struct exact_difference d)
{
    bool alone = (d.was == COUNT_ABSENT) != (d.is == COUNT_ABSENT);
    if ((alone && !both_ok(c, d.line)) || (!alone && d.was == COUNT_ABSENT))
        return;
    e->alone += alone;
    e->equal += d.is == d.was;
    e->more += !alone && d.is > d.was;
    e->less += !alone && d.is < d.was;
    if (d.is == d.was)
        return;
    e->list = grow(e->list, e->count, sizeof *e->list);
    if (!alone)
        name_first(&d, comparison_row(c, 0, d.line), comparison_row(c, 1, d.line));
    e->list[e->count++] = d;
}

static int64_t tape_length(const struct row *row, size_t kind)
{
    const struct row_program *p = row_program(row, kind);
    return p && p->profile.op.list ? (int64_t)p->profile.op.count : COUNT_ABSENT;
}

static void compare_kind(struct exact *e, const struct comparison *c, size_t line, size_t kind, bool counted)
{
    const struct row *a = comparison_row(c, 0, line), *b = comparison_row(c, 1, line);
    bool encoding = kind == TIMED_ENCODING;
    const struct figure *all = encoding ? of_encoding : of_program;
    size_t count = encoding ? sizeof of_encoding / sizeof *all : sizeof of_program / sizeof *all;
    for (const struct figure *f = all; f < all + count; f++) {
        struct exact_difference d = {.line = line,
                                     .program = kind,
                                     .figure = f->name,
                                     .unit = f->unit,
                                     .base = f->base,
                                     .was = figure_of(a, kind, f),
                                     .is = figure_of(b, kind, f)};
        if (is_comparable(a, b, &d, f->when, counted))
            compare_figure(e, c, d);
    }
    struct exact_difference entries = {.line = line, .program = kind, .figure = "entries", .unit = ""};
    entries.was = tape_length(a, kind);
    entries.is = tape_length(b, kind);
    compare_figure(e, c, entries);
}

struct exact exact_compare(const struct comparison *c, bool counted)
{
    struct exact e = {.alone = comparison_alone(c, 1) + (c->lead == 0 ? comparison_alone(c, 0) : 0)};
    for (size_t line = 0; line < comparison_lines(c); line++) {
        bool fallen = row_is_ok(comparison_row(c, 0, line)) && !row_is_ok(comparison_row(c, 1, line));
        e.fallen += fallen;
        e.alone += !fallen && !both_ok(c, line);
        for (size_t kind = 0; kind < TIMED; kind++)
            if (c->programs[kind])
                compare_kind(&e, c, line, kind, counted);
    }
    return e;
}

/* Three digits and the exact count, since a small difference may not show in the first. */
static void add_count(struct grid *table, const struct exact_difference *d, int64_t value)
{
    char rounded[UNITS_TEXT];
    units_format(rounded, (double)value, d->base, d->unit);
    if (value == COUNT_ABSENT)
        grid_add(table, "-");
    else if (*d->unit)
        grid_add(table, "%s (%lld)", rounded, (long long)value);
    else
        grid_add(table, "%lld", (long long)value);
}

static void put_exact(struct grid *table, const struct row *row, const struct field *const *axes,
                      size_t axes_count, const struct exact_difference *d)
{
    grid_add_axes(table, row, axes, axes_count);
    grid_add(table, "%s.%s", program_name(d->program), d->figure);
    add_count(table, d, d->was);
    add_count(table, d, d->is);
    bool alone = d->was == COUNT_ABSENT || d->is == COUNT_ABSENT;
    if (alone || d->program == TIMED_ENCODING || (d->profiled && !*d->grown))
        grid_add(table, "-");
    else
        grid_add(table, "%s", d->profiled ? d->grown : "(--profile)");
}

void exact_table(FILE *out, enum table_style style, const struct comparison *c, const struct exact *found)
{
    const struct field *axes[AXES_MAX];
    size_t n = axes_varying(c->files[1].rows, axes);
    struct grid table = {.columns = n + 4};
    for (size_t i = 0; i < n; i++)
        grid_add(&table, "%s", axes[i]->path);
    grid_add_texts(&table, "figure", "A", "B", "first entry that grew", NULL);
    for (size_t i = 0; i < found->count; i++)
        put_exact(&table, comparison_row(c, 1, found->list[i].line), axes, n, &found->list[i]);
    grid_print(&table, style, out);
    grid_free(&table);
}

void exact_free(struct exact *found)
{
    free(found->list);
    *found = (struct exact){0};
}
