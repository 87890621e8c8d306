/*
 * The roofline (Williams, Waterman and Patterson, "Roofline", 2009): GFLOP/s over intensity, with the roof of
 * each level of memory, min(peak, intensity x bandwidth). The names of the ops furthest from their roofline
 * stand beside their default kernels.
 */
#include "analysis/charts/kernel_chart.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/text_width.h"
#include "analysis/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AREA_HEIGHT = 560, ROOFS_MAX = 8 };

/* Of the plot itself, in pixels: as in plots/roofline.gp. */
static const double plot_width = CHART_WIDTH * (0.97 - 0.125), plot_height = AREA_HEIGHT - 64;
static const double label_em = 9.5 * 4 / 3.0;

struct roofs {
    double peak;    /* GFLOP/s */
    size_t kernels; /* compared with them */
    size_t count;
    const char *name[ROOFS_MAX];
    double bandwidth[ROOFS_MAX]; /* GB/s */
};

struct view {
    double x0, x1, y0, y1;
};

static bool has_place(const struct kernel_dot *dot)
{
    return dot->intensity > 0 && dot->gflops > 0;
}

/* The highest bandwidth of each level that was measured. */
static void read_levels(const struct value *calibration, struct roofs *roofs)
{
    static const char *const loops[] = {"read", "write", "update", "triad"};
    for (struct walk w = value_walk(value_get(calibration, "bandwidth")); walk_next(&w);) {
        double best = 0, rate;
        for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
            if (value_get_real(w.value, loops[i], &rate))
                best = fmax(best, rate);
        if (best > 0 && w.key && roofs->count < ROOFS_MAX) {
            roofs->name[roofs->count] = w.key;
            roofs->bandwidth[roofs->count++] = best;
        }
    }
}

/* The number of kernels that were compared with a calibration; in older records those with its threads. */
static size_t kernels_under(const struct kernel_dots *d, const struct value *calibration)
{
    const char *time = "";
    int64_t threads = 0;
    size_t n = 0;
    value_get_text(calibration, "time", &time);
    value_get_count(calibration, "threads", &threads);
    for (size_t i = 0; i < d->count; i++) {
        const struct row *row = d->dots[i].row;
        const char *wanted = row->kernel.roofline.calibrated;
        n += row->threads == threads && (!wanted || strcmp(wanted, time) == 0);
    }
    return n;
}

/* The roofs of the calibration with which most kernels were compared; those of other states may differ. */
static struct roofs roofs_of(const struct kernel_chart *c)
{
    struct roofs best = {0};
    for (struct walk w = value_walk(value_get(record_head(c->record), "calibrations")); walk_next(&w);) {
        struct roofs roofs = {.kernels = kernels_under(&c->dots, w.value)};
        if (roofs.kernels <= best.kernels || !value_get_real(w.value, "peak", &roofs.peak))
            continue;
        read_levels(w.value, &roofs);
        best = roofs;
    }
    return best;
}

bool roofline_chart_possible(const struct kernel_chart *c)
{
    bool any = false;
    for (size_t i = 0; i < c->dots.count; i++)
        any = any || has_place(&c->dots.dots[i]);
    return any && roofs_of(c).count > 0;
}

/* All points, and the whole of the highest roof's slope as far as there are points. */
static struct view view_of(const struct kernel_dots *d, const struct roofs *roofs)
{
    struct view v = {INFINITY, 0, INFINITY, roofs->peak};
    for (size_t i = 0; i < d->count; i++)
        if (has_place(&d->dots[i])) {
            v.x0 = fmin(v.x0, d->dots[i].intensity);
            v.x1 = fmax(v.x1, d->dots[i].intensity);
            v.y0 = fmin(v.y0, d->dots[i].gflops);
            v.y1 = fmax(v.y1, d->dots[i].gflops);
        }
    for (size_t i = 0; i < roofs->count; i++)
        v.x1 = fmax(v.x1, roofs->peak / roofs->bandwidth[i]); /* where it meets the peak */
    return (struct view){v.x0 / 1.6, v.x1 * 1.6, v.y0 / 1.6, v.y1 * 2};
}

/* A label's centre in pixels from the lower left corner. */
struct place {
    double x, y, half_width;
};

static double overlap(const struct place *a, double x, double y, double half_width, double half_height)
{
    double w = a->half_width + half_width - fabs(a->x - x), h = 7 + half_height - fabs(a->y - y);
    return w > 0 && h > 0 ? w * h : 0;
}

/* What a label would cover: earlier labels and all points. */
static double covered(const struct place *p, const struct place *labels, size_t n, const struct place *points,
                      size_t points_count)
{
    double area = 0;
    for (size_t i = 0; i < n; i++)
        area += 2 * overlap(p, labels[i].x, labels[i].y, labels[i].half_width, 7);
    for (size_t i = 0; i < points_count; i++)
        area += overlap(p, points[i].x, points[i].y, 5, 5);
    return area;
}

/* The place around a point that covers least; nearer places first. */
static struct place place_label(struct place point, double half_width, const struct place *labels, size_t n,
                                const struct place *points, size_t points_count)
{
    static const double around[][2] = {{0, 1},  {1, 0},   {-1, 0}, {0.8, 0.8}, {-0.8, 0.8}, {0, -1},
                                       {1, -1}, {-1, -1}, {0, 2},  {1, 2},     {-1, 2},     {2, 0},
                                       {-2, 0}, {0, 3},   {2, 2},  {-2, 2},    {0, 4},      {1, 4}};
    struct place best = point;
    double least_area = INFINITY;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        struct place p = {point.x + around[i][0] * (half_width + 8), point.y + around[i][1] * 15, half_width};
        double area = covered(&p, labels, n, points, points_count) + 0.01 * (double)i;
        if (p.x - half_width < 0 || p.x + half_width > plot_width || p.y > plot_height - 8 || p.y < 8)
            continue;
        if (area < least_area) {
            least_area = area;
            best = p;
        }
    }
    return best;
}

static struct place pixels_of(const struct view *v, double x, double y)
{
    return (struct place){plot_width * log(x / v->x0) / log(v->x1 / v->x0),
                          plot_height * log(y / v->y0) / log(v->y1 / v->y0), 0};
}

/* The default kernel of an op that is furthest from the roofline; null: none has a place. */
static const struct kernel_dot *named_dot(const struct kernel_dots *d, size_t line)
{
    const struct kernel_dot *found = NULL;
    for (size_t i = 0; i < d->count; i++) {
        const struct kernel_dot *dot = &d->dots[i];
        if (dot->line == line && dot->standard && has_place(dot) && (!found || dot->percent < found->percent))
            found = dot;
    }
    return found;
}

static double x_at(const struct view *v, double pixels)
{
    return v->x0 * pow(v->x1 / v->x0, pixels / plot_width);
}

static double y_at(const struct view *v, double pixels)
{
    return v->y0 * pow(v->y1 / v->y0, pixels / plot_height);
}

/* Names, and lines to the points that they are of, up to their edges. */
static void put_labels(FILE *out, const struct view *v, const struct kernel_dot *const *dots,
                       const struct place *labels, size_t n)
{
    fputs("$labels << END\n", out);
    for (size_t i = 0; i < n; i++)
        gnuplot_put_label(out, x_at(v, labels[i].x), y_at(v, labels[i].y), "%s", dots[i]->op);
    fputs("END\n$leaders << END\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct place *l = &labels[i];
        struct place at = pixels_of(v, dots[i]->intensity, dots[i]->gflops);
        double x = fmin(fmax(at.x, l->x - l->half_width), l->x + l->half_width);
        double y = fmin(fmax(at.y, l->y - 7), l->y + 7);
        fprintf(out, "%.6g %.6g\n%.6g %.6g\n\n", dots[i]->intensity, dots[i]->gflops, x_at(v, x), y_at(v, y));
    }
    fputs("END\n", out);
}

/* Returns how many ops have a name. */
static size_t write_labels(FILE *out, const struct kernel_dots *d, const struct view *v)
{
    const struct kernel_dot *named[KERNELS_NAMED];
    struct place labels[KERNELS_NAMED], *points = calloc(d->count + 1, sizeof *points);
    size_t count = 0, n = 0;
    if (!points)
        abort();
    for (size_t i = 0; i < d->count; i++)
        if (has_place(&d->dots[i]))
            points[count++] = pixels_of(v, d->dots[i].intensity, d->dots[i].gflops);
    for (size_t line = 0; line < d->ops && line < KERNELS_NAMED; line++)
        if ((named[n] = named_dot(d, line))) {
            labels[n] = place_label(pixels_of(v, named[n]->intensity, named[n]->gflops),
                                    0.5 * text_width(named[n]->op) * label_em, labels, n, points, count);
            n++;
        }
    free(points);
    put_labels(out, v, named, labels, n);
    return n;
}

static void write_kernels(FILE *out, const struct kernel_dots *d)
{
    fputs("$points << END\n", out);
    for (size_t i = 0; i < d->count; i++)
        if (has_place(&d->dots[i]))
            fprintf(out, "%.6g %.6g %zu %d\n", d->dots[i].intensity, d->dots[i].gflops, d->dots[i].look + 1,
                    d->dots[i].noisy);
    fputs("END\nhints = 1\n$hints << END\n", out);
    for (size_t i = 0; i < d->count; i++)
        if (has_place(&d->dots[i]))
            kernel_dot_put_hint(out, &d->dots[i], d->dots[i].intensity, d->dots[i].gflops);
    fputs("END\n", out);
}

/* Returns the widest entry of the legend, in em. */
static double write_roofs(FILE *out, const struct roofs *roofs, const struct view *v)
{
    double widest = 0;
    fprintf(out, "roofs = %zu\narray roof[%zu]\n$roofs << END\n", roofs->count, roofs->count);
    for (size_t i = 0; i < roofs->count; i++) {
        double bandwidth = roofs->bandwidth[i], corner = roofs->peak / bandwidth;
        fprintf(out, "%s%.6g %.6g\n%.6g %.6g\n%.6g %.6g\n", i ? "\n\n" : "", v->x0, v->x0 * bandwidth, corner,
                roofs->peak, v->x1, roofs->peak);
    }
    fputs("END\n", out);
    for (size_t i = 0; i < roofs->count; i++) {
        char text[128];
        snprintf(text, sizeof text, "%.60s, %.3g GB/s", roofs->name[i], roofs->bandwidth[i]);
        fprintf(out, "roof[%zu] = ", i + 1);
        gnuplot_put_string(out, text);
        putc('\n', out);
        widest = fmax(widest, text_width(text));
    }
    return widest;
}

/* What marks and names mean, and what is not drawn. */
static void roofline_notes(char text[CHART_TEXT], const struct kernel_dots *d, size_t named)
{
    size_t drawn = 0;
    int used = snprintf(text, CHART_TEXT, "warm medians; lines: calibrated roofs; named: ");
    for (size_t i = 0; i < d->count; i++)
        drawn += has_place(&d->dots[i]);
    used += snprintf(text + used, CHART_TEXT - (size_t)used,
                     "the %zu default kernels furthest from their roofline%s", named,
                     kernel_dots_noisy(d) ? "; crosses: inconclusive" : "");
    if (drawn < d->count)
        snprintf(text + used, CHART_TEXT - (size_t)used, "; not drawn: %zu of %zu kernels, without FLOPs",
                 d->count - drawn, d->count);
}

void roofline_chart_write(FILE *out, const void *what)
{
    const struct kernel_chart *c = what;
    const struct kernel_dots *d = &c->dots;
    const struct rows *rows = record_rows(c->record);
    struct roofs roofs = roofs_of(c);
    struct view v = view_of(d, &roofs);
    char machine[CHART_TEXT], work[CHART_TEXT], notes[CHART_TEXT], others[160] = "";
    fprintf(out, "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n", v.x0, v.x1, v.y0, v.y1);
    write_kernels(out, d);
    roofline_notes(notes, d, write_labels(out, d, &v));
    if (roofs.kernels < d->count)
        snprintf(others, sizeof others,
                 "roofs: of %zu of the %zu kernels; others had other threads or another state of the machine",
                 roofs.kernels, d->count);
    double widest = fmax(write_roofs(out, &roofs, &v), kernel_dots_write_variants(out, d, d->ops));
    chart_machine(machine, c->record, rows);
    chart_work(work, rows);
    frame_write(out, &(struct frame){.title = "Roofline of the kernels: GFLOP/s over FLOP/B",
                                     .subtitle = machine,
                                     .axis = "GFLOP/s",
                                     .notes = {notes, others, work},
                                     .legend_rows = frame_legend_rows(d->variants + roofs.count, widest),
                                     .height = AREA_HEIGHT});
}
