#include "analysis/charts/chart.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/statistics/allocate.h"

/* "not drawn: step, grid graph; step, ba graph": the series after the first `drawn`; "" if there are none. */
static void not_drawn(char text[CHART_TEXT], const struct series_set *set, size_t drawn)
{
    enum { NAMED = 6 };
    text[0] = '\0';
    for (size_t i = drawn; i < set->count && i < drawn + NAMED; i++) {
        char label[CHART_TEXT];
        chart_label(label, &set->series[i]);
        append(text, CHART_TEXT, "%s%.150s", *text ? "; " : "not drawn: ", label);
    }
    if (set->count > drawn + NAMED)
        append(text, CHART_TEXT, "; and %zu more", set->count - drawn - NAMED);
}

/* "not measured: step, resident": what is known exactly and might have been measured too. */
static void not_measured(char text[CHART_TEXT], const struct chart_data *d)
{
    bool any[CHART_QUANTITIES] = {false};
    for (size_t i = 0; i < d->set.count; i++)
        for (size_t q = 0; q < d->chart->count; q++)
            any[q] = any[q] || d->set.series[i].quantity == &d->chart->quantities[q];
    text[0] = '\0';
    for (size_t q = 1; q < d->chart->count; q++) {
        const struct quantity *quantity = &d->chart->quantities[q];
        if (quantity->kind == SERIES_MEASURED && any[q - 1] && !any[q] && !strstr(d->equal, quantity->label))
            append(text, CHART_TEXT, "%s%s", *text ? "; " : "not measured: ", quantity->label);
    }
}

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
             law ? "; curves: scaling fits, polynomials with the terms of the work" : "",
             !noisy ? ""
             : bars ? "; ~: wide range"
                    : "; pale: wide range",
             *d->equal ? "; the same for all within 1 %: " : "", d->equal, *left_out ? "; " : "", left_out);
}

static void write_frame(FILE *out, const struct chart_data *d, size_t drawn, bool bars, size_t height)
{
    char title[CHART_TEXT], notes[CHART_TEXT], others[CHART_TEXT], missing[CHART_TEXT];
    struct frame f = {.title = d->chart->title ? d->chart->title : title,
                      .axis = d->chart->axis,
                      .record = d->drawing->record,
                      .rows = d->drawing->rows,
                      .notes = {notes, missing, others},
                      .height = height};
    gnuplot_put_text(out, "unit", d->chart->quantities[0].kind == SERIES_RATE ? "" : d->chart->unit);
    fprintf(out, "binary = %d\n", d->chart->base == UNITS_BINARY);
    chart_title(title, d->chart, &d->set, d->drawing->axis);
    notes_of(notes, d, drawn, bars);
    not_drawn(others, &d->set, drawn);
    not_measured(missing, d);
    frame_write(out, &f);
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
    for (size_t k = from; k < to; k++) {
        struct law_point p = s->points[k].at;
        if (to - from <= FEW || k == low || k == high)
            fprintf(out, "%.15g %.15g %.15g %.15g %d\n", p.x, p.y, p.low > 0 ? p.low : p.y, p.high,
                    s->points[k].noisy);
    }
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

static void write_legend(FILE *out, const struct series *series, size_t n, const struct field *axis)
{
    fprintf(out,
            "series = %zu\narray label[%zu]\narray tail[%zu]\narray look[%zu]\narray open[%zu]\narray "
            "joined[%zu]\n",
            n, n, n, n, n, n);
    for (size_t i = 0; i < n; i++) {
        const struct series *s = &series[i];
        bool open = s->quantity->kind == SERIES_MEASURED;
        char name[CHART_TEXT], text[CHART_TEXT], law[LAW_TEXT + 2] = "";
        if (s->law.terms) {
            memcpy(law, ": ", 2);
            law_text(law + 2, &s->law, axes_symbol(axis));
        }
        chart_label(name, s);
        gnuplot_escape(text, CHART_TEXT, name);
        gnuplot_put_element(out, "label", i + 1, text);
        gnuplot_put_element(out, "tail", i + 1, law);
        fprintf(out, "look[%zu] = %zu\nopen[%zu] = %d\njoined[%zu] = %d\n", i + 1, look_of(series, i, true),
                i + 1, open, i + 1, !open && !s->law.terms);
    }
}

/* The values of the points of a series, of many some: "2000 nodes, step: 729 ms [695 ms, 785 ms];
 * inconclusive" */
static void write_hints(FILE *out, const struct chart_data *d, const struct series *s)
{
    enum { MOST = 80 };
    char label[CHART_TEXT], at[AXES_TEXT], value[UNITS_TEXT], low[UNITS_TEXT], high[UNITS_TEXT];
    const struct field *axis = d->drawing->axis;
    size_t stride = 1 + s->count / MOST;
    chart_label(label, s);
    for (size_t k = 0; k < s->count; k += stride) {
        const struct point *p = &s->points[k];
        bool interval = p->at.high > p->at.low;
        chart_value(value, p->at.y, d->chart);
        chart_value(low, p->at.low, d->chart);
        chart_value(high, p->at.high, d->chart);
        axes_describe_number(axis, p->at.x, at);
        gnuplot_put_label(out, p->at.x, p->at.y, "%s, %.500s: %s%s%s%s%s%s%s", at, label, value,
                          interval ? " [" : "", interval ? low : "", interval ? ", " : "",
                          interval ? high : "", interval ? "]" : "", p->noisy ? "; wide range" : "");
    }
}

void chart_write_lines(FILE *out, const void *what)
{
    const struct chart_data *d = what;
    const struct series *series = d->set.series;
    const struct field *axis = d->drawing->axis;
    size_t n = d->set.count < LINES_MAX ? d->set.count : LINES_MAX;
    write_legend(out, series, n, axis);
    write_frame(out, d, n, false, 400);
    gnuplot_put_text(out, "xtitle", axes_title(axis));
    fprintf(out, "logarithmic = 1\nlimits = %d\n", d->chart->limits);
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
        size_t kept = 0;
        if (!is_equal_in_all(&d->set, quantity))
            continue;
        append(d->equal, CHART_TEXT, "%s%s", *d->equal ? ", " : "", quantity->label);
        for (size_t i = 0; i < d->set.count; i++)
            if (d->set.series[i].quantity == quantity)
                free(d->set.series[i].points);
            else
                d->set.series[kept++] = d->set.series[i];
        d->set.count = kept;
    }
}

struct bar {
    char value[CHART_TEXT];
    double y, low, high;
};

/* An interval that reaches far beyond all bars would make them invisible: its end is a number then. */
static struct bar bar_of(const struct chart_data *d, size_t i, double longest)
{
    const double most = 2 * longest;
    const struct point *p = &d->set.series[i].points[0];
    char value[UNITS_TEXT], end[UNITS_TEXT];
    struct bar b = {.y = p->at.y, .low = p->at.low, .high = p->at.high};
    chart_value(value, b.y, d->chart);
    chart_value(end, b.high, d->chart);
    bool far = b.high > most;
    snprintf(b.value, sizeof b.value, "%s%s%s%s%s", p->noisy ? "~" : "", value, far ? " (interval to " : "",
             far ? end : "", far ? ")" : "");
    b.high = far ? most : b.high;
    return b;
}

/* Names beside the bars. Returns the lines of the longest; *letters: of its longest line. */
static size_t write_names(FILE *out, const struct series *series, size_t n, size_t *letters)
{
    enum { COLUMNS = 42 };
    size_t lines, most = 1;
    *letters = 0;
    fputs("set ytics (", out);
    for (size_t i = 0; i < n; i++) {
        char name[CHART_TEXT];
        chart_label(name, &series[i]);
        char *wrapped = frame_wrap(&(const char *){name}, 1, COLUMNS, &lines);
        size_t letters_of = units_width(name) < COLUMNS ? units_width(name) : COLUMNS;
        gnuplot_put_tick(out, i == 0, wrapped, (double)i);
        most = lines > most ? lines : most;
        *letters = letters_of > *letters ? letters_of : *letters;
        free(wrapped);
    }
    fputs(")\n", out);
    return most;
}

void chart_write_bars(FILE *out, const void *what)
{
    enum { PIXELS = 16, PIXELS_OF_LINE = 14 };
    const struct chart_data *d = what;
    const struct series *series = d->set.series;
    size_t n = d->set.count < BARS_MAX ? d->set.count : BARS_MAX, letters;
    size_t lines = write_names(out, series, n, &letters);
    double longest = 0, high = 0;
    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, series[i].points[0].at.y);
    fprintf(out, "letters = %zu\nbars = %zu\n$bars << END\n", letters, n);
    for (size_t i = 0; i < n; i++) {
        struct bar b = bar_of(d, i, longest);
        double text = (double)(2 + units_width(b.value)) / (double)(FRAME_COLUMNS - letters);
        high = fmax(high, b.high / (1 - fmin(text, 0.8)));
        fprintf(out, "%zu %.15g %.15g %.15g %zu %d \"%s\"\n", i, b.y, b.low, b.high,
                look_of(series, i, false), series[i].quantity->kind == SERIES_MEASURED, b.value);
    }
    fprintf(out, "END\nhigh = %.15g\n", high);
    write_frame(out, d, n, true, n * (PIXELS + lines * PIXELS_OF_LINE) + 50);
}
