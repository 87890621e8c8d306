/* Over all files: what was measured, and reasons to doubt it. */
#include "analysis/report/parts.h"

#include "analysis/charts/chart_text.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/html.h"

void part_name_row(const struct part *p, const struct row *row, char text[AXES_TEXT])
{
    axes_describe_all(row, p->axes, p->axes_count, text);
    if (!*text)
        axes_describe(row, schema_find("nodes"), text);
    if (!*text)
        snprintf(text, AXES_TEXT, "the row");
}

/* "100 to 5000 nodes", or the name of an axis of texts */
static void put_range(FILE *out, const struct part *p, const struct field *axis)
{
    double low = INFINITY, high = -INFINITY, value;
    char text[AXES_TEXT];
    for (size_t i = 0; i < rows_count(p->rows); i++)
        if (field_number(rows_at(p->rows, i), axis, &value)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    if (low < high)
        axes_describe_span(axis, low, "to", high, text);
    html_text(out, low < high ? text : axis->path);
}

static void put_measured(FILE *out, const struct part *p)
{
    const char *started = value_text_or(record_head(p->record), "started", "");
    char when[32];
    size_t ok = 0, rows = rows_count(p->rows);
    for (size_t i = 0; i < rows; i++)
        ok += row_is_ok(rows_at(p->rows, i));
    snprintf(when, sizeof when, "%.10s %.5s", started, strlen(started) > 11 ? started + 11 : "");
    html(out, "<tr><th scope=\"row\"><a href=\"#file%zu\">%s</a></th><td>", p->number, p->name);
    for (size_t i = 0; i < p->axes_count; i++) {
        fputs(i ? ", " : "", out);
        put_range(out, p, p->axes[i]);
    }
    html(out, "</td><td class=\"n\">%zu of %zu</td><td class=\"n\">%s</td></tr>\n", ok, rows, when);
}

void summary_measured(FILE *out, const struct part *parts, size_t n)
{
    char machine[CHART_TEXT], work[CHART_TEXT];
    struct rows *all = rows_new_view();
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < rows_count(parts[k].rows); i++)
            rows_append(all, rows_at(parts[k].rows, i));
    chart_machine(machine, NULL, all);
    chart_work(work, all);
    rows_free(all);
    html(out, "<section id=\"measured\"><h2>What was measured</h2><p class=\"note\">all rows: %s%s%s</p>\n",
         machine, *machine && *work ? ", " : "", work);
    fputs("<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th>file</th><th>over</th><th "
          "class=\"n\">rows ok</th><th "
          "class=\"n\">started, "
          "UTC</th>"
          "</tr></thead><tbody>\n",
          out);
    for (size_t k = 0; k < n; k++)
        put_measured(out, &parts[k]);
    fputs("</tbody></table></div></section>\n", out);
}

/* How many rows of each file have a remark of each kind: rows[kind * n + file]; to be freed. */
static size_t *count_warned(const struct part *parts, size_t n)
{
    struct remark found[REMARKS_MAX];
    size_t *rows = allocate(REMARKS * n, sizeof *rows);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < rows_count(parts[k].rows); i++) {
            size_t remarks = remarks_of(rows_at(parts[k].rows, i), found);
            for (size_t r = 0; r < remarks; r++) /* by kind; two programs of a row may have one */
                rows[(size_t)found[r].kind * n + k] += r == 0 || found[r].kind != found[r - 1].kind;
        }
    return rows;
}

void summary_warnings(FILE *out, const struct part *parts, size_t n)
{
    size_t *rows = count_warned(parts, n), all = 0;
    for (size_t i = 0; i < REMARKS * n; i++)
        all += rows[i];
    html(out, "<section id=\"warnings\"><h2>Warnings</h2>\n<p class=\"note\">%s</p>\n<dl>\n",
         all > 0 ? "rows that have one; the tables of rows say which" : "No row has a warning.");
    for (size_t kind = 0; kind < REMARKS; kind++) {
        const char *before = "";
        for (size_t k = 0; k < n; k++) {
            size_t count = rows[kind * n + k];
            if (count > 0 && !*before)
                html(out, "<dt>%s</dt><dd>", remark_text((enum remark_kind)kind));
            if (count > 0)
                html(out, "%s<a href=\"#file%zu\">%s</a> %zu", before, parts[k].number, parts[k].name, count);
            before = count > 0 ? ", " : before;
        }
        fputs(*before ? "</dd>\n" : "", out);
    }
    fputs("</dl></section>\n", out);
    free(rows);
}
