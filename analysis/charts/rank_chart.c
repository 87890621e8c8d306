#include "analysis/charts/rank_chart.h"

#include <math.h>
#include <string.h>

#include "analysis/charts/chart_text.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/style.h"
#include "analysis/charts/text_width.h"
#include "analysis/record/axes.h"
#include "analysis/record/schema.h"

struct rank_chart {
    const struct record *record;
    struct rank_bars bars;
};

/* "ulysses": what varies beside ranks and what grows with them; "": nothing. */
static void line_name(char text[AXES_TEXT], const struct rank_chart *c, size_t line)
{
    const struct field *axes[AXES_MAX];
    size_t n = 0, all = axes_beside(record_rows(c->record), schema_find("ranks.count"), axes);
    for (size_t i = 0; i < all; i++)
        if (!c->bars.weak || strcmp(axes[i]->path, c->bars.nodes ? "nodes" : "batch") != 0)
            axes[n++] = axes[i];
    axes_describe_all(c->bars.base[line], axes, n, text);
}

/* What costs more beyond doubt: exchange or the rest. */
static const char *loss_text(const struct rank_bar *r)
{
    if (r->high >= 1)
        return "";
    return r->exchange > 1 - r->low - r->exchange    ? "; most of what is lost is exchange"
           : r->exchange < 1 - r->high - r->exchange ? "; most of what is lost is not exchange"
                                                     : "";
}

static const char *verb(const struct rank_bar *r, bool weak)
{
    return weak           ? r->predicted ? "is predicted to take" : "takes"
           : r->predicted ? "is predicted to be"
                          : "is";
}

/* "A training step of 4 times the nodes on 4 ranks (halo) takes 1.2 times as long as on one" */
static int compose_speedup(char text[CHART_TEXT], const struct rank_bars *b, const struct rank_bar *r,
                           const char *name)
{
    const char *subject = strcmp(b->program, "step") == 0 ? "A training step" : "Inference";
    char work[64] = "", escaped[2 * AXES_TEXT];
    gnuplot_escape(escaped, sizeof escaped, name);
    if (b->weak)
        snprintf(work, sizeof work, " of %lld times the %s", (long long)r->ranks,
                 b->nodes ? "nodes" : "graphs");
    return snprintf(text, CHART_TEXT, "%s%s on %lld ranks%s%s%s %s %.3g times as %s as on one", subject, work,
                    (long long)r->ranks, *name ? " (" : "", escaped, *name ? ")" : "", verb(r, b->weak),
                    b->weak ? 1 / r->efficiency : r->speedup, b->weak ? "long" : "fast");
}

/* Why no bar of several ranks supports a finding. */
static void no_finding_of(char text[CHART_TEXT], const struct rank_bars *b)
{
    bool shared = true;
    for (size_t i = 0; i < b->count; i++)
        shared = shared && (b->bar[i].ranks == 1 || b->bar[i].shared);
    snprintf(text, CHART_TEXT, "%s on several ranks: %s, so there is no finding",
             strcmp(b->program, "step") == 0 ? "A training step" : "Inference",
             shared ? "they share cores" : "all times are noisy");
}

void rank_title(char text[CHART_TEXT], const struct rank_bars *b, const char *name)
{
    const struct rank_bar *r = rank_bars_best(b);
    char range[64] = "";
    if (!r) {
        no_finding_of(text, b);
        return;
    }
    if (r->high - r->low > 0.02)
        snprintf(range, sizeof range, " (%.0f to %.0f\u00a0%%)", 100 * r->low, 100 * r->high);
    int used = compose_speedup(text, b, r, name);
    snprintf(text + used, CHART_TEXT - (size_t)used, ", an efficiency of %.0f\u00a0%%%s%s",
             100 * r->efficiency, range, loss_text(r));
    if (*name && !frame_fits(text))
        rank_title(text, b, "");
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

static double top_of(const struct rank_bar *r)
{
    return fmax(fmax(1, r->efficiency + r->exchange), isnan(r->high) ? 0 : r->high);
}

static void write_top(FILE *out, const struct rank_bars *b, const struct rank_bar *r)
{
    double half, x = middle_of(b, r, &half);
    char time[UNITS_TEXT];
    units_format(time, r->seconds, UNITS_SI, "s");
    fprintf(out, "%.6g %.6g %.6g %.6g %.6g \"%s%s\"\n", x, 100 * r->efficiency, 100 * r->low, 100 * r->high,
            100 * top_of(r), time,
            r->shared  ? " (shared)"
            : r->noisy ? " (noisy)"
                       : "");
}

static void write_scales(FILE *out, const struct rank_bars *b, bool turned)
{
    double top = 1;
    for (size_t i = 0; i < b->count; i++)
        top = fmax(top, top_of(&b->bar[i]));
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

/* Returns the rows of the legend. */
static size_t write_line_labels(FILE *out, const struct rank_chart *c)
{
    enum { OTHERS = 3 }; /* of all lines: exchange, lost otherwise, ideal */
    char name[AXES_TEXT], exchange[] = "exchange that nothing hides";
    double widest = text_width(exchange);
    gnuplot_put_text(out, "exchange", exchange);
    fprintf(out, "lines = %zu\narray label[%d]\n", c->bars.lines, RANK_LINES_MAX);
    for (size_t i = 0; i < c->bars.lines; i++) {
        line_name(name, c, i);
        if (c->bars.lines == 1)
            snprintf(name, sizeof name, "the work of one rank");
        widest = fmax(widest, text_width(name));
        fprintf(out, "label[%zu] = ", i + 1);
        gnuplot_put_string(out, name);
        putc('\n', out);
    }
    return frame_legend_rows(c->bars.lines + OTHERS, widest);
}

/* What the parts mean. */
static void note_of(char text[CHART_TEXT], const struct rank_bars *b)
{
    const char *link = NULL;
    for (size_t i = 0; i < b->count; i++)
        link = b->bar[i].link ? b->bar[i].link : link;
    if (b->bar[0].predicted)
        snprintf(text, CHART_TEXT,
                 "solid: the work of one rank, the efficiency; above: time of a run, predicted as if kernels "
                 "reached "
                 "the ceilings; lost otherwise: imbalance, work that ranks repeat; link: %.600s",
                 link ? link : "nothing is exchanged");
    else
        snprintf(text, CHART_TEXT,
                 "solid: the work of one rank, the efficiency, with its 95 %% interval; above: median time "
                 "of a run; "
                 "exchange includes waiting; lost otherwise: work that ranks repeat, slower computing");
}

static void write_frame_of(FILE *out, const struct rank_chart *c, size_t legend_rows)
{
    const struct rank_bars *b = &c->bars;
    const struct rank_bar *best = rank_bars_best(b);
    char title[CHART_TEXT], machine[CHART_TEXT], note[CHART_TEXT], work[CHART_TEXT], left_out[CHART_TEXT],
        name[AXES_TEXT] = "";
    bool shared = false;
    for (size_t i = 0; i < b->count; i++)
        shared = shared || b->bar[i].shared;
    if (best && b->lines > 1)
        line_name(name, c, best->line);
    rank_title(title, b, name);
    note_of(note, b);
    chart_machine(machine, c->record, record_rows(c->record));
    chart_work(work, record_rows(c->record));
    chart_left_out(left_out, record_rows(c->record), schema_find("ranks.count"));
    if (b->others) {
        size_t used = strlen(left_out);
        snprintf(left_out + used, sizeof left_out - used, "%snot drawn: %zu more rows", used ? "; " : "",
                 b->others);
    }
    const struct frame f = {
        .title = title,
        .subtitle = machine,
        .axis = "share of the ranks' time",
        .notes = {note, shared ? "shared: more threads than cores, no finding" : "", left_out, work},
        .legend_rows = legend_rows,
        .height = 400};
    frame_write(out, &f);
}

static void write_rank_chart(FILE *out, const void *what)
{
    enum { FLAT = 9 }; /* texts of so many bars find room side by side */
    const struct rank_chart *c = what;
    write_frame_of(out, c, write_line_labels(out, c));
    write_scales(out, &c->bars, c->bars.ranks * c->bars.lines > FLAT);
    fputs("$bars << END\n", out);
    for (size_t i = 0; i < c->bars.count; i++)
        write_bar(out, &c->bars, &c->bars.bar[i]);
    fputs("END\n$tops << END\n", out);
    for (size_t i = 0; i < c->bars.count; i++)
        write_top(out, &c->bars, &c->bars.bar[i]);
    fputs("END\n", out);
}

enum chart_result rank_chart_draw(const struct record *record, const char *prefix, char *message)
{
    struct rank_chart charts[2];
    struct figure figures[2];
    size_t n = 0;
    for (int weak = 0; weak < 2; weak++) {
        struct rank_chart *c = &charts[n];
        *c = (struct rank_chart){record, rank_bars_of(record_rows(record), "step", weak)};
        if (c->bars.count == 0)
            c->bars = rank_bars_of(record_rows(record), "forward", weak);
        if (c->bars.count == 0)
            continue;
        figures[n] = (struct figure){.style = style_ranks, .write = write_rank_chart, .what = c};
        snprintf(figures[n++].name, sizeof figures->name, "%s", weak ? "weak" : "strong");
    }
    *message = '\0';
    return n > 0 ? figures_draw(figures, n, prefix, message) : CHART_SKIPPED;
}
