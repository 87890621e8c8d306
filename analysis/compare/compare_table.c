/* Comparisons as tables. Every line is formatted twice, once for the widths of the columns. */
#include "analysis/compare/compare_table.h"

#include "analysis/record/axes.h"
#include "analysis/tables/csv.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <string.h>

enum { CELL = 2 * MESSAGE_SIZE, CELLS = AXES_MAX + 8 };

/* One line: a row of the baseline and one of another file, by one program. */
struct pair {
    const struct comparison *c;
    size_t file, line, program;
};

static const struct row *row_of(const struct pair *p, bool baseline)
{
    return comparison_row(p->c, baseline ? 0 : p->file, p->line);
}

/* Calls for each pair that has something to judge; the visitor's data goes along. */
static void for_each_pair(const struct comparison *c, void visit(const struct pair *p, void *data),
                          void *data)
{
    for (size_t line = 0; line < comparison_lines(c); line++)
        for (size_t program = 0; program < COMPARED_PROGRAMS; program++)
            for (size_t file = 1; file < c->count; file++)
                if (comparison_has(c, file, line, program))
                    visit(&(struct pair){c, file, line, program}, data);
}

/* The axes in which the rows shown differ, from line to line or from file to file. A row that lacks an axis,
 * from another version, does not differ in it. */
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
            if (row && row_has(row, axis->path))
                rows_append(rows, (struct row *)row);
        }
        if (axes_vary(rows, axis))
            shown[n++] = axis;
        rows_free(rows);
    }
    return n;
}

/* "500"; of an axis left open in which the two differ "2 / 16". */
static void axis_cell(char cell[CELL], const struct pair *p, const struct field *axis)
{
    const struct row *rows[] = {row_of(p, true), row_of(p, false)};
    char texts[2][AXES_TEXT];
    for (int i = 0; i < 2; i++) {
        axes_text(rows[i], axis, texts[i]);
        if (!*texts[i])
            snprintf(texts[i], AXES_TEXT, "-");
    }
    bool both = row_has(rows[0], axis->path) && row_has(rows[1], axis->path);
    if (both && strcmp(texts[0], texts[1]) != 0)
        snprintf(cell, CELL, "%s / %s", texts[0], texts[1]);
    else
        snprintf(cell, CELL, "%s", texts[row_has(rows[0], axis->path) ? 0 : 1]);
}

static bool percent_of(const struct row *row, size_t program, double *percent)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.roofline.percent", comparison_program(program));
    return row_get_real(row, path, percent);
}

static void time_cells(char time[CELL], char roofline[CELL], const struct row *row, size_t program)
{
    const char *status = "?";
    double percent;
    if (!row_is_ok(row) && row_get_text(row, "status", &status))
        snprintf(time, CELL, "%s", status);
    else if (!cell_time(time, CELL, row, comparison_program(program)))
        snprintf(time, CELL, "-");
    if (percent_of(row, program, &percent))
        snprintf(roofline, CELL, "%.0f %%", percent);
    else
        snprintf(roofline, CELL, "-");
}

static void ratio_cell(char cell[CELL], const struct verdict *v)
{
    int decimals = v->ratio < 9.9995 ? 3 : v->ratio < 99.95 ? 1 : 0;
    if (isnan(v->ratio))
        snprintf(cell, CELL, "-");
    else if (isnan(v->low))
        snprintf(cell, CELL, "%.*f", decimals, v->ratio);
    else
        snprintf(cell, CELL, "%.*f [%.*f, %.*f]", decimals, v->ratio, decimals, v->low, decimals, v->high);
}

struct grid {
    FILE *out;
    enum table_style style;
    size_t axes, columns, lines;
    const struct field *axis[AXES_MAX];
    bool used[CELLS]; /* whether any cell of the column says something */
    int width[CELLS];
};

/* All cells of a line, those of columns that are not shown too. */
static void format_pair(const struct grid *g, const struct pair *p, char cells[CELLS][CELL])
{
    struct verdict v = comparison_judge(p->c, p->file, p->line, p->program);
    size_t n = 0;
    for (; n < g->axes; n++)
        axis_cell(cells[n], p, g->axis[n]);
    snprintf(cells[n++], CELL, "%s", comparison_program(p->program));
    snprintf(cells[n++], CELL, "%c", p->c->count > 2 ? p->c->files[p->file].letter : '-');
    time_cells(cells[n], cells[n + 1], row_of(p, true), p->program);
    time_cells(cells[n + 2], cells[n + 3], row_of(p, false), p->program);
    ratio_cell(cells[n + 4], &v);
    snprintf(cells[n + 5], CELL, "%s%s%s", verdict_name(v.kind), *v.reason ? ": " : "", v.reason);
}

static void titles(const struct grid *g, const struct comparison *c, char cells[CELLS][CELL])
{
    const char *other = c->count > 2 ? "time" : "B";
    size_t n = 0;
    for (; n < g->axes; n++)
        snprintf(cells[n], CELL, "%s", g->axis[n]->path);
    snprintf(cells[n++], CELL, "program");
    snprintf(cells[n++], CELL, "file");
    snprintf(cells[n++], CELL, "A");
    snprintf(cells[n++], CELL, "roofline");
    snprintf(cells[n++], CELL, "%s", other);
    snprintf(cells[n++], CELL, "roofline");
    snprintf(cells[n++], CELL, "%s / A [95 %%]", other);
    snprintf(cells[n++], CELL, "verdict");
}

static void measure(struct grid *g, char cells[CELLS][CELL])
{
    for (size_t i = 0; i + 1 < g->columns; i++) { /* the last column stays as wide as it is */
        int width = (int)units_width(cells[i]);
        g->width[i] = width > g->width[i] ? width : g->width[i];
    }
}

static void measure_pair(const struct pair *p, void *data)
{
    struct grid *g = data;
    char cells[CELLS][CELL];
    format_pair(g, p, cells);
    measure(g, cells);
    g->lines++;
    for (size_t i = 0; i < g->columns; i++)
        g->used[i] = g->used[i] || strcmp(cells[i], "-") != 0;
}

static void put(const struct grid *g, char cells[CELLS][CELL])
{
    bool first = true;
    for (size_t i = 0; i < g->columns; i++)
        if (g->used[i]) {
            cell_put(g->out, g->style, cells[i], g->width[i], first);
            first = false;
        }
    putc('\n', g->out);
}

static void put_pair(const struct pair *p, void *data)
{
    char cells[CELLS][CELL];
    format_pair(data, p, cells);
    put(data, cells);
}

void compare_table(FILE *out, enum table_style style, const struct comparison *c)
{
    struct grid g = {.out = out, .style = style};
    char cells[CELLS][CELL];
    g.axes = axes_shown(c, g.axis);
    g.columns = g.axes + 8;
    for_each_pair(c, measure_pair, &g);
    if (g.lines == 0)
        return;
    titles(&g, c, cells);
    measure(&g, cells);
    put(&g, cells);
    for (size_t i = 0; i < g.columns && style == TABLE_MARKDOWN; i++)
        if (g.used[i])
            snprintf(cells[i], CELL, i + 1 < g.columns ? "--:" : ":--");
    if (style == TABLE_MARKDOWN)
        put(&g, cells);
    for_each_pair(c, put_pair, &g);
}

static const char *const time_fields[] = {"median", "ci95_low", "ci95_high", "n"};
enum { TIME_FIELDS = sizeof time_fields / sizeof *time_fields };

static void put_number(FILE *out, double value)
{
    putc(',', out);
    if (!isnan(value))
        fprintf(out, "%.15g", value);
}

static void csv_times(FILE *out, const struct row *row, size_t program)
{
    double value;
    for (size_t i = 0; i < TIME_FIELDS; i++) {
        char path[SCHEMA_PATH];
        snprintf(path, sizeof path, "%s.time.%s", comparison_program(program), time_fields[i]);
        put_number(out, row_is_ok(row) && row_get_real(row, path, &value) ? value : NAN);
    }
    put_number(out, row_is_ok(row) && percent_of(row, program, &value) ? value : NAN);
}

static void csv_pair(const struct pair *p, void *data)
{
    const struct grid *g = data;
    struct verdict v = comparison_judge(p->c, p->file, p->line, p->program);
    for (size_t i = 0; i < g->axes; i++) {
        char cell[CELL];
        axis_cell(cell, p, g->axis[i]);
        csv_text(g->out, cell);
        putc(',', g->out);
    }
    fprintf(g->out, "%s,", comparison_program(p->program));
    csv_text(g->out, p->c->files[0].path);
    putc(',', g->out);
    csv_text(g->out, p->c->files[p->file].path);
    csv_times(g->out, row_of(p, true), p->program);
    csv_times(g->out, row_of(p, false), p->program);
    put_number(g->out, v.ratio);
    put_number(g->out, v.low);
    put_number(g->out, v.high);
    fprintf(g->out, ",%s,", verdict_name(v.kind));
    csv_text(g->out, v.reason);
    putc('\n', g->out);
}

void compare_csv(FILE *out, const struct comparison *c)
{
    struct grid g = {.out = out};
    g.axes = axes_shown(c, g.axis);
    for (size_t i = 0; i < g.axes; i++)
        fprintf(out, "%s,", g.axis[i]->path);
    fputs("program,baseline,file", out);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < TIME_FIELDS; i++)
            fprintf(out, ",%s%s", side == 0 ? "baseline_" : "", time_fields[i]);
        fprintf(out, ",%sroofline_percent", side == 0 ? "baseline_" : "");
    }
    fputs(",ratio,ratio_low,ratio_high,verdict,reason\n", out);
    for_each_pair(c, csv_pair, &g);
}
