#include "analysis/report/parts.h"

#include "analysis/statistics/allocate.h"
#include "analysis/tables/columns.h"
#include "analysis/tables/grid.h"
#include "analysis/tables/html.h"

/* The program above a column's title, unless the title is the program's or that of the graph. */
static void add_title(struct grid *g, const struct column *c)
{
    char *text, program[SCHEMA_PATH];
    size_t size;
    FILE *out = open_text(&text, &size);
    snprintf(program, sizeof program, "%.*s", (int)strcspn(c->path, "."), c->path);
    if (strcmp(c->path, program) != 0 && strcmp(program, "graph") != 0)
        html(out, "<small>%s</small> ", program);
    html_text(out, c->title);
    fclose(out);
    grid_add_markup(g, "n", text);
}

/* The remarks of one kind, of which there are n: the word, with the details on hover. */
static void put_remarks(FILE *out, const struct remark *remarks, size_t n)
{
    html(out, " <small title=\"");
    for (size_t i = 0; i < n; i++)
        html(out, "%s%s%s%s", i > 0 ? "; " : "", remarks[i].program, *remarks[i].program ? ": " : "",
             remarks[i].detail);
    html(out, "\">%s</small>", remark_word(remarks->kind));
}

static void add_status(struct grid *g, const struct row *row)
{
    struct remark remarks[REMARKS_MAX];
    char *text;
    size_t n = remarks_of(row, remarks), size;
    FILE *out = open_text(&text, &size);
    html_text(out, row->status ? row->status : "?");
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && remarks[end].kind == remarks[i].kind;)
            end++;
        if (remarks[i].kind == REMARK_STATUS)
            html(out, " <small>%s</small>", remarks[i].detail);
        else
            put_remarks(out, &remarks[i], end - i);
    }
    fclose(out);
    grid_add_markup(g, row_is_ok(row) ? n ? "warned" : "ok" : "bad", text);
}

static void add_result(struct grid *g, const struct part *p, const struct column *columns, size_t n,
                       const struct row *row, struct notes *notes)
{
    struct table_cell cell = {.notes = notes};
    grid_add_axes(g, row, p->axes, p->axes_count);
    add_status(g, row);
    for (size_t i = 0; i < n; i++) {
        double number = NAN;
        column_cell(&columns[i], row, &cell);
        column_number(&columns[i], row, &number);
        bool none = columns[i].where & OF_BATCHES && number == 0; /* no padding */
        grid_add(g, "%s", none ? "-" : cell.text);
        grid_number(g, number);
    }
}

void part_rows(FILE *out, const struct part *p)
{
    struct column columns[COLUMNS_MAX];
    struct notes notes = {0};
    size_t n = columns_chosen(IN_PAGE, TIMED, columns);
    size_t room = GRID_COLUMNS - 1 - p->axes_count;
    n = n < room ? n : room;
    struct grid g = {.columns = p->axes_count + 1 + n, .class = "rows"};
    for (size_t i = 0; i < p->axes_count; i++)
        grid_add(&g, "%s", strcmp(p->axes[i]->path, "graph.family") == 0 ? "graph" : p->axes[i]->path);
    grid_add(&g, "status");
    for (size_t i = 0; i < n; i++)
        add_title(&g, &columns[i]);
    for (size_t i = 0; i < p->shown; i++)
        add_result(&g, p, columns, n, rows_at(p->rows, i), &notes);
    fputs("<h3>Rows</h3>\n", out);
    grid_print(&g, TABLE_HTML, out);
    grid_free(&g);
    if (rows_count(p->rows) > p->shown)
        html(out, "<p class=\"note\">and %zu more in the file</p>\n", rows_count(p->rows) - p->shown);
    for (size_t i = 0; i < notes.count; i++)
        html(out, "<p class=\"note\">%s</p>\n", notes.list[i].text);
    notes_free(&notes);
}
