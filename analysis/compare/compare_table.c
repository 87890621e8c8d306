#include "analysis/compare/compare.h"

#include "analysis/tables/columns.h"
#include "analysis/tables/wrap.h"

/* Columns after the times: the ratio, the verdict; bytes of a time with its mark. */
enum { AFTER = 2, CELL_TIME = UNITS_TEXT + 8 };

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

const char *compare_program(size_t kind)
{
    return kind == TIMED_KERNEL ? program_name(kind) : column_named(program_name(kind)).title;
}

static void add_time(struct grid *g, enum table_style style, const struct comparison *c, const struct pair *p,
                     size_t file)
{
    const struct row *row = comparison_row(c, file, p->line);
    struct rows *runs = comparison_runs(c, file, p->line);
    char time[UNITS_TEXT] = "-", text[CELL_TIME] = "-";
    bool noisy = true; /* in every run */
    for (size_t i = 0; i < rows_count(runs); i++)
        noisy = noisy && row_noisy(rows_at(runs, i), p->program);
    rows_free(runs);
    if (row && !row_is_ok(row) && row->status)
        snprintf(text, sizeof text, "%s", row->status);
    else if (!isnan(comparison_time(c, file, p->line, p->program))) {
        units_format(time, comparison_time(c, file, p->line, p->program), UNITS_SI, "s");
        snprintf(text, sizeof text, "%s%s", noisy ? "~" : "", time);
    }
    if (!compare_is_best(c, p->line, p->program, file))
        grid_add(g, "%s", text);
    else
        grid_add(g, style == TABLE_MARKDOWN ? "**%s**" : "*%s", text);
}

static void add_verdict(struct grid *g, const struct comparison *c, const struct pair *p, const char *name,
                        struct notes *reasons)
{
    struct verdict v = comparison_judge(c, p);
    char ratio[UNITS_TEXT];
    verdict_ratio_text(&v, ratio);
    grid_add(g, "%s", ratio);
    grid_add(g, "%s", verdict_name(v.kind));
    if (*v.reason) {
        char text[MESSAGE_SIZE];
        snprintf(text, sizeof text, "%s: %.480s", verdict_name(v.kind), v.reason);
        notes_add(reasons, text, name);
    }
}

static void name_columns(struct grid *g, const struct comparison *c, const struct field *const *axes,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        grid_add(g, "%s", axes[i]->path);
    grid_add(g, "program");
    for (size_t f = 0; f < c->count; f++)
        grid_add(g, "%c%s%s", c->files[f].letter, *c->files[f].brand ? " " : "", c->files[f].brand);
    grid_add_texts(g, "B / A", "verdict", NULL);
}

static void put_program_line(struct grid *g, enum table_style style, const struct comparison *c,
                             const struct pair *p, const struct field *const *axes, size_t n,
                             struct notes *reasons)
{
    const char *program = compare_program(p->program);
    char axes_of_line[AXES_TEXT], name[2 * AXES_TEXT];
    axes_describe_all(comparison_any(c, p->line), axes, n, axes_of_line);
    snprintf(name, sizeof name, "%s%s%s", axes_of_line, *axes_of_line ? ", " : "", program);
    grid_add_axes(g, comparison_any(c, p->line), axes, n);
    grid_add(g, "%s", program);
    for (size_t f = 0; f < c->count; f++)
        add_time(g, style, c, p, f);
    if (c->count == 2)
        add_verdict(g, c, p, name, reasons);
    else
        grid_add_texts(g, "-", "-", NULL);
}

void compare_table(FILE *out, enum table_style style, const struct comparison *c)
{
    const struct field *axes[AXES_MAX];
    size_t n = compare_axes(c, axes);
    struct notes reasons = {0};
    size_t ratio = n + 1 + c->count, spare[] = {ratio};
    struct grid g = {.columns = ratio + AFTER, .spare = spare, .spares = 1};
    name_columns(&g, c, axes, n);
    for (struct pair p = {.file = 1}; p.line < comparison_lines(c); p.line++)
        for (p.program = 0; p.program < TIMED; p.program++)
            if (comparison_shows(c, p.line, p.program))
                put_program_line(&g, style, c, &p, axes, n, &reasons);
    grid_print(&g, style, out);
    grid_free(&g);
    if (style == TABLE_MARKDOWN && reasons.count > 0)
        putc('\n', out);
    notes_print(&reasons, out, screen_width(out));
}
