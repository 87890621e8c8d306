/* Chart scripts. */
#include "analysis/charts/chart_script.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/frame.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/scale.h"
#include "analysis/charts/text_width.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ticks of the value have its unit, unless it is the name of the axis already. */
static void write_scale(FILE *out, char axis, const struct scale *s, const struct chart *values)
{
    fprintf(out, "set %crange [%.15g:%.15g]\nset %ctics (", axis, s->low, s->high, axis);
    for (size_t i = 0; i < s->count; i++) {
        char label[UNITS_TEXT];
        if (values && values->quantities[0].kind != SERIES_RATE)
            units_format_short(label, s->ticks[i], values->base, values->unit);
        else
            ticks_label(label, s->ticks[i]);
        gnuplot_put_tick(out, i == 0, label, s->ticks[i]);
    }
    fputs(")\n", out);
}

/* "not drawn: step, grid graph; step, ba graph": the series after the first `drawn`; "" if there are none. */
static void not_drawn(char text[CHART_TEXT], const struct series_set *set, size_t drawn)
{
    enum { NAMED = 6 };
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = drawn; i < set->count && i < drawn + NAMED; i++) {
        char label[CHART_TEXT];
        chart_label(label, &set->series[i]);
        used +=
            (size_t)snprintf(text + used, CHART_TEXT - used, "%s%.150s", used ? "; " : "not drawn: ", label);
    }
    if (set->count > drawn + NAMED)
        snprintf(text + used, CHART_TEXT - used, "; and %zu more", set->count - drawn - NAMED);
}

/* What the marks of the first `drawn` series mean, and which rows are missing. */
static void notes_of(char text[CHART_TEXT], const struct chart_data *d, size_t drawn, bool bars)
{
    char left_out[CHART_TEXT];
    bool law = false, noisy = false;
    for (size_t i = 0; i < drawn; i++) {
        law = law || (d->set.series[i].law.terms && !bars);
        for (size_t k = 0; k < d->set.series[i].count; k++)
            noisy = noisy || d->set.series[i].points[k].noisy;
    }
    chart_left_out(left_out, d->drawing->rows, d->drawing->axis,
                   d->chart->quantities[0].program == TIMED_ENCODING);
    snprintf(text, CHART_TEXT, "%s%s%s%s%.200s%s%.500s", d->chart->note,
             law ? "; curves: polynomials with the terms of the work" : "",
             noisy && !bars ? "; crosses: inconclusive, in no curve" : "",
             *d->equal ? "; the same for all within 1 %: " : "", d->equal, *left_out ? "; " : "", left_out);
}

static void write_frame(FILE *out, const struct chart_data *d, size_t drawn, bool bars, size_t legend_rows,
                        size_t height)
{
    char title[CHART_TEXT], machine[CHART_TEXT], work[CHART_TEXT], notes[CHART_TEXT], others[CHART_TEXT];
    struct frame f = {.title = d->chart->title ? d->chart->title : title,
                      .subtitle = machine,
                      .axis = d->chart->axis,
                      .notes = {notes, others, work},
                      .legend_rows = legend_rows,
                      .height = height};
    chart_title(title, d->chart, &d->set, d->drawing->axis);
    chart_machine(machine, d->drawing->record, d->drawing->rows);
    chart_work(work, d->drawing->rows);
    notes_of(notes, d, drawn, bars);
    not_drawn(others, &d->set, drawn);
    frame_write(out, &f);
}

static void write_point(FILE *out, const struct point *point)
{
    struct law_point p = point->at;
    fprintf(out, "%.15g %.15g %.15g %.15g %d\n", p.x, p.y, p.low, p.high, point->noisy);
}

/* The column of a point if as many as a chart has pixels share its axis. */
static int column_of(const struct series *s, size_t k)
{
    enum { COLUMNS = 700 };
    double first = log(s->points[0].at.x), last = log(s->points[s->count - 1].at.x);
    return last > first ? (int)(COLUMNS * (log(s->points[k].at.x) - first) / (last - first)) : 0;
}

/* Writes points from..to - 1, which are in one column: if they are many, the lowest and the highest. */
static void write_column(FILE *out, const struct series *s, size_t from, size_t to)
{
    enum { FEW = 4 };
    size_t low = from, high = from;
    for (size_t k = from; k < to; k++) {
        low = s->points[k].at.y < s->points[low].at.y ? k : low;
        high = s->points[k].at.y > s->points[high].at.y ? k : high;
    }
    for (size_t k = from; k < to; k++)
        if (to - from <= FEW || k == low || k == high)
            write_point(out, &s->points[k]);
}

static void write_series(FILE *out, const struct series *series, size_t n)
{
    fputs("$points << END\n", out);
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? "\n\n" : "", out);
        for (size_t k = 0, end; k < series[i].count; k = end) {
            for (end = k + 1;
                 end < series[i].count && column_of(&series[i], end) == column_of(&series[i], k);)
                end++;
            write_column(out, &series[i], k, end);
        }
    }
    fputs("END\n", out);
}

/* The laws as curves over the range of their points. */
static void write_laws(FILE *out, const struct series *series, size_t n)
{
    enum { STEPS = 100 };
    int laws = 0;
    fputs("$laws << END\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct series *s = &series[i];
        double first = s->points[0].at.x, last = s->points[s->count - 1].at.x;
        laws += s->law.terms != 0;
        fputs(i > 0 ? "\n\n" : "", out);
        for (int k = 0; s->law.terms && k <= STEPS; k++) {
            double x = first * pow(last / first, (double)k / STEPS);
            fprintf(out, "%.6g %.6g\n", x, law_at(&s->law, x));
        }
        if (!s->law.terms) /* a block of its own all the same */
            fprintf(out, "%.6g NaN\n", first);
    }
    fprintf(out, "END\nlaws = %d\n", laws);
}

static bool same_look(const struct series *a, const struct series *b, bool by_group)
{
    return strcmp(a->quantity->subject, b->quantity->subject) == 0 &&
           (!by_group || strcmp(a->group, b->group) == 0);
}

/* The colour of series i, from 1: one for each program or, by group, for each program and combination, in
 * order of appearance. */
static size_t look_of(const struct series *series, size_t i, bool by_group)
{
    size_t look = 0;
    for (size_t k = 0;; k++) {
        size_t first = 0;
        while (!same_look(&series[first], &series[k], by_group))
            first++;
        look += first == k;
        if (same_look(&series[k], &series[i], by_group))
            return look;
    }
}

/* Returns the widest entry, in em. */
static double write_legend(FILE *out, const struct series *series, size_t n, const struct field *axis)
{
    double widest = 0;
    fprintf(out, "series = %zu\narray label[%zu]\narray look[%zu]\narray open[%zu]\narray joined[%zu]\n", n,
            n, n, n, n);
    for (size_t i = 0; i < n; i++) {
        const struct series *s = &series[i];
        bool open = s->quantity->kind == SERIES_MEASURED;
        char name[CHART_TEXT + 4], text[2 * CHART_TEXT], law[LAW_TEXT + 2] = "";
        if (s->law.terms) {
            memcpy(law, ": ", 2);
            law_text(law + 2, &s->law, axes_symbol(axis));
        }
        chart_label(name, s);
        text_wrap(name, sizeof name, frame_legend_width() - text_width(law), 1);
        gnuplot_escape(text, CHART_TEXT, name);
        strcat(text, law);
        widest = fmax(widest, text_width(text));
        fprintf(out, "label[%zu] = ", i + 1);
        gnuplot_put_string(out, text);
        fprintf(out, "\nlook[%zu] = %zu\nopen[%zu] = %d\njoined[%zu] = %d\n", i + 1, look_of(series, i, true),
                i + 1, open, i + 1, !open && !s->law.terms);
    }
    return widest;
}

/* The values of the points of a series, of many some: "2000 nodes, step: 729 ms [695 ms, 785 ms];
 * inconclusive" */
static void write_hints(FILE *out, const struct chart_data *d, const struct series *s)
{
    enum { MOST = 80 };
    char label[CHART_TEXT], value[UNITS_TEXT], low[UNITS_TEXT], high[UNITS_TEXT];
    const struct field *axis = d->drawing->axis;
    size_t stride = 1 + s->count / MOST;
    chart_label(label, s);
    for (size_t k = 0; k < s->count; k += stride) {
        const struct point *p = &s->points[k];
        bool interval = p->at.high > p->at.low;
        chart_value(value, p->at.y, d->chart);
        chart_value(low, p->at.low, d->chart);
        chart_value(high, p->at.high, d->chart);
        gnuplot_put_label(out, p->at.x, p->at.y, "%.10g %s, %.500s: %s%s%s%s%s%s%s", p->at.x,
                          *axis->unit ? axis->unit : axis->path, label, value, interval ? " [" : "",
                          interval ? low : "", interval ? ", " : "", interval ? high : "",
                          interval ? "]" : "", p->noisy ? "; inconclusive" : "");
    }
}

/* Draws a line at the memory of a GPU of 24 and of 80 GB, if the scale ends within a tenth of it, and extends
 * the scale to it. */
static void write_limits(FILE *out, struct scale *y, enum unit_base base)
{
    static const int sizes[] = {24, 80};
    double highest = y->high;
    for (int i = 0; i < 2; i++) {
        double bytes = 1e9 * sizes[i];
        if (bytes > 10 * highest || bytes < y->low)
            continue;
        y->high = fmax(y->high, 1.3 * bytes);
        fprintf(
            out,
            "set arrow %d from graph 0, first %.6g to graph 1, first %.6g nohead dashtype 2 linewidth 1.2 "
            "linecolor rgb '#555555'\nset label %d '%d GB' at graph 0.01, first %.6g offset 0,0.5 font "
            "',9.5' "
            "textcolor rgb '#555555'\n",
            11 + i, bytes, bytes, 11 + i, sizes[i], bytes);
    }
    y->count = ticks_round(y->low, y->high, base, y->ticks);
}

void chart_write_lines(FILE *out, const void *what)
{
    const struct chart_data *d = what;
    const struct series *series = d->set.series;
    const struct field *axis = d->drawing->axis;
    size_t n = d->set.count < LINES_MAX ? d->set.count : LINES_MAX;
    struct scale x = scale_of_x(series, n), y = scale_of_y(series, n, d->chart->base);
    if (d->chart->limits)
        write_limits(out, &y, d->chart->base);
    double widest = write_legend(out, series, n, axis);
    write_frame(out, d, n, false, frame_legend_rows(n, widest), 400);
    write_scale(out, 'x', &x, NULL);
    write_scale(out, 'y', &y, d->chart);
    gnuplot_put_text(out, "xtitle", *axis->unit ? axis->unit : axis->path);
    write_series(out, series, n);
    write_laws(out, series, n);
    fputs("hints = 1\n$hints << END\n", out);
    for (size_t i = 0; i < n; i++)
        write_hints(out, d, &series[i]);
    fputs("END\n", out);
}

/* Whether two series have nearly the same values where both have one: no eye tells their bars apart. */
static bool series_agree(const struct series *a, const struct series *b)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++) {
            double x = a->points[i].at.y, y = b->points[k].at.y;
            if (a->points[i].at.x == b->points[k].at.x && fabs(x - y) > 0.01 * fmax(x, y))
                return false;
        }
    return true;
}

/* Whether several series have the quantity, and all agree. */
static bool is_equal_in_all(const struct series_set *set, const struct quantity *q)
{
    size_t n = 0;
    for (size_t i = 0; i < set->count; i++) {
        n += set->series[i].quantity == q;
        for (size_t k = 0; k < i && set->series[i].quantity == q; k++)
            if (set->series[k].quantity == q && !series_agree(&set->series[i], &set->series[k]))
                return false;
    }
    return n > 1;
}

void chart_drop_duplicates(struct chart_data *d)
{
    for (size_t q = 0; q < d->chart->count; q++) {
        const struct quantity *quantity = &d->chart->quantities[q];
        size_t kept = 0, used = strlen(d->equal);
        if (!is_equal_in_all(&d->set, quantity))
            continue;
        snprintf(d->equal + used, CHART_TEXT - used, "%s%s", used ? ", " : "", quantity->label);
        for (size_t i = 0; i < d->set.count; i++)
            if (d->set.series[i].quantity == quantity)
                free(d->set.series[i].points);
            else
                d->set.series[kept++] = d->set.series[i];
        d->set.count = kept;
    }
}

/* A bar with its texts. */
struct bar {
    char name[CHART_TEXT + 4], value[CHART_TEXT];
    double y, low, high;
};

static const double bars_em = 10.5 * 4 / 3.0; /* pixels, as in plots/bars.gp */

/* An interval that reaches far beyond all bars would make them invisible: its end is a number then. */
static struct bar bar_of(const struct chart_data *d, size_t i, double longest)
{
    const double most = 2 * longest;
    const struct series *s = &d->set.series[i];
    const struct point *p = &s->points[0];
    char value[UNITS_TEXT], end[UNITS_TEXT];
    struct bar b = {.y = p->at.y, .low = p->at.low, .high = p->at.high};
    chart_label(b.name, s);
    chart_value(value, b.y, d->chart);
    chart_value(end, b.high, d->chart);
    bool far = b.high > most;
    snprintf(b.value, sizeof b.value, "%s%s%s%s%s", value, far ? " (interval to " : "", far ? end : "",
             far ? ")" : "", p->noisy ? " (inconclusive)" : "");
    b.high = far ? most : b.high;
    return b;
}

/* A linear scale from 0, with room for the values beside the bars. */
static struct scale scale_of_bars(const struct bar *bars, size_t n, double left, enum unit_base base)
{
    double plot = 0.97 * CHART_WIDTH - left;
    struct scale s = {.low = 0, .high = 0};
    for (size_t i = 0; i < n; i++) {
        double room = fmin(text_width(bars[i].value) * bars_em + 16, 0.8 * plot);
        s.high = fmax(s.high, bars[i].high * plot / (plot - room));
    }
    s.count = ticks_even(0, 0.94 * s.high, base, s.ticks); /* room for half a label */
    return s;
}

void chart_write_bars(FILE *out, const void *what)
{
    enum { NAME_LINES = 2, PIXELS = 30, PIXELS_OF_TWO_LINES = 42 };
    const double widest = 0.4 * CHART_WIDTH;
    const struct chart_data *d = what;
    size_t n = d->set.count < BARS_MAX ? d->set.count : BARS_MAX, lines = 1;
    struct bar bars[BARS_MAX];
    double left = 0, longest = 0;
    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, d->set.series[i].points[0].at.y);
    fprintf(out, "bars = %zu\nset ytics (", n);
    for (size_t i = 0; i < n; i++) {
        bars[i] = bar_of(d, i, longest);
        left = fmax(left, fmin(text_width(bars[i].name) * bars_em, widest) + 30);
        size_t used = text_wrap(bars[i].name, sizeof bars[i].name, widest / bars_em, NAME_LINES);
        lines = used > lines ? used : lines;
        gnuplot_put_tick(out, i == 0, bars[i].name, (double)i);
    }
    fprintf(out, ")\nleft = %.0f\n$bars << END\n", left);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%zu %.15g %.15g %.15g %zu %d \"%s\"\n", i, bars[i].y, bars[i].low, bars[i].high,
                look_of(d->set.series, i, false), d->set.series[i].quantity->kind == SERIES_MEASURED,
                bars[i].value);
    fputs("END\n", out);
    struct scale x = scale_of_bars(bars, n, left, d->chart->base);
    write_scale(out, 'x', &x, d->chart);
    write_frame(out, d, n, true, 0, n * (lines > 1 ? PIXELS_OF_TWO_LINES : PIXELS) + 50);
}
