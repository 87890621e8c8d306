/* Chart scripts. */
#include "analysis/charts/chart_script.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/ticks.h"

#include <math.h>
#include <string.h>

/* The range and the ticks of one axis. */
struct scale {
    double low, high;
    size_t count;
    double ticks[TICKS_MAX];
};

/* Adds a margin around the points: a fraction of their range, and at least a factor. */
static void widen(struct scale *s, double share, double least)
{
    double factor = fmax(pow(s->high / s->low, share), least);
    s->low /= factor;
    s->high *= factor;
}

/* Ticks are at the measured sizes. */
static struct scale scale_of_x(const struct series_set *set)
{
    enum { AT_MOST = 256 };
    double values[AT_MOST];
    size_t n = 0;
    struct scale s = {.low = INFINITY, .high = 0};
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->series[i].count; k++) {
            double x = set->series[i].points[k].x;
            s.low = fmin(s.low, x);
            s.high = fmax(s.high, x);
            if (n < AT_MOST)
                values[n++] = x;
        }
    widen(&s, 0.04, 1.02);
    s.count = ticks_at(values, n, s.low, s.high, s.ticks);
    return s;
}

/* The range includes error bars. */
static struct scale scale_of_y(const struct series_set *set, enum unit_base base)
{
    struct scale s = {.low = INFINITY, .high = 0};
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->series[i].count; k++) {
            struct point p = set->series[i].points[k];
            s.low = fmin(s.low, p.low > 0 ? p.low : p.y);
            s.high = fmax(s.high, p.high);
        }
    widen(&s, 0.06, 1.3);
    s.count = ticks_round(s.low, s.high, base, s.ticks);
    return s;
}

static void write_scale(FILE *out, char axis, const struct scale *s, const struct chart *c)
{
    fprintf(out, "set %crange [%.15g:%.15g]\nset %ctics (", axis, s->low, s->high, axis);
    for (size_t i = 0; i < s->count; i++) {
        char label[UNITS_TEXT];
        if (axis == 'x')
            ticks_label(label, s->ticks[i]);
        else
            units_format_short(label, s->ticks[i], c->base, c->unit);
        fputs(i > 0 ? ", " : "", out);
        gnuplot_put_string(out, label);
        fprintf(out, " %.15g", s->ticks[i]);
    }
    fputs(")\n", out);
}

static void write_texts(FILE *out, const struct chart *c, const struct series_set *set,
                        const struct drawing *d)
{
    const struct rows *rows = d->rows;
    const struct field *axis = d->axis;
    char text[CHART_TEXT];
    chart_title(text, &set->series[0], axis, c->what, c->base, c->unit);
    gnuplot_put_text(out, "title", c->title ? c->title : text);
    chart_machine(text, d->record, rows);
    gnuplot_put_text(out, "subtitle", text);
    chart_work(text, rows);
    gnuplot_put_text(out, "work", text);
    chart_left_out(text, rows, axis);
    if (set->points_dropped > 0) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%zu points of further combinations",
                 used ? ", " : "left out: ", set->points_dropped);
    }
    gnuplot_put_text(out, "left_out", text);
    gnuplot_put_text(out, "note", c->note);
    gnuplot_put_text(out, "ytitle", c->axis);
    gnuplot_put_text(out, "xtitle", *axis->unit ? axis->unit : axis->path);
}

static void write_data(FILE *out, const struct series_set *set)
{
    fputs("$points << END\n", out);
    for (size_t i = 0; i < set->count; i++) {
        fputs(i > 0 ? "\n\n" : "", out);
        for (size_t k = 0; k < set->series[i].count; k++) {
            struct point p = set->series[i].points[k];
            fprintf(out, "%.15g %.15g %.15g %.15g\n", p.x, p.y, p.low, p.high);
        }
    }
    size_t fits = 0;
    for (size_t i = 0; i < set->count; i++)
        fits += set->series[i].fit.has_exponent;
    fprintf(out, "END\nfits = %zu\n$fits << END\n", fits);
    for (size_t i = 0; i < set->count; i++) {
        const struct series *s = &set->series[i];
        fputs(i > 0 ? "\n\n" : "", out);
        for (int end = 0; end < 2; end++) {
            const struct point *p = &s->points[end == 0 ? 0 : s->count - 1];
            double y = s->fit.has_exponent ? s->fit.factor * pow(p->x, s->fit.exponent) : p->y;
            fprintf(out, "%.15g %.15g\n", p->x, y);
        }
    }
    fputs("END\n", out);
}

static void write_legend(FILE *out, const struct chart *c, const struct series_set *set,
                         const struct field *axis)
{
    bool grouped = false;
    for (size_t i = 0; i < set->count; i++)
        grouped = grouped || *set->series[i].group;
    fprintf(out, "series = %zu\narray label[%zu]\narray look[%zu]\narray line[%zu]\n", set->count, set->count,
            set->count, set->count);
    for (size_t i = 0; i < set->count; i++) {
        char text[CHART_TEXT];
        chart_legend(text, &set->series[i], axis);
        fprintf(out, "label[%zu] = ", i + 1);
        gnuplot_put_string(out, text);
        /* A quantity has the same colour in all charts, unless combinations need the colours. */
        fprintf(out, "\nlook[%zu] = %zu\n", i + 1,
                grouped ? i + 1 : (size_t)(set->series[i].quantity - c->quantities) + 1);
        fprintf(out, "line[%zu] = %d\n", i + 1, !set->series[i].quantity->measured);
    }
}

bool chart_script_write(FILE *out, const struct chart *c, const struct series_set *set,
                        const struct drawing *d, const char *pictures, const char *look)
{
    struct scale x = scale_of_x(set), y = scale_of_y(set, c->base);
    fputs("reset\nset encoding utf8\n", out);
    gnuplot_put_text(out, "prefix", pictures);
    write_texts(out, c, set, d);
    write_scale(out, 'x', &x, c);
    write_scale(out, 'y', &y, c);
    write_legend(out, c, set, d->axis);
    write_data(out, set);
    fputs("load ", out);
    gnuplot_put_string(out, look);
    putc('\n', out);
    return !ferror(out);
}
