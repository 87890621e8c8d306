#include "analysis/report/plot.h"

#include "analysis/report/html.h"

#include <math.h>

/* In units of the picture, which is scaled to the width of its column. */
static const double width = 520, height = 318, left = 76, right = 508, top = 26, bottom = 270;

static double place_in(const struct scale *s, bool linear, double value)
{
    double share = linear ? (value - s->low) / (s->high - s->low)
                          : (log(value) - log(s->low)) / (log(s->high) - log(s->low));
    return share > 0 ? fmin(share, 1) : 0;
}

double plot_x(const struct plot *p, double x)
{
    return left + (right - left) * place_in(&p->x, p->linear, x);
}

double plot_y(const struct plot *p, double y)
{
    return bottom - (bottom - top) * place_in(&p->y, p->linear, y);
}

void plot_begin(FILE *out, const struct plot *p)
{
    char label[UNITS_TEXT];
    html(out, "<svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n", width,
         height, p->name);
    for (size_t i = 0; i < p->y.count; i++) {
        double y = plot_y(p, p->y.ticks[i]);
        if (*p->unit)
            units_format_short(label, p->y.ticks[i], p->base, p->unit);
        else
            ticks_label(label, p->y.ticks[i]);
        html(
            out,
            "<path class=\"grid\" d=\"M%.1f,%.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" class=\"n\">%s</text>\n",
            left, y, right, left - 8, y + 4, label);
    }
    for (size_t i = 0; i < p->x.count; i++) {
        double x = plot_x(p, p->x.ticks[i]);
        ticks_label(label, p->x.ticks[i]);
        html(
            out,
            "<path class=\"grid\" d=\"M%.1f,%.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" class=\"m\">%s</text>\n",
            x, top, bottom, x, bottom + 18, label);
    }
    html(out,
         "<path class=\"frame\" d=\"M%.1f,%.1fV%.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" class=\"m\">%s</text>"
         "<text x=\"8\" y=\"14\">%s</text>\n",
         left, top, bottom, right, (left + right) / 2, height - 8, p->x_title, p->y_title);
}

void plot_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void plot_begin_point(FILE *out)
{
    fputs("<g class=\"point\"><title>", out);
}

void plot_end_point(FILE *out, const struct plot *p, double x, double y, enum point_look look)
{
    double px = plot_x(p, x), py = plot_y(p, y);
    html(out, "</title><circle class=\"hit\" cx=\"%.1f\" cy=\"%.1f\" r=\"10\"/>", px, py);
    if (look == POINT_CROSSED)
        html(out, "<path class=\"cross\" d=\"M%.1f,%.1fl8,8m0,-8l-8,8\"/></g>\n", px - 4, py - 4);
    else
        html(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>\n",
             look == POINT_HOLLOW ? "hollow" : "filled", px, py);
}
