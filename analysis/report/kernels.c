/* The kernels of a benchmark of ops: their shares of the roofline, a line for each op, and the roofline
 * itself. */
#include "analysis/report/parts.h"

#include "analysis/charts/kernel_chart.h"
#include "analysis/report/html.h"
#include "analysis/report/plot.h"

#include <math.h>

static const double lowest_percent = 0.1;

enum { DOTS_MOST = 1000 }; /* so that the page stays small */

/* The place of a percentage in a strip, in percent of its width; logarithmic. */
static double strip_place(double percent, double most)
{
    double share = log(fmax(percent, lowest_percent) / lowest_percent) / log(most / lowest_percent);
    return 2 + 96 * fmin(share, 1);
}

static void put_strip_dot(FILE *out, const struct part *p, const struct kernel_dot *dot, bool cold,
                          double most)
{
    char name[AXES_TEXT];
    double percent = cold ? dot->cold : dot->percent;
    if (!(percent > 0))
        return;
    part_name_row(p, dot->row, name);
    html(out, "<g class=\"point c%zu\"><title>%s%s: %.3g %% of its roofline", dot->look + 1, name,
         cold ? ", cold caches" : "", percent);
    if (!cold && dot->gflops > 0)
        html(out, ", %.3g GFLOP/s", dot->gflops);
    html(out, "%s</title><circle class=\"%s\" cx=\"%.2f%%\" cy=\"50%%\" r=\"4.5\"/></g>",
         dot->noisy ? "; noisy" : "", cold || dot->noisy ? "hollow" : "filled", strip_place(percent, most));
}

static void put_strip_grid(FILE *out, double most, bool labelled)
{
    for (double tick = lowest_percent; tick <= 100.5; tick *= 10) {
        double x = strip_place(tick, most);
        if (labelled)
            html(out, "<text class=\"m\" x=\"%.2f%%\" y=\"14\">%g %%</text>", x, tick);
        else
            html(out, "<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"100%%\"/>", x, x);
    }
}

static void put_strips(FILE *out, const struct part *p, const struct kernel_dots *d)
{
    double most = 100;
    for (size_t i = 0; i < d->count; i++)
        most = fmax(most, fmax(d->dots[i].percent, d->dots[i].cold)); /* fmax ignores NAN */
    fputs("<table class=\"strips\"><thead><tr><th scope=\"col\">op</th><td><svg class=\"strip\">", out);
    put_strip_grid(out, most, true);
    fputs("</svg></td></tr></thead><tbody>\n", out);
    for (size_t o = 0; o < d->ops; o++) {
        html(out, "<tr><th scope=\"row\">%s</th><td><svg class=\"strip\">", d->op_names[o]);
        put_strip_grid(out, most, false);
        for (size_t i = 0; i < d->count; i++)
            for (int cold = 1; cold >= 0 && d->dots[i].line == o; cold--)
                put_strip_dot(out, p, &d->dots[i], cold, most);
        fputs("</svg></td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

static void put_variants(FILE *out, const struct kernel_dots *d)
{
    fputs("<ul class=\"legend\">", out);
    for (size_t i = 0; i < d->variants; i++)
        html(out, "<li class=\"c%zu\">%s</li>", i + 1, d->variant_names[i]);
    fputs("</ul>\n", out);
}

/* All dots with FLOPs and the roofs. */
static struct plot roofline_plot(const struct kernel_dots *d, const struct roofs *roofs)
{
    struct plot plot = {.name = "GFLOP/s over FLOP/B",
                        .x_title = "intensity, FLOP/B",
                        .y_title = "GFLOP/s",
                        .unit = "",
                        .x = {.low = INFINITY},
                        .y = {.low = INFINITY, .high = roofs->peak}};
    for (size_t i = 0; i < d->count; i++)
        if (d->dots[i].intensity > 0 && d->dots[i].gflops > 0) {
            plot.x.low = fmin(plot.x.low, d->dots[i].intensity);
            plot.x.high = fmax(plot.x.high, d->dots[i].intensity);
            plot.y.low = fmin(plot.y.low, d->dots[i].gflops);
            plot.y.high = fmax(plot.y.high, d->dots[i].gflops);
        }
    for (size_t i = 0; i < roofs->count; i++)
        plot.x.high = fmax(plot.x.high, roofs->peak / roofs->bandwidth[i]); /* where it meets the peak */
    scale_widen(&plot.x, 0, 1.6);
    scale_widen(&plot.y, 0, 1.6);
    plot.x.count = ticks_round(plot.x.low, plot.x.high, UNITS_SI, plot.x.ticks);
    plot.y.count = ticks_round(plot.y.low, plot.y.high, UNITS_SI, plot.y.ticks);
    return plot;
}

static void put_roof(FILE *out, const struct plot *plot, const struct roofs *roofs, size_t i)
{
    double bandwidth = roofs->bandwidth[i], corner = roofs->peak / bandwidth;
    double start = fmax(plot->x.low, plot->y.low / bandwidth);
    html(out, "<g class=\"point\"><title>%s: %.3g GB/s; peak %.3g GFLOP/s</title>", roofs->name[i], bandwidth,
         roofs->peak);
    html(out, "<path class=\"roof\" d=\"M%.1f,%.1fL%.1f,%.1fH%.1f\"/></g>\n", plot_x(plot, start),
         plot_y(plot, start * bandwidth), plot_x(plot, corner), plot_y(plot, roofs->peak),
         plot_x(plot, plot->x.high));
}

static void put_roofline(FILE *out, const struct part *p, const struct kernel_chart *c)
{
    char title[CHART_TEXT], name[AXES_TEXT];
    struct roofs roofs = roofline_roofs(c);
    struct plot plot = roofline_plot(&c->dots, &roofs);
    roofline_title(title, &c->dots, &roofs);
    fputs("<figure class=\"roofline\"><figcaption>", out);
    html_title(out, title);
    fputs("</figcaption>\n", out);
    plot_begin(out, &plot);
    for (size_t i = 0; i < roofs.count; i++)
        put_roof(out, &plot, &roofs, i);
    for (size_t i = 0; i < c->dots.count; i++) {
        const struct kernel_dot *dot = &c->dots.dots[i];
        if (!(dot->intensity > 0 && dot->gflops > 0))
            continue;
        part_name_row(p, dot->row, name);
        html(out, "<g class=\"c%zu\">", dot->look + 1);
        plot_begin_point(out);
        html(out, "%s: %.3g GFLOP/s at %.3g FLOP/B, %.3g %% of its roofline%s", name, dot->gflops,
             dot->intensity, dot->percent, dot->noisy ? "; noisy" : "");
        plot_end_point(out, &plot, dot->intensity, dot->gflops, dot->noisy ? POINT_CROSSED : POINT_FILLED);
        fputs("</g>\n", out);
    }
    plot_end(out);
    put_variants(out, &c->dots);
    fputs("<p class=\"note\">warm medians; lines: calibrated roofs; crosses: noisy times</p></figure>\n",
          out);
}

void part_kernels(FILE *out, const struct part *p)
{
    char title[CHART_TEXT];
    struct kernel_chart c = {.record = p->record, .dots = kernel_dots_of(p->rows)};
    size_t found = c.dots.count;
    c.dots.count = found < DOTS_MOST ? found : DOTS_MOST;
    if (found > 0) {
        percent_title(title, &c.dots);
        fputs("<div class=\"figures\">\n<figure class=\"percent\"><figcaption>", out);
        html_title(out, title);
        fputs("</figcaption>\n", out);
        put_strips(out, p, &c.dots);
        put_variants(out, &c.dots);
        fputs("<p class=\"note\">share of the calibrated roofline, medians; hollow: cold caches, or "
              "noisy</p></figure>\n",
              out);
        if (found > DOTS_MOST)
            html(out, "<p class=\"note\">not drawn: %zu more kernels</p>\n", found - DOTS_MOST);
        if (roofline_chart_possible(&c))
            put_roofline(out, p, &c);
        fputs("</div>\n", out);
    }
    kernel_dots_free(&c.dots);
}
