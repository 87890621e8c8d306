#include "analysis/charts/charts.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/frame.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/rank_bars.h"
#include "analysis/record/slices.h"
#include "analysis/statistics/allocate.h"

struct rank_chart {
    const struct record *record;
    struct rank_bars bars;
};

/* "ulysses": what varies beside ranks and what grows with them; "": nothing. */
static void line_name(char text[AXES_TEXT], const struct rank_chart *c, size_t line)
{
    const struct field *axes[AXES_MAX];
    const char *const any[] = {!c->bars.weak ? NULL : c->bars.nodes ? "nodes" : "batch", NULL};
    size_t n = slices_axes(record_rows(c->record), schema_find("ranks.count"), any, axes);
    axes_describe_all(c->bars.base[line], axes, n, text);
}

/* The middle of a bar, in numbers of ranks, and half its width. */
static double middle_of(const struct rank_bars *b, const struct rank_bar *r, double *half)
{
    const double room = 0.84; /* of all bars of a number of ranks */
    size_t column = 0;
    while (b->of[column] != r->ranks)
        column++;
    *half = 0.46 * room / (double)b->lines;
    return (double)column - room / 2 + room * ((double)r->line + 0.5) / (double)b->lines;
}

/* The parts of a bar one above the other, in percent; those that are left up to the ideal are lost otherwise.
 */
static void write_bar(FILE *out, const struct rank_bars *b, const struct rank_bar *r)
{
    double half, x = middle_of(b, r, &half);
    double level[] = {0, r->efficiency, r->efficiency + r->exchange, fmax(1, r->efficiency + r->exchange)};
    for (int part = 0; part < 3; part++)
        if (level[part + 1] > level[part])
            fprintf(out, "%.6g %.6g %zu %.6g %.6g %d\n", x, half, r->line + 1, 100 * level[part],
                    100 * level[part + 1], part);
}

/* Intervals that reach far beyond all bars would make these invisible: they are cut there. */
static double limit_of(const struct rank_bars *b)
{
    double top = 1;
    for (size_t i = 0; i < b->count; i++)
        top = fmax(top, b->bar[i].efficiency + b->bar[i].exchange);
    return 1.5 * top;
}

static double top_of(const struct rank_bar *r, double limit)
{
    return fmax(fmax(1, r->efficiency + r->exchange), isnan(r->high) ? 0 : fmin(r->high, limit));
}

static void write_top(FILE *out, const struct rank_bars *b, const struct rank_bar *r)
{
    double half, x = middle_of(b, r, &half), limit = limit_of(b);
    char time[UNITS_TEXT];
    units_format(time, r->seconds, UNITS_SI, "s");
    fprintf(out, "%.6g %.6g %.6g %.6g %.6g \"%s%s\"\n", x, 100 * r->efficiency, 100 * r->low,
            100 * fmin(r->high, limit), 100 * top_of(r, limit), time,
            r->shared  ? " (shared)"
            : r->noisy ? " (wide range)"
                       : "");
}

static void write_scales(FILE *out, const struct rank_bars *b, bool turned)
{
    double top = 1;
    for (size_t i = 0; i < b->count; i++)
        top = fmax(top, top_of(&b->bar[i], limit_of(b)));
    fprintf(out,
            "turned = %d\nset xrange [-0.6:%.6g]\nset yrange [0:%.6g]\nset ytics 0, 20, %.0f\nset xtics (",
            turned, (double)b->ranks - 0.4, 100 * top * (turned ? 1.25 : 1.1), 20 * floor(5 * top));
    for (size_t i = 0; i < b->ranks; i++) {
        char label[32];
        snprintf(label, sizeof label, "%lld", (long long)b->of[i]);
        gnuplot_put_tick(out, i == 0, label, (double)i);
    }
    fputs(")\n", out);
}

static void write_line_labels(FILE *out, const struct rank_chart *c)
{
    static const char *const others[] = {"exchange that nothing hides", "lost otherwise", "ideal"};
    enum { OTHERS = sizeof others / sizeof *others }; /* of all lines */
    size_t n = c->bars.lines;
    fprintf(out, "lines = %zu\narray label[%zu]\n", n, n + OTHERS);
    for (size_t i = 0; i < n; i++) {
        char name[AXES_TEXT];
        line_name(name, c, i);
        gnuplot_put_element(out, "label", i + 1, n == 1 ? "the work of one rank" : name);
    }
    for (size_t i = 0; i < OTHERS; i++)
        gnuplot_put_element(out, "label", n + i + 1, others[i]);
}

static void note_of(char text[CHART_TEXT], const struct rank_bars *b)
{
    const char *link = NULL;
    for (size_t i = 0; i < b->count; i++)
        link = b->bar[i].link ? b->bar[i].link : link;
    if (b->bar[0].predicted)
        snprintf(text, CHART_TEXT,
                 "solid: the work of one rank, the efficiency; above: time of a run, predicted as if kernels "
                 "reached "
                 "the peak rates; lost otherwise: imbalance, work that ranks repeat; link: %.600s",
                 link ? link : "nothing is exchanged");
    else
        snprintf(text, CHART_TEXT,
                 "solid: the work of one rank, the efficiency, with its 95 %% interval; above: median time "
                 "of a run; "
                 "exchange includes waiting; lost otherwise: work that ranks repeat, slower computing");
}

/* Bars that say less than they seem to. */
static void doubts_of(char text[CHART_TEXT], const struct rank_bars *b)
{
    bool shared = false;
    double limit = limit_of(b), highest = 0;
    for (size_t i = 0; i < b->count; i++) {
        shared = shared || b->bar[i].shared;
        highest = fmax(highest, b->bar[i].high); /* fmax ignores NAN */
    }
    snprintf(text, CHART_TEXT, "%s", shared ? "shared: more threads than cores" : "");
    if (highest > limit)
        append(text, CHART_TEXT, "%sintervals are cut; the widest reaches %.3g %%", *text ? "; " : "",
               100 * highest);
    if (b->others)
        append(text, CHART_TEXT, "%snot drawn: %zu more rows", *text ? "; " : "", b->others);
}

static void write_frame_of(FILE *out, const struct rank_chart *c)
{
    const struct rank_bars *b = &c->bars;
    const struct rows *rows = record_rows(c->record);
    char title[128], note[CHART_TEXT], left_out[CHART_TEXT], doubts[CHART_TEXT];
    snprintf(title, sizeof title, "%s scaling of %s over ranks%s", b->weak ? "Weak" : "Strong",
             b->program == TIMED_STEP ? "a training step" : "inference",
             !b->weak   ? ""
             : b->nodes ? ", with as many times the nodes"
                        : ", with as many times the graphs");
    note_of(note, b);
    doubts_of(doubts, b);
    chart_left_out(left_out, rows, schema_find("ranks.count"), false);
    frame_write(out, &(struct frame){.title = title,
                                     .axis = "share of the ranks' time",
                                     .record = c->record,
                                     .rows = rows,
                                     .notes = {note, doubts, left_out},
                                     .height = 400});
}

static void write_hint(FILE *out, const struct rank_bars *b, const struct rank_bar *r)
{
    double half, x = middle_of(b, r, &half);
    char time[UNITS_TEXT];
    units_format(time, r->seconds, UNITS_SI, "s");
    gnuplot_put_label(
        out, x, 100 * r->efficiency, "%lld ranks: %s, efficiency %.3g %% [%.3g, %.3g], exchange %.3g %%",
        (long long)r->ranks, time, 100 * r->efficiency, 100 * r->low, 100 * r->high, 100 * r->exchange);
}

static void write_rank_chart(FILE *out, const void *what)
{
    enum { FLAT = 9 }; /* texts of so many bars find room side by side */
    const struct rank_chart *c = what;
    write_line_labels(out, c);
    write_frame_of(out, c);
    write_scales(out, &c->bars, c->bars.ranks * c->bars.lines > FLAT);
    fputs("$bars << END\n", out);
    for (size_t i = 0; i < c->bars.count; i++)
        write_bar(out, &c->bars, &c->bars.bar[i]);
    fputs("END\n$tops << END\n", out);
    for (size_t i = 0; i < c->bars.count; i++)
        write_top(out, &c->bars, &c->bars.bar[i]);
    fputs("END\nhints = 1\n$hints << END\n", out);
    for (size_t i = 0; i < c->bars.count; i++)
        write_hint(out, &c->bars, &c->bars.bar[i]);
    fputs("END\n", out);
}

void rank_chart_add(struct figures *f, const struct record *record, const struct field *axis)
{
    (void)axis;
    const struct rows *rows = record_rows(record);
    for (int weak = 0; weak < 2; weak++) {
        struct rank_chart c = {record, rank_bars_of(rows, TIMED_STEP, weak)};
        if (c.bars.count == 0)
            c.bars = rank_bars_of(rows, TIMED_FORWARD, weak);
        if (c.bars.count > 0)
            figures_add(f, weak ? "weak" : "strong", style_ranks, write_rank_chart, &c);
    }
}
