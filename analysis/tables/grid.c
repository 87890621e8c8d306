#include "analysis/tables/grid.h"

#include "analysis/tables/units.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void grid_add(struct grid *g, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    g->cells = realloc(g->cells, (g->count + 1) * sizeof *g->cells);
    if (!g->cells || vasprintf(&g->cells[g->count++], format, values) < 0)
        abort();
    va_end(values);
}

/* The width of a column; 0 for the last, -1 for an empty one. */
static int width_of(const struct grid *g, size_t column)
{
    int width = 0;
    bool says = false;
    for (size_t i = column; i < g->count; i += g->columns) {
        int cell = (int)units_width(g->cells[i]);
        width = cell > width ? cell : width;
        says = says || (i >= g->columns && strcmp(g->cells[i], "-") != 0);
    }
    return !says ? -1 : column + 1 < g->columns ? width : 0;
}

static void print_line(char *const *cells, const int *widths, size_t columns, enum table_style style,
                       FILE *out)
{
    bool first = true;
    for (size_t i = 0; i < columns; i++)
        if (widths[i] >= 0) {
            cell_put(out, style, cells[i], widths[i], first);
            first = false;
        }
    putc('\n', out);
}

void grid_print(const struct grid *g, enum table_style style, FILE *out)
{
    size_t n = g->columns;
    int widths[GRID_COLUMNS];
    char *rule[GRID_COLUMNS];
    if (g->count <= n)
        return;
    for (size_t i = 0; i < n; i++) {
        widths[i] = width_of(g, i);
        rule[i] = (char *)(i + 1 < n ? "--:" : ":--");
    }
    for (size_t i = 0; i < g->count; i += n) {
        print_line(g->cells + i, widths, n, style, out);
        if (i == 0 && style == TABLE_MARKDOWN)
            print_line(rule, widths, n, style, out);
    }
}

void grid_free(struct grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->cells[i]);
    free(g->cells);
    *g = (struct grid){.columns = g->columns};
}
