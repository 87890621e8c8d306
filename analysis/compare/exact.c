#include "analysis/compare/exact.h"

#include <math.h>
#include <string.h>

#include "analysis/record/profile.h"
#include "analysis/tables/grid.h"
#include "analysis/tables/units.h"

enum { GROWN_TEXT = 160 };

struct comparing {
    const struct comparison *c;
    bool same_compiler;
    const struct field *axes[AXES_MAX];
    size_t axes_count;
    struct grid table;
    struct exact found;
};

/* A planned figure of a program. */
struct figure {
    const char *name, *unit;
    enum unit_base base;
    size_t offset; /* of a count, in a program */
};

static const struct figure figures[] = {
    {"memory", "B", UNITS_BINARY, offsetof(struct row_program, memory.planned)},
    {"peak", "B", UNITS_BINARY, offsetof(struct row_program, memory.peak_live)},
    {"FLOPs", "FLOP", UNITS_SI, offsetof(struct row_program, flops.analytic)},
    {"bytes", "B", UNITS_SI, offsetof(struct row_program, bytes)},
    {"executed", "FLOP", UNITS_SI, offsetof(struct row_program, flops.executed)},
};

static int64_t figure_of(const struct row_program *p, const struct figure *f)
{
    int64_t value;
    memcpy(&value, (const char *)p + f->offset, sizeof value);
    return value;
}

static bool executed_alike(const struct comparing *g, const struct row_program *a,
                           const struct row_program *b)
{
    const char *x = a->flops.executed_isa, *y = b->flops.executed_isa;
    return g->same_compiler && a->flops.executed_threads == 1 && b->flops.executed_threads == 1 && x && y &&
           strcmp(x, y) == 0;
}

static bool is_more(const struct profile_entry *a, const struct profile_entry *b)
{
    return strcmp(a->span, b->span) != 0 || strcmp(a->op, b->op) != 0 || b->flops > a->flops ||
           b->bytes > a->bytes || b->live > a->live;
}

/* Names the first entry of B that is not in A, or has more there. */
static void name_first(const struct row *a, const struct row *b, size_t kind, char text[GROWN_TEXT])
{
    struct profile x, y;
    bool both = profile_read(&x, a, kind);
    both = profile_read(&y, b, kind) && both;
    size_t i = 0;
    while (both && i < x.count && i < y.count && !is_more(&x.entries[i], &y.entries[i]))
        i++;
    if (!both)
        snprintf(text, GROWN_TEXT, "(--profile)");
    else if (i < y.count)
        snprintf(text, GROWN_TEXT, "%s %s", y.entries[i].span, y.entries[i].op);
    else
        *text = '\0';
    profile_free(&x);
    profile_free(&y);
}

static void add_figure(struct comparing *g, size_t line, size_t kind, const char *name, const char *was,
                       const char *is)
{
    const struct row *a = comparison_row(g->c, 0, line), *b = comparison_row(g->c, 1, line);
    char grown[GROWN_TEXT];
    for (size_t i = 0; i < g->axes_count; i++) {
        char text[AXES_TEXT];
        axes_text(b, g->axes[i], text);
        grid_add(&g->table, "%s", text);
    }
    name_first(a, b, kind, grown);
    grid_add(&g->table, "%s.%s", program_name(kind), name);
    grid_add(&g->table, "%s", was);
    grid_add(&g->table, "%s", is);
    grid_add(&g->table, "%s", grown);
}

/* Counts a difference; returns whether there is one. */
static bool count_difference(struct comparing *g, int64_t was, int64_t is)
{
    g->found.equal += is == was;
    g->found.more += is > was;
    g->found.less += is < was;
    return is != was;
}

/* Three digits and the exact count, since a small difference may not show in the first. */
static void format_figure(char text[UNITS_TEXT], const struct figure *f, int64_t value)
{
    char rounded[UNITS_TEXT];
    units_format(rounded, (double)value, f->base, f->unit);
    snprintf(text, UNITS_TEXT, "%.30s (%lld)", rounded, (long long)value);
}

static void compare_entries(struct comparing *g, size_t line, size_t kind)
{
    const struct items *a = &row_program(comparison_row(g->c, 0, line), kind)->profile.op;
    const struct items *b = &row_program(comparison_row(g->c, 1, line), kind)->profile.op;
    char was[UNITS_TEXT], is[UNITS_TEXT];
    if (!a->list || !b->list || !count_difference(g, (int64_t)a->count, (int64_t)b->count))
        return;
    snprintf(was, sizeof was, "%zu", a->count);
    snprintf(is, sizeof is, "%zu", b->count);
    add_figure(g, line, kind, "entries", was, is);
}

static void compare_program(struct comparing *g, size_t line, size_t kind)
{
    const struct row_program *a = row_program(comparison_row(g->c, 0, line), kind);
    const struct row_program *b = row_program(comparison_row(g->c, 1, line), kind);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const struct figure *f = &figures[i];
        int64_t was = figure_of(a, f), is = figure_of(b, f);
        char before[UNITS_TEXT], now[UNITS_TEXT];
        bool executed = f->offset == offsetof(struct row_program, flops.executed);
        if (was == COUNT_ABSENT || is == COUNT_ABSENT || (executed && !executed_alike(g, a, b)) ||
            !count_difference(g, was, is))
            continue;
        format_figure(before, f, was);
        format_figure(now, f, is);
        add_figure(g, line, kind, f->name, before, now);
    }
    compare_entries(g, line, kind);
}

static void compare_line(struct comparing *g, size_t line)
{
    const struct row *a = comparison_row(g->c, 0, line), *b = comparison_row(g->c, 1, line);
    for (size_t kind = 0; b && kind < TIMED - 1; kind++) {
        bool planned = row_program(b, kind)->memory.planned != COUNT_ABSENT;
        if (planned && a && row_program(a, kind)->memory.planned != COUNT_ABSENT)
            compare_program(g, line, kind);
        else
            g->found.alone += planned;
    }
}

struct exact exact_compare(const struct comparison *c, bool same_compiler, FILE *out)
{
    struct comparing g = {.c = c, .same_compiler = same_compiler};
    g.axes_count = axes_varying(c->files[1].rows, g.axes);
    g.table.columns = g.axes_count + 4;
    for (size_t i = 0; i < g.axes_count; i++)
        grid_add(&g.table, "%s", g.axes[i]->path);
    grid_add(&g.table, "figure");
    grid_add(&g.table, "A");
    grid_add(&g.table, "B");
    grid_add(&g.table, "first entry that grew");
    for (size_t i = 0; i < comparison_lines(c); i++)
        compare_line(&g, i);
    if (g.found.more + g.found.less > 0)
        grid_print(&g.table, TABLE_TERMINAL, out);
    grid_free(&g.table);
    return g.found;
}
