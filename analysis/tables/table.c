#include "analysis/tables/table.h"

#include "analysis/statistics/allocate.h"
#include "analysis/tables/columns.h"
#include "analysis/tables/wrap.h"

bool table_has_axis(const struct table *t, const char *path)
{
    for (size_t i = 0; i < t->axes_count; i++)
        if (strcmp(t->axes[i]->path, path) == 0)
            return true;
    return false;
}

static bool has_column(const struct table *t, const char *column)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->columns[i], column) == 0)
            return true;
    return table_has_axis(t, column);
}

void table_add(struct table *t, const char *const *columns)
{
    for (; *columns && t->count < TABLE_COLUMNS; columns++)
        if (!has_column(t, *columns))
            t->columns[t->count++] = *columns;
}

int table_width(const struct table *t)
{
    return t->width ? t->width : screen_width(t->out);
}

/* The last part of the path, or for the main axis of a group the group. */
static const char *axis_title(const struct field *axis)
{
    const char *dot = strrchr(axis->path, '.');
    return strcmp(axis->path, "graph.family") == 0  ? "graph"
           : strcmp(axis->path, "ranks.count") == 0 ? "ranks"
           : dot                                    ? dot + 1
                                                    : axis->path;
}

/* "ok 4e-07": with the largest error of the check. */
static void check_cell(struct table_cell *cell, const struct row *row)
{
    double error = row->error.norm;
    if (row_unchecked(row))
        strcpy(cell->text, "unchecked");
    else if (row_is_ok(row) && !isnan(error))
        snprintf(cell->text, CELL_TEXT, "ok %.0e", error);
    else
        snprintf(cell->text, CELL_TEXT, "%s", row->status ? row->status : "?");
}

static void add_table_titles(const struct table *t, const struct column *columns, bool brief, struct grid *g)
{
    for (size_t i = 0; i < t->axes_count; i++)
        grid_add(g, "%s", axis_title(t->axes[i]));
    for (size_t i = 0; i < t->count; i++)
        grid_add(g, "%s", brief && strcmp(columns[i].path, "step") == 0 ? "step" : columns[i].title);
    grid_add(g, "check");
}

static void add_table_line(struct table *t, const struct column *columns, const struct row *row, bool brief,
                           struct grid *g)
{
    struct table_cell cell = {.notes = &t->below.notes, .brief = brief};
    grid_add_axes(g, row, t->axes, t->axes_count);
    for (size_t i = 0; i < t->count; i++) {
        column_cell(&columns[i], row, &cell);
        if (*cell.text == '~')
            below_add_noisy(&t->below, row_noisy(row, columns[i].program));
        grid_add(g, "%s", cell.text);
    }
    check_cell(&cell, row);
    grid_add(g, "%s", cell.text);
}

static void add_below(struct table *t, const struct table_line *line)
{
    char name[AXES_TEXT];
    axes_describe_all(line->row, t->axes, t->axes_count, name);
    below_add(&t->below, line->row, name, line->kept);
    if (t->blas && same_text(line->row->variant, "blas"))
        notes_add(&t->below.notes, t->blas, NULL);
}

static void add_all_lines(struct table *t, const struct table_line *lines, size_t n, bool brief,
                          struct grid *g)
{
    struct column columns[TABLE_COLUMNS];
    for (size_t i = 0; i < t->count; i++)
        columns[i] = column_named(t->columns[i]);
    add_table_titles(t, columns, brief, g);
    for (size_t i = 0; i < n; i++)
        add_table_line(t, columns, lines[i].row, brief, g);
}

static void print_spared(const struct table *t, const size_t *spared, size_t n)
{
    char text[CELL_TEXT] = "not shown:";
    for (size_t i = 0; i < n; i++)
        append(text, CELL_TEXT, "%s %s", i ? "," : "", t->columns[spared[i] - t->axes_count]);
    append(text, CELL_TEXT, " (--columns)");
    if (n > 0)
        wrap_within(t->out, text, table_width(t), 4);
}

void table_print(struct table *t, const struct table_line *lines, size_t n)
{
    size_t spares[TABLE_COLUMNS];
    unsigned yields[TABLE_COLUMNS];
    struct grid g = {
        .columns = t->axes_count + t->count + 1, .spare = spares, .all = t->all, .width = table_width(t)};
    for (size_t i = 0; i < t->count; i++)
        yields[i] = t->all ? 0 : column_named(t->columns[i]).yields;
    for (unsigned next = 1; next <= COLUMNS_YIELD; next++)
        for (size_t i = 0; i < t->count; i++)
            if (yields[i] == next)
                spares[g.spares++] = t->axes_count + i;
    add_all_lines(t, lines, n, false, &g);
    if (t->style == TABLE_TERMINAL && !t->all && !grid_can_fit(&g)) {
        grid_clear(&g);
        add_all_lines(t, lines, n, true, &g);
    }
    print_spared(t, spares, grid_print(&g, t->style, t->out));
    grid_free(&g);
    for (size_t i = 0; i < n; i++)
        add_below(t, &lines[i]);
}

void table_below(struct table *t)
{
    below_print(&t->below, t->out, table_width(t), t->style == TABLE_MARKDOWN);
}
