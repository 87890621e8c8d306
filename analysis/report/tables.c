/* The table of rows of one file. */
#include "analysis/report/parts.h"

#include "analysis/report/html.h"
#include "analysis/report/remarks.h"
#include "analysis/tables/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct result_table {
    const struct part *part;
    struct column columns[COLUMNS_MAX];
    size_t count;
    struct notes notes;
};

/* Whether any row has one; a padding of 0.0 % is none. */
static bool has_value(const struct part *p, const struct column *c)
{
    struct notes ignored = {0};
    struct table_cell cell = {.notes = &ignored};
    bool any = false, padding = strcmp(c->path, "graph.padding_waste") == 0;
    for (size_t i = 0; i < p->shown && !any; i++) {
        column_cell(c, rows_at(p->rows, i), &cell);
        any = strcmp(cell.text, "-") != 0 && !(padding && strcmp(cell.text, "0.0 %") == 0);
    }
    notes_free(&ignored);
    return any;
}

/* The program above a column's title, unless the title is the program's or that of the graph. */
static void put_title_cell(FILE *out, const struct column *c)
{
    char program[SCHEMA_PATH];
    snprintf(program, sizeof program, "%s", c->path);
    program[strcspn(program, ".")] = '\0';
    bool told = strcmp(c->path, program) == 0 || strcmp(program, "graph") == 0;
    fputs("<th scope=\"col\" class=\"n\">", out);
    if (!told)
        html(out, "<small>%s</small> ", program);
    html(out, "%s</th>", c->title);
}

/* key: the number by which it is sorted; NAN: by its text. */
static void put_cell(FILE *out, const char *text, double key, bool number)
{
    if (!*text || strcmp(text, "-") == 0)
        fputs("<td class=\"none\">–</td>", out);
    else if (!isnan(key))
        html(out, "<td class=\"n\" data-v=\"%.9g\">%s</td>", key, text);
    else
        html(out, "<td class=\"%s\">%s</td>", number ? "n" : "t", text);
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

/* The status, and the reasons to doubt the row. */
static void put_status(FILE *out, const struct row *row)
{
    struct remark remarks[REMARKS_MAX];
    size_t n = remarks_of(row, remarks);
    html(out, "<td class=\"%s\">%s", row_is_ok(row) ? n ? "warned" : "ok" : "bad",
         row->status ? row->status : "?");
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && remarks[end].kind == remarks[i].kind;)
            end++;
        if (remarks[i].kind == REMARK_STATUS)
            html(out, " <small>%s</small>", remarks[i].detail);
        else
            put_remarks(out, &remarks[i], end - i);
    }
    fputs("</td>", out);
}

static void put_result(FILE *out, struct result_table *t, const struct row *row)
{
    struct table_cell cell = {.notes = &t->notes};
    fputs("<tr>", out);
    for (size_t i = 0; i < t->part->axes_count; i++) {
        char text[AXES_TEXT];
        double key = NAN;
        field_number(row, t->part->axes[i], &key);
        axes_text(row, t->part->axes[i], text);
        put_cell(out, text, key, false);
    }
    put_status(out, row);
    for (size_t i = 0; i < t->count; i++) {
        column_cell(&t->columns[i], row, &cell);
        double key = NAN;
        column_number(&t->columns[i], row, &key);
        put_cell(out, cell.text, key, true);
    }
    fputs("</tr>\n", out);
}

static void put_result_heads(FILE *out, const struct result_table *t)
{
    fputs("<thead><tr>", out);
    for (size_t i = 0; i < t->part->axes_count; i++) {
        const struct field *axis = t->part->axes[i];
        html(out, "<th scope=\"col\">%s</th>",
             strcmp(axis->path, "graph.family") == 0 ? "graph" : axis->path);
    }
    fputs("<th scope=\"col\">status</th>", out);
    for (size_t i = 0; i < t->count; i++)
        put_title_cell(out, &t->columns[i]);
    fputs("</tr></thead>\n", out);
}

void part_rows(FILE *out, const struct part *p)
{
    struct result_table t = {.part = p};
    size_t n = columns_chosen(IN_PAGE, TIMED, t.columns);
    for (size_t i = 0; i < n; i++)
        if (has_value(p, &t.columns[i]))
            t.columns[t.count++] = t.columns[i];
    fputs("<h3>Rows</h3>\n<div class=\"wide\" tabindex=\"0\"><table class=\"rows\">", out);
    put_result_heads(out, &t);
    fputs("<tbody>\n", out);
    for (size_t i = 0; i < p->shown; i++)
        put_result(out, &t, rows_at(p->rows, i));
    fputs("</tbody></table></div>\n", out);
    if (rows_count(p->rows) > p->shown)
        html(out, "<p class=\"note\">and %zu more in the file</p>\n", rows_count(p->rows) - p->shown);
    for (size_t i = 0; i < t.notes.count; i++)
        html(out, "<p class=\"note\">%s</p>\n", t.notes.list[i].text);
    notes_free(&t.notes);
}
