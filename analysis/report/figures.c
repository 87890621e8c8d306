/* Charts over an axis, or bars if there is one value of it: those of analysis/charts, as SVG and HTML. */
#include "analysis/report/parts.h"

#include "analysis/charts/chart.h"
#include "analysis/charts/chart_text.h"
#include "analysis/charts/title.h"
#include "analysis/report/html.h"
#include "analysis/report/plot.h"

#include <math.h>
#include <string.h>

void put_bar(FILE *out, double share, const char *text)
{
    double length = share > 0 ? 100 * fmin(share, 1) : 0;
    html(out, "<svg class=\"bar\" role=\"img\" aria-label=\"%s\"><title>%s</title>", text, text);
    html(out, "<rect width=\"%.2f%%\" height=\"100%%\"/></svg>", length);
}

enum { POINTS_MOST = 80 };

/* "729 [695, 785] ms", "5.11k graphs/s" */
static void point_value(char text[UNITS_TEXT], const struct chart *c, const struct series *s,
                        const struct point *p)
{
    bool interval = p->certain && s->quantity->kind == SERIES_TIME;
    if (s->quantity->kind == SERIES_TIME)
        units_format_interval(text, p->at.y, interval ? p->at.low : NAN, interval ? p->at.high : NAN,
                              c->unit);
    else
        chart_value(text, p->at.y, c);
}

/* "2000 nodes, step: 729 [695, 785] ms; noisy" */
static void put_point_text(FILE *out, const struct chart_data *d, const struct series *s,
                           const struct point *p)
{
    char label[CHART_TEXT], value[UNITS_TEXT], low[UNITS_TEXT], high[UNITS_TEXT];
    const struct field *axis = d->drawing->axis;
    chart_label(label, s);
    point_value(value, d->chart, s, p);
    html(out, "%.10g %s, %s: %s", p->at.x, *axis->unit ? axis->unit : axis->path, label, value);
    if (s->quantity->kind == SERIES_RATE && p->certain) {
        chart_value(low, p->at.low, d->chart);
        chart_value(high, p->at.high, d->chart);
        html(out, " [%s, %s]", low, high);
    }
    fputs(p->noisy ? "; noisy" : "", out);
}

static void put_chart_curve(FILE *out, const struct plot *plot, const struct series *s)
{
    enum { STEPS = 40 };
    bool law = s->law.terms != 0, open = s->quantity->kind == SERIES_MEASURED;
    double first = s->points[0].at.x, last = s->points[s->count - 1].at.x;
    if ((open && !law) || s->count < 2)
        return;
    fputs("<path class=\"curve\" d=\"", out);
    for (size_t k = 0; k < (law ? STEPS + 1 : s->count); k++) {
        double x = law ? first * pow(last / first, (double)k / STEPS) : s->points[k].at.x;
        double y = law ? law_at(&s->law, x) : s->points[k].at.y;
        html(out, "%s%.1f,%.1f", k ? "L" : "M", plot_x(plot, x), plot_y(plot, y));
    }
    fputs("\"/>\n", out);
}

/* Of many points some, so that the page stays small. */
static void put_chart_series(FILE *out, const struct chart_data *d, const struct plot *plot, size_t i)
{
    const struct series *s = &d->set.series[i];
    size_t stride = 1 + s->count / POINTS_MOST;
    html(out, "<g class=\"c%zu\">\n", chart_look(d->set.series, i, true));
    put_chart_curve(out, plot, s);
    for (size_t k = 0; k < s->count; k++) {
        const struct point *p = &s->points[k];
        if (k % stride && k + 1 < s->count)
            continue;
        if (p->at.high > p->at.low && p->at.low > 0)
            html(out, "<path class=\"error\" d=\"M%.1f,%.1fV%.1f\"/>", plot_x(plot, p->at.x),
                 plot_y(plot, p->at.low), plot_y(plot, p->at.high));
        plot_begin_point(out);
        put_point_text(out, d, s, p);
        plot_end_point(out, plot, p->at.x, p->at.y,
                       p->noisy                               ? POINT_CROSSED
                       : s->quantity->kind == SERIES_MEASURED ? POINT_HOLLOW
                                                              : POINT_FILLED);
    }
    fputs("</g>\n", out);
}

static void put_chart_legend(FILE *out, const struct chart_data *d, size_t n)
{
    fputs("<ul class=\"legend\">", out);
    for (size_t i = 0; i < n; i++) {
        const struct series *s = &d->set.series[i];
        char label[CHART_TEXT], law[LAW_TEXT];
        chart_label(label, s);
        html(out, "<li class=\"c%zu%s\">%s", chart_look(d->set.series, i, true),
             s->quantity->kind == SERIES_MEASURED ? " open" : "", label);
        if (s->law.terms) {
            law_text(law, &s->law, axes_symbol(d->drawing->axis));
            fputs(": ", out);
            html_powers(out, law);
        }
        fputs("</li>", out);
    }
    fputs("</ul>\n", out);
}

static void put_chart_notes(FILE *out, const struct chart_data *d, size_t drawn, bool bars)
{
    char notes[CHART_TEXT], others[CHART_TEXT];
    chart_notes(notes, d, drawn, bars);
    chart_not_drawn(others, &d->set, drawn);
    html(out, "<p class=\"note\">%s%s%s</p>\n", notes, *others ? "; " : "", others);
}

static void put_chart_lines(FILE *out, const struct chart_data *d)
{
    char title[CHART_TEXT];
    size_t n = d->set.count < LINES_MAX ? d->set.count : LINES_MAX;
    const struct field *axis = d->drawing->axis;
    const struct plot plot = {.name = d->chart->axis,
                              .x_title = *axis->unit ? axis->unit : axis->path,
                              .y_title = d->chart->axis,
                              .x = scale_of_x(d->set.series, n),
                              .y = scale_of_y(d->set.series, n, d->chart->base),
                              .base = d->chart->base,
                              .unit = d->chart->quantities[0].kind == SERIES_RATE ? "" : d->chart->unit};
    title_of_lines(title, d->chart, &d->set, axis);
    fputs("<figcaption>", out);
    html_title(out, title);
    fputs("</figcaption>\n", out);
    plot_begin(out, &plot);
    for (size_t i = 0; i < n; i++)
        put_chart_series(out, d, &plot, i);
    plot_end(out);
    put_chart_legend(out, d, n);
    put_chart_notes(out, d, n, false);
}

static void put_chart_bars(FILE *out, const struct chart_data *d)
{
    char title[CHART_TEXT];
    double longest = 0;
    size_t n = d->set.count < BARS_MAX ? d->set.count : BARS_MAX;
    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, d->set.series[i].points[0].at.y);
    title_of_bars(title, d->chart, &d->set, d->drawing->axis);
    fputs("<figcaption>", out);
    html_title(out, title);
    html(out, "</figcaption>\n<table class=\"bars\"><caption>%s</caption><tbody>\n", d->chart->axis);
    for (size_t i = 0; i < n; i++) {
        const struct series *s = &d->set.series[i];
        const struct point *p = &s->points[0];
        char label[CHART_TEXT], value[UNITS_TEXT];
        chart_label(label, s);
        point_value(value, d->chart, s, p);
        html(out, "<tr class=\"c%zu%s\"><th scope=\"row\">%s</th><td>", chart_look(d->set.series, i, false),
             s->quantity->kind == SERIES_MEASURED ? " open" : "", label);
        put_bar(out, p->at.y / longest, value);
        html(out, "</td><td class=\"n\">%s%s</td></tr>\n", value, p->noisy ? ", noisy" : "");
    }
    fputs("</tbody></table>\n", out);
    put_chart_notes(out, d, n, true);
}

void part_figures(FILE *out, const struct part *p)
{
    const struct source source = {.rows = p->rows};
    const struct drawing drawing = {
        .sources = &source, .count = 1, .rows = p->rows, .record = p->record, .axis = axes_default(p->rows)};
    const char *op;
    bool kernels = row_get_text(rows_at(p->rows, 0), "op", &op);
    if (kernels && rows_count(p->rows) > BARS_MAX && !axes_vary(p->rows, drawing.axis))
        return;
    fputs("<div class=\"figures\">\n", out);
    for (size_t i = 0; i < CHARTS_MAX; i++) {
        const struct chart *chart = &chart_kinds[i];
        struct chart_data d = {chart, &drawing,
                               series_collect(&source, 1, drawing.axis, chart->quantities, chart->count)};
        if (d.set.count > 0) {
            html(out, "<figure class=\"%s\">", chart->name);
            if (series_has_one_x(&d.set))
                put_chart_bars(out, &d);
            else
                put_chart_lines(out, &d);
            fputs("</figure>\n", out);
        }
        series_free(&d.set);
    }
    fputs("</div>\n", out);
}
