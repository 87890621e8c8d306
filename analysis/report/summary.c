/* The first screen, over all files: what was measured, how it grows, what bounds it, warnings. */
#include "analysis/report/parts.h"

#include "analysis/charts/chart_text.h"
#include "analysis/record/schema.h"
#include "analysis/report/html.h"
#include "analysis/report/remarks.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void part_name_row(const struct part *p, const struct row *row, char text[AXES_TEXT])
{
    axes_describe_all(row, p->axes, p->axes_count, text);
    if (!*text)
        axes_describe(row, schema_find("nodes"), text);
    if (!*text)
        snprintf(text, AXES_TEXT, "the row");
}

static void begin_card(FILE *out, const char *id, const char *title)
{
    html(out, "<section id=\"%s\" class=\"card\"><h2>%s</h2><div class=\"scroll\" tabindex=\"0\">\n", id,
         title);
}

static void end_card(FILE *out)
{
    fputs("</div></section>\n", out);
}

/* The first cell of a line about a part. */
static void put_part_cell(FILE *out, const struct part *p)
{
    html(out, "<th scope=\"row\"><a href=\"#file%zu\">%s</a></th>", p->number, p->name);
}

/* "100 to 5000 nodes", or the name of an axis of texts */
static void put_range(FILE *out, const struct part *p, const struct field *axis)
{
    double low = INFINITY, high = -INFINITY, value;
    for (size_t i = 0; i < rows_count(p->rows); i++)
        if (row_get_real(rows_at(p->rows, i), axis->path, &value)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    if (low < high)
        html(out, "%.10g to %.10g %s", low, high, *axis->unit ? axis->unit : axis->path);
    else
        html_text(out, axis->path);
}

static void put_measured(FILE *out, const struct part *p)
{
    const char *started = "";
    char when[32];
    size_t ok = 0, rows = rows_count(p->rows);
    for (size_t i = 0; i < rows; i++)
        ok += row_is_ok(rows_at(p->rows, i));
    value_get_text(record_head(p->record), "started", &started);
    snprintf(when, sizeof when, "%.10s %.5s", started, strlen(started) > 11 ? started + 11 : "");
    fputs("<tr>", out);
    put_part_cell(out, p);
    fputs("<td>", out);
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
    begin_card(out, "measured", "What was measured");
    html(out, "<p class=\"note\">all rows: %s%s%s</p>\n", machine, *machine && *work ? ", " : "", work);
    fputs("<table><thead><tr><th>file</th><th>over</th><th class=\"n\">rows ok</th><th class=\"n\">started, "
          "UTC</th>"
          "</tr></thead><tbody>\n",
          out);
    for (size_t k = 0; k < n; k++)
        put_measured(out, &parts[k]);
    fputs("</tbody></table>\n", out);
    end_card(out);
}

static void put_exponent(FILE *out, const struct exponent *e, const struct field *axis)
{
    char text[LAW_TEXT];
    exponent_text(text, e, axes_symbol(axis));
    html_powers(out, text);
}

static void put_fit(FILE *out, const struct part *p, const struct fit *fit)
{
    static const char *const verdicts[] = {"is steady", "may change",
                                           "changes with the level of memory or the bound", "changes"};
    char law[LAW_TEXT];
    size_t last = fit->count - 1;
    struct exponent e = exponent_between(&fit->points[last - 1].time, &fit->points[last].time);
    law_text(law, &fit->law, axes_symbol(fit->axis));
    fputs("<tr>", out);
    put_part_cell(out, p);
    html(out, "<td>%s%s%s</td><td>%.10g to %.10g %s</td><td class=\"f\">", fit->program,
         *fit->group ? ", " : "", fit->group, fit->points[0].time.x, fit->points[last].time.x,
         fit->axis->unit);
    if (!fit->no_law)
        html_powers(out, law);
    fputs("<small>", out);
    if (fit->no_law)
        html(out, "%s; ", fit->no_law);
    else
        html(out, "within %.2g %%; ", 100 * fit->law.error);
    if (fit->no_verdict)
        html_text(out, fit->no_verdict);
    else
        html(out, "time per %s %s", fit_work_name(fit), verdicts[fit->verdict]);
    fputs("</small></td><td class=\"f\">", out);
    put_exponent(out, &e, fit->axis);
    if (!fit_work_missing(fit)) {
        struct exponent exact = fit_work_exponent(fit, last - 1, last);
        html(out, "<small>%ss ", fit_work_name(fit));
        put_exponent(out, &exact, fit->axis);
        fputs("</small>", out);
    }
    fputs("</td></tr>\n", out);
}

void summary_growth(FILE *out, const struct part *parts, size_t n)
{
    enum { SHOWN = 60 };
    size_t fits = 0, shown = 0;
    for (size_t k = 0; k < n; k++)
        fits += parts[k].fits.count;
    if (fits == 0)
        return;
    begin_card(out, "growth", "How it grows");
    fputs("<table><thead><tr><th>file</th><th>time of</th><th>from, to</th><th>law of the time</th>"
          "<th>growth at the end</th></tr></thead><tbody>\n",
          out);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < parts[k].fits.count && shown < SHOWN; i++, shown++)
            put_fit(out, &parts[k], &parts[k].fits.list[i]);
    fputs("</tbody></table>\n", out);
    if (fits > shown)
        html(out, "<p class=\"note\">and %zu more</p>\n", fits - shown);
    end_card(out);
}

/* --- what bounds it */

struct bounds {
    size_t compute, memory;
    const struct row *row; /* the one with the most work whose share is sound; null: none */
    double work;
};

static bool real_in(const struct row *row, const char *program, const char *name, double *value)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.%s", program, name);
    return row_get_real(row, path, value);
}

static const char *name_in(const struct row *row, const char *program, const char *name)
{
    char path[SCHEMA_PATH];
    const char *text = "";
    snprintf(path, sizeof path, "%s.%s", program, name);
    row_get_text(row, path, &text);
    return text;
}

static struct bounds bounds_of(const struct rows *rows, const char *program)
{
    struct bounds b = {0};
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        const char *bound = name_in(row, program, "roofline.bound");
        double work, percent;
        if (!row_is_ok(row) || !*bound)
            continue;
        b.memory += strcmp(bound, "memory") == 0;
        b.compute += strcmp(bound, "memory") != 0;
        if (!row_noisy(row, program) && !*name_in(row, program, "roofline.fault") &&
            real_in(row, program, "roofline.percent", &percent) &&
            real_in(row, program, "flops.analytic", &work) && (!b.row || work > b.work)) {
            b.row = row;
            b.work = work;
        }
    }
    return b;
}

static void put_bounds(FILE *out, const struct part *p, const char *program, const struct bounds *b)
{
    double percent = 0, attainable = 0;
    char name[AXES_TEXT] = "", text[UNITS_TEXT];
    fputs("<tr>", out);
    put_part_cell(out, p);
    html(out, "<td>%s</td><td class=\"f\">", program);
    if (b->compute > 0)
        html(out, "compute %zu%s", b->compute, b->memory > 0 ? ", " : "");
    if (b->memory > 0)
        html(out, "memory %zu", b->memory);
    fputs("</td>", out);
    if (!b->row) {
        fputs("<td colspan=\"2\"><small>no row with a settled time</small></td></tr>\n", out);
        return;
    }
    part_name_row(p, b->row, name);
    real_in(b->row, program, "roofline.percent", &percent);
    real_in(b->row, program, "roofline.attainable", &attainable);
    snprintf(text, sizeof text, "%.3g %%", percent);
    html(out, "<td>%s<small>%s, %s</small></td><td class=\"n c1\">%s ", name,
         name_in(b->row, program, "roofline.bound"), name_in(b->row, program, "roofline.level"), text);
    put_bar(out, percent / 100, text);
    html(out, "<small>of %.3g GFLOP/s</small></td></tr>\n", attainable);
}

void summary_bounds(FILE *out, const struct part *parts, size_t n)
{
    bool begun = false;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < TIMED; i++) {
            struct bounds b = bounds_of(parts[k].rows, program_name(i));
            if (b.compute + b.memory == 0)
                continue;
            if (!begun) {
                begin_card(out, "bounds", "What bounds it");
                fputs("<table><thead><tr><th>file</th><th>program</th><th>rows bound by</th>"
                      "<th>its row with the most work</th><th class=\"n\">reaches</th>"
                      "</tr></thead><tbody>\n",
                      out);
            }
            begun = true;
            put_bounds(out, &parts[k], program_name(i), &b);
        }
    if (begun) {
        fputs("</tbody></table>\n", out);
        end_card(out);
    }
}

/* --- warnings */

/* A remark and where it belongs. */
struct warned {
    const struct part *part;
    const struct row *row;
    struct remark remark;
};

/* The remarks of all rows, to be freed. */
static struct warned *all_warned(const struct part *parts, size_t n, size_t *count)
{
    struct warned *all = NULL;
    struct remark found[REMARKS_MAX];
    *count = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < rows_count(parts[k].rows); i++) {
            const struct row *row = rows_at(parts[k].rows, i);
            size_t remarks = remarks_of(row, found);
            all = realloc(all, (*count + remarks + 1) * sizeof *all);
            if (!all)
                abort();
            for (size_t r = 0; r < remarks; r++)
                all[(*count)++] = (struct warned){&parts[k], row, found[r]};
        }
    return all;
}

/* The rows with one kind of remark; each file is named before its first. */
static void put_kind(FILE *out, const struct warned *all, size_t count, enum remark_kind kind)
{
    enum { NAMED = 300 };
    size_t rows = 0, named = 0;
    const struct part *part = NULL;
    char name[AXES_TEXT];
    for (size_t i = 0; i < count; i++)
        rows += all[i].remark.kind == kind;
    if (rows == 0)
        return;
    html(out, "<dt>%s <small>%zu</small></dt><dd>", remark_text(kind), rows);
    for (size_t i = 0; i < count && named < NAMED; i++) {
        const struct warned *w = &all[i];
        if (w->remark.kind != kind)
            continue;
        part_name_row(w->part, w->row, name);
        fputs(named++ ? "; " : "", out);
        if (w->part != part)
            html(out, "<b>%s</b> ", w->part->name);
        part = w->part;
        html(out, "%s%s%s <small>(%s)</small>", name, *w->remark.program ? ", " : "", w->remark.program,
             w->remark.detail);
    }
    if (rows > named)
        html(out, "; and %zu more", rows - named);
    fputs("</dd>\n", out);
}

/* The fits whose time does not follow the work. */
static void put_fit_warnings(FILE *out, const struct part *parts, size_t n)
{
    bool any = false;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < parts[k].fits.count; i++) {
            const struct fit *fit = &parts[k].fits.list[i];
            char *text = NULL;
            size_t size;
            if (fit->verdict < FIT_CROSSES)
                continue;
            FILE *memory = open_memstream(&text, &size);
            if (!memory)
                abort();
            fit_warning(fit, memory);
            fclose(memory);
            fputs(any ? "" : "<dt>time does not follow the work</dt>\n", out);
            html(out, "<dd><b>%s</b> %s</dd>\n", parts[k].name, text);
            any = true;
            free(text);
        }
}

/* "noisy 2, other states 58": all kinds at a glance. */
static void put_counts(FILE *out, const struct warned *all, size_t count)
{
    const char *before = "";
    fputs(count > 0 ? "<p>" : "<p>No row has a warning.", out);
    for (int kind = 0; kind < REMARKS; kind++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            n += all[i].remark.kind == (enum remark_kind)kind;
        if (n == 0)
            continue;
        html(out, "%s%s %zu", before, remark_word((enum remark_kind)kind), n);
        before = ", ";
    }
    fputs("</p>\n", out);
}

void summary_warnings(FILE *out, const struct part *parts, size_t n)
{
    size_t count;
    struct warned *all = all_warned(parts, n, &count);
    begin_card(out, "warnings", "Warnings");
    put_counts(out, all, count);
    fputs("<dl>\n", out);
    put_fit_warnings(out, parts, n);
    for (int kind = 0; kind < REMARKS; kind++)
        put_kind(out, all, count, (enum remark_kind)kind);
    fputs("</dl>\n", out);
    end_card(out);
    free(all);
}
