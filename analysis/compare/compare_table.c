#include "analysis/compare/compare_table.h"

#include "analysis/record/axes.h"
#include "analysis/tables/grid.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <string.h>

enum { AFTER = 3 }; /* columns after the times: the ratio, the margin, the verdict */

size_t compare_axes(const struct comparison *c, const struct field *axes[AXES_MAX])
{
    size_t n = 0;
    for (const struct field *axis = schema_fields; schema_has(axis) && n < AXES_MAX; axis++)
        for (size_t f = 0; f < c->count && axis->symbol; f++)
            if (comparison_varies(c, f, axis)) {
                axes[n++] = axis;
                break;
            }
    return n;
}

bool compare_is_best(const struct comparison *c, size_t line, size_t program, size_t file)
{
    bool slower = false;
    if (isnan(comparison_time(c, file, line, program)))
        return false;
    for (size_t f = 0; f < c->count; f++) {
        struct pair p = {line, program, f, file};
        if (f == file || isnan(comparison_time(c, f, line, program)))
            continue;
        enum verdict_kind kind = comparison_judge(c, &p).kind;
        if (kind == VERDICT_FASTER)
            return false;
        slower = slower || kind == VERDICT_SLOWER;
    }
    return slower;
}

/* With its interval if there is room for it, of two files. */
static void add_time(struct grid *g, enum table_style style, const struct comparison *c, const struct pair *p,
                     size_t file)
{
    const struct row *row = comparison_row(c, file, p->line);
    char time[UNITS_TEXT] = "-";
    if (row && !row_is_ok(row) && row->status)
        snprintf(time, sizeof time, "%s", row->status);
    else if (row && c->count == 2)
        cell_time(time, sizeof time, row, p->program);
    else if (!isnan(comparison_time(c, file, p->line, p->program)))
        units_format(time, comparison_time(c, file, p->line, p->program), UNITS_SI, "s");
    if (!compare_is_best(c, p->line, p->program, file))
        grid_add(g, "%s", time);
    else
        grid_add(g, style == TABLE_MARKDOWN ? "**%s**" : "*%s", time);
}

static void add_verdict(struct grid *g, const struct comparison *c, const struct pair *p)
{
    struct verdict v = comparison_judge(c, p);
    char text[MESSAGE_SIZE];
    verdict_text(&v, text);
    if (isnan(v.ratio))
        grid_add(g, "-");
    else
        grid_add(g, "%.*f", v.ratio < 9.9995 ? 3 : v.ratio < 99.95 ? 1 : 0, v.ratio);
    if (c->margins && v.margin > 0)
        grid_add(g, "%.1f %%", 100 * v.margin);
    else
        grid_add(g, "-");
    grid_add(g, "%s", text);
}

static void name_columns(struct grid *g, const struct comparison *c, const struct field *const *axes,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        grid_add(g, "%s", axes[i]->path);
    grid_add(g, "program");
    for (size_t f = 0; f < c->count; f++)
        grid_add(g, "%c%s%s", c->files[f].letter, *c->files[f].brand ? " " : "", c->files[f].brand);
    grid_add(g, "B / A");
    grid_add(g, "margin");
    grid_add(g, "verdict");
}

static void put_program_line(struct grid *g, enum table_style style, const struct comparison *c,
                             const struct pair *p, const struct field *const *axes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[AXES_TEXT];
        axes_text(comparison_any(c, p->line), axes[i], text);
        grid_add(g, "%s", *text ? text : "-");
    }
    grid_add(g, "%s", program_name(p->program));
    for (size_t f = 0; f < c->count; f++)
        add_time(g, style, c, p, f);
    if (c->count == 2)
        add_verdict(g, c, p);
    else
        for (int i = 0; i < AFTER; i++)
            grid_add(g, "-");
}

void compare_table(FILE *out, enum table_style style, const struct comparison *c)
{
    const struct field *axes[AXES_MAX];
    size_t n = compare_axes(c, axes);
    struct grid g = {.columns = n + 1 + c->count + AFTER};
    name_columns(&g, c, axes, n);
    for (struct pair p = {.file = 1}; p.line < comparison_lines(c); p.line++)
        for (p.program = 0; p.program < TIMED; p.program++)
            if (comparison_shows(c, p.line, p.program))
                put_program_line(&g, style, c, &p, axes, n);
    grid_print(&g, style, out);
    grid_free(&g);
}
