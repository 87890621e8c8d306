/*
 * A dot plot (Cleveland and McGill, "Graphical perception", JASA 79, 1984) on a logarithmic scale: positions
 * along a common scale are compared most accurately, and ops without FLOPs can be shown too.
 */
#include "analysis/charts/kernel_chart.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/style.h"
#include "analysis/record/record.h"
#include "analysis/statistics/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double lowest = 0.1, roof = 100;

/* Whether a dot is of the variant that is the op's default, the first. */
static bool is_default(const struct kernel_dots *d, const struct kernel_dot *dot)
{
    const struct kernel_dot *first = d->dots;
    while (first->line != dot->line)
        first++;
    return first->look == dot->look;
}

void percent_title(char text[CHART_TEXT], const struct kernel_dots *d)
{
    double *reached = malloc((d->count + 1) * sizeof *reached);
    const char *name = "";
    size_t n = 0, above = 0;
    if (!reached)
        abort();
    for (size_t i = 0; i < d->count; i++)
        if (!d->dots[i].noisy && is_default(d, &d->dots[i])) {
            above += d->dots[i].percent > roof;
            name = d->dots[i].op;
            reached[n++] = d->dots[i].percent;
        }
    qsort(reached, n, sizeof *reached, compare_doubles);
    double median = n ? floor((reached[n / 2] + reached[(n - 1) / 2]) / 2) : 0;
    free(reached);
    if (n == 0) {
        snprintf(text, CHART_TEXT, "All times of default kernels are noisy, so there is no finding");
    } else if (n == 1) {
        char escaped[2 * AXES_TEXT];
        gnuplot_escape(escaped, sizeof escaped, name);
        snprintf(text, CHART_TEXT, "The default kernel of %s reaches %.0f %% of its roofline", escaped,
                 median);
    } else {
        int used = snprintf(text, CHART_TEXT,
                            "Half of the %zu %sdefault kernels reach %.0f %% of their roofline or more", n,
                            n > d->ops ? "rows of " : "", median);
        if (above > 0)
            snprintf(text + used, CHART_TEXT - (size_t)used, "; %zu exceed%s 100 %%", above,
                     above == 1 ? "s" : "");
    }
}

/* Writes the points inside the scale, and returns how many there are. */
static size_t write_percentages(FILE *out, const struct kernel_dots *d, bool cold)
{
    size_t count = 0;
    fprintf(out, "$%s << END\n", cold ? "cold" : "warm");
    for (size_t i = 0; i < d->count; i++) {
        const struct kernel_dot *dot = &d->dots[i];
        double percent = cold ? dot->cold : dot->percent;
        if (percent > 0 && ++count)
            fprintf(out, "%.6g %zu %zu %d\n", fmax(percent, lowest), dot->line, dot->look + 1, dot->noisy);
    }
    fprintf(out, "END\n%s = %zu\n", cold ? "cold" : "warm", count);
    return count;
}

/* The numbers of points that are not within the scale up to the roof, beside them. */
static double write_outside(FILE *out, const struct kernel_dots *d)
{
    double most = roof;
    size_t count = 0;
    fputs("$outside << END\n", out);
    for (size_t i = 0; i < d->count; i++)
        for (int cold = 0; cold < 2; cold++) {
            const struct kernel_dot *dot = &d->dots[i];
            double percent = cold ? dot->cold : dot->percent;
            bool below = percent > 0 && percent < lowest;
            if (!below && !(percent > roof))
                continue;
            most = fmax(most, percent);
            count++;
            fprintf(out, "%.6g %zu \"%s%.*g %%\"\n", fmax(percent, lowest), dot->line, below ? "← " : "",
                    below ? 1 : 3, percent);
        }
    fprintf(out, "END\noutside = %zu\n", count);
    return most;
}

static void write_percent(FILE *out, const void *what)
{
    enum { PIXELS = 26 };
    const struct kernel_chart *c = what;
    const struct kernel_dots *d = &c->dots;
    const struct rows *rows = record_rows(c->record);
    char title[CHART_TEXT], machine[CHART_TEXT], work[CHART_TEXT], notes[CHART_TEXT], left_out[CHART_TEXT],
        others[64] = "";
    write_percentages(out, d, false);
    bool cold = write_percentages(out, d, true) > 0;
    double most = write_outside(out, d), widest = kernel_dots_write_variants(out, d);
    fprintf(out, "most = %.6g\nops = %zu\nset ytics (", most, d->ops);
    for (size_t i = 0; i < d->ops; i++)
        gnuplot_put_tick(out, i == 0, d->op_names[i], (double)i);
    fputs(")\n", out);
    percent_title(title, d);
    chart_machine(machine, c->record, rows);
    chart_work(work, rows);
    chart_left_out(left_out, rows, schema_find("op"));
    if (d->others > 0)
        snprintf(others, sizeof others, "not drawn: %zu row%s without a percentage", d->others,
                 d->others == 1 ? "" : "s");
    snprintf(notes, sizeof notes, "medians%s%s%s%s%.500s", cold ? "; hollow: cold caches" : "",
             kernel_dots_noisy(d) ? "; crosses: noisy times, in no finding" : "",
             most > roof ? "; above 100 %: the calibration is too low, or data stayed in a faster cache" : "",
             *left_out ? "; " : "", left_out);
    frame_write(out, &(struct frame){.title = title,
                                     .subtitle = machine,
                                     .axis = "percentage of the calibrated roofline",
                                     .notes = {notes, others, work},
                                     .legend_rows = frame_legend_rows(d->variants, widest),
                                     .height = d->ops * PIXELS + 60});
}

enum chart_result kernel_chart_draw(const struct record *record, const char *prefix, char *message)
{
    struct kernel_chart c = {.record = record, .dots = kernel_dots_of(record_rows(record))};
    const struct figure figures[] = {{"percent", style_percent, write_percent, &c},
                                     {"roofline", style_roofline, roofline_chart_write, &c}};
    enum chart_result result = CHART_SKIPPED;
    if (c.dots.count > 0)
        result = figures_draw(figures, roofline_chart_possible(&c) ? 2 : 1, prefix, message);
    else
        snprintf(message, MESSAGE_SIZE, "charts skipped: no row has a roofline percentage");
    kernel_dots_free(&c.dots);
    return result;
}
