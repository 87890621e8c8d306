#include "analysis/compare/compare_table.h"

#include "analysis/record/axes.h"
#include "analysis/tables/csv.h"
#include "analysis/tables/grid.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <string.h>

/* Columns beside the axes, and which of them are shares of the roofline; bytes of two values. */
enum { OTHERS = 9, ROOF_A = 3, ROOF_B = 5, BOTH_TEXT = 2 * AXES_TEXT };

/* The axes in which the rows shown differ, between lines or between files. A row of another version may lack
 * an axis, and then does not differ in it. */
static size_t axes_shown(const struct comparison *c, const struct field *shown[AXES_MAX])
{
    size_t n = 0;
    for (size_t a = 0; a < schema_fields_count && n < AXES_MAX; a++) {
        const struct field *axis = &schema_fields[a];
        if (!axis->symbol)
            continue;
        struct rows *rows = rows_new_view();
        for (size_t i = 0; i < c->count * comparison_lines(c); i++) {
            const struct row *row = comparison_row(c, i % c->count, i / c->count);
            if (row && row_has_field(row, axis))
                rows_append(rows, (struct row *)row);
        }
        if (axes_vary(rows, axis))
            shown[n++] = axis;
        rows_free(rows);
    }
    return n;
}

/* The rows of a pair, the baseline's first. */
static void rows_of_pair(const struct comparison *c, const struct pair *p, const struct row *rows[2])
{
    rows[0] = comparison_row(c, 0, p->line);
    rows[1] = comparison_row(c, p->file, p->line);
}

/* "500", or "2 / 16" if the two differ in an axis that may differ. */
static void axis_text(char text[BOTH_TEXT], const struct row *const rows[2], const struct field *axis)
{
    char texts[2][AXES_TEXT];
    for (int i = 0; i < 2; i++) {
        axes_text(rows[i], axis, texts[i]);
        if (!*texts[i])
            snprintf(texts[i], AXES_TEXT, "-");
    }
    bool first = row_has_field(rows[0], axis), both = first && row_has_field(rows[1], axis);
    if (both && strcmp(texts[0], texts[1]) != 0)
        snprintf(text, BOTH_TEXT, "%.250s / %.250s", texts[0], texts[1]);
    else
        snprintf(text, BOTH_TEXT, "%s", texts[first ? 0 : 1]);
}

/* NAN if it is not known; an encoding has none. */
static double percent_of(const struct row *row, size_t kind)
{
    const struct row_program *program = row_program(row, kind);
    return program ? program->roofline.percent : NAN;
}

static void add_time(struct grid *g, const struct row *row, size_t program, struct notes *notes)
{
    char time[UNITS_TEXT] = "-", roof[UNITS_TEXT] = "-";
    if (!row_is_ok(row) && row->status)
        snprintf(time, sizeof time, "%s", row->status);
    else
        cell_time(time, sizeof time, row, program);
    grid_add(g, "%s", time);
    if (!isnan(percent_of(row, program)))
        snprintf(roof, sizeof roof, "%.0f %%", percent_of(row, program));
    cell_mark_roof(roof, sizeof roof, row, program, notes);
    grid_add(g, "%s", roof);
}

static void add_ratio(struct grid *g, const struct verdict *v)
{
    int decimals = v->ratio < 9.9995 ? 3 : v->ratio < 99.95 ? 1 : 0;
    if (isnan(v->ratio))
        grid_add(g, "-");
    else if (isnan(v->low))
        grid_add(g, "%.*f", decimals, v->ratio);
    else
        grid_add(g, "%.*f [%.*f, %.*f]", decimals, v->ratio, decimals, v->low, decimals, v->high);
}

static void add_pair(struct grid *g, const struct comparison *c, const struct pair *p,
                     const struct field *const *axes, struct notes *notes)
{
    struct verdict v = comparison_judge(c, p);
    const struct row *rows[2];
    rows_of_pair(c, p, rows);
    for (size_t i = 0; i + OTHERS < g->columns; i++) {
        char text[BOTH_TEXT];
        axis_text(text, rows, axes[i]);
        grid_add(g, "%s", text);
    }
    grid_add(g, "%s", program_name(p->program));
    grid_add(g, "%c", c->count > 2 ? c->files[p->file].letter : '-');
    add_time(g, rows[0], p->program, notes);
    add_time(g, rows[1], p->program, notes);
    add_ratio(g, &v);
    if (c->margins && v.margin > 0)
        grid_add(g, "%.1f %%", 100 * v.margin);
    else
        grid_add(g, "-");
    grid_add(g, "%s%s%s", verdict_name(v.kind), *v.reason ? ": " : "", v.reason);
}

void compare_table(FILE *out, enum table_style style, const struct comparison *c)
{
    const struct field *axes[AXES_MAX];
    const char *other = c->count > 2 ? "time" : "B";
    struct grid g = {.columns = axes_shown(c, axes) + OTHERS};
    struct notes notes = {0};
    size_t roofs[] = {g.columns - OTHERS + ROOF_A, g.columns - OTHERS + ROOF_B};
    g.spare = roofs;
    g.spares = 2;
    for (size_t i = 0; i + OTHERS < g.columns; i++)
        grid_add(&g, "%s", axes[i]->path);
    grid_add(&g, "program");
    grid_add(&g, "file");
    grid_add(&g, "A");
    grid_add(&g, "roof");
    grid_add(&g, "%s", other);
    grid_add(&g, "roof");
    grid_add(&g, "%s / A [95 %%]", other);
    grid_add(&g, "margin");
    grid_add(&g, "verdict");
    for (struct pair p = {0}; comparison_next(c, &p);)
        add_pair(&g, c, &p, axes, &notes);
    if (grid_print(&g, style, out) > 0)
        fputs("not shown: roof (--format md)\n", out);
    else
        notes_print(&notes, out);
    notes_free(&notes);
    grid_free(&g);
}

static void csv_number(FILE *out, double value)
{
    putc(',', out);
    if (!isnan(value))
        fprintf(out, "%.15g", value);
}

static void csv_times(FILE *out, const struct row *row, size_t program)
{
    const struct row_times *time = row_timed(row, program);
    const double values[] = {time->median, time->ci95_low, time->ci95_high, count_real(time->n),
                             percent_of(row, program)};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        csv_number(out, row_is_ok(row) ? values[i] : NAN);
}

static void csv_pair(FILE *out, const struct comparison *c, const struct pair *p,
                     const struct field *const *axes, size_t n)
{
    struct verdict v = comparison_judge(c, p);
    const struct row *rows[2];
    rows_of_pair(c, p, rows);
    for (size_t i = 0; i < n; i++) {
        char text[BOTH_TEXT];
        axis_text(text, rows, axes[i]);
        csv_text(out, text);
        putc(',', out);
    }
    fprintf(out, "%s,", program_name(p->program));
    csv_text(out, c->files[0].path);
    putc(',', out);
    csv_text(out, c->files[p->file].path);
    csv_times(out, rows[0], p->program);
    csv_times(out, rows[1], p->program);
    csv_number(out, v.ratio);
    csv_number(out, v.low);
    csv_number(out, v.high);
    fprintf(out, ",%s,", verdict_name(v.kind));
    csv_text(out, v.reason);
    putc('\n', out);
}

void compare_csv(FILE *out, const struct comparison *c)
{
    const struct field *axes[AXES_MAX];
    size_t n = axes_shown(c, axes);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s,", axes[i]->path);
    fputs("program,baseline,file,"
          "baseline_median,baseline_ci95_low,baseline_ci95_high,baseline_n,baseline_roofline_percent,"
          "median,ci95_low,ci95_high,n,roofline_percent",
          out);
    fputs(",ratio,ratio_low,ratio_high,verdict,reason\n", out);
    for (struct pair p = {0}; comparison_next(c, &p);)
        csv_pair(out, c, &p, axes, n);
}
