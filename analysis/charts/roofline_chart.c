/*
 * The roofline (Williams, Waterman and Patterson, "Roofline", 2009): GFLOP/s over intensity, with the roof of
 * each level of memory, min(peak, intensity x bandwidth). All kernels of an op have the same intensity, so a
 * vertical line joins them, and its number stands beside the fastest.
 */
#include "analysis/charts/kernel_chart.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/text_width.h"
#include "analysis/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AREA_HEIGHT = 560 };

/* Of the plot itself, in pixels: as in plots/roofline.gp. */
static const double plot_width = CHART_WIDTH * (0.97 - 0.125), plot_height = AREA_HEIGHT - 64;

struct view {
    double x0, x1, y0, y1;
};

/* An op at one intensity. */
struct stem {
    const struct kernel_dot *best;
    double low; /* GFLOP/s of the slowest kernel */
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

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
    const char *time = "", *wanted;
    int64_t threads = 0, own = -1;
    size_t n = 0;
    value_get_text(calibration, "time", &time);
    value_get_count(calibration, "threads", &threads);
    for (size_t i = 0; i < d->count; i++) {
        const struct row *row = d->dots[i].row;
        bool told = row_get_text(row, "kernel.roofline.calibrated", &wanted);
        n += row_get_count(row, "threads", &own) && own == threads && (!told || strcmp(wanted, time) == 0);
    }
    return n;
}

struct roofs roofline_roofs(const struct kernel_chart *c)
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
    return any && roofline_roofs(c).count > 0;
}

static int by_intensity(const void *a, const void *b)
{
    const struct stem *x = a, *y = b;
    double p = x->best->intensity, q = y->best->intensity;
    return p != q ? (p > q) - (p < q) : (x->best->line > y->best->line) - (x->best->line < y->best->line);
}

/* The stems from left to right; to be freed. */
static struct stem *stems_of(const struct kernel_dots *d, size_t *count)
{
    struct stem *stems = calloc(d->count, sizeof *stems);
    if (!stems)
        abort();
    *count = 0;
    for (size_t i = 0; i < d->count; i++) {
        const struct kernel_dot *dot = &d->dots[i];
        size_t k = 0;
        if (!has_place(dot))
            continue;
        while (k < *count && (stems[k].best->line != dot->line || stems[k].best->intensity != dot->intensity))
            k++;
        if (k == *count)
            stems[(*count)++] = (struct stem){dot, dot->gflops};
        stems[k].low = least(stems[k].low, dot->gflops);
        stems[k].best = dot->gflops > stems[k].best->gflops ? dot : stems[k].best;
    }
    qsort(stems, *count, sizeof *stems, by_intensity);
    return stems;
}

/* All points, and the whole of the highest roof's slope as far as there are points. */
static struct view view_of(const struct kernel_dots *d, const struct roofs *roofs)
{
    struct view v = {INFINITY, 0, INFINITY, roofs->peak};
    for (size_t i = 0; i < d->count; i++)
        if (has_place(&d->dots[i])) {
            v.x0 = least(v.x0, d->dots[i].intensity);
            v.x1 = fmax(v.x1, d->dots[i].intensity);
            v.y0 = least(v.y0, d->dots[i].gflops);
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

/* Numbers of the ops beside their fastest kernels. number[op]: 0 for ops without a place. */
static void write_labels(FILE *out, const struct kernel_dots *d, const struct view *v,
                         const struct stem *stems, size_t n, const size_t *number)
{
    struct place *labels = calloc(n + d->count + 1, sizeof *labels), *points = labels + n;
    size_t count = 0;
    if (!labels)
        abort();
    for (size_t i = 0; i < d->count; i++)
        if (has_place(&d->dots[i]))
            points[count++] = pixels_of(v, d->dots[i].intensity, d->dots[i].gflops);
    fputs("$labels << END\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct kernel_dot *best = stems[i].best;
        char text[32];
        snprintf(text, sizeof text, "%zu", number[best->line]);
        labels[i] = place_label(pixels_of(v, best->intensity, best->gflops), 4.6 * (double)strlen(text),
                                labels, i, points, count);
        fprintf(out, "%.6g %.6g \"%s\"\n", v->x0 * pow(v->x1 / v->x0, labels[i].x / plot_width),
                v->y0 * pow(v->y1 / v->y0, labels[i].y / plot_height), text);
    }
    fputs("END\n", out);
    free(labels);
}

static void write_kernels(FILE *out, const struct kernel_dots *d, const struct stem *stems, size_t n)
{
    fputs("$points << END\n", out);
    for (size_t i = 0; i < d->count; i++)
        if (has_place(&d->dots[i]))
            fprintf(out, "%.6g %.6g %zu %d\n", d->dots[i].intensity, d->dots[i].gflops, d->dots[i].look + 1,
                    d->dots[i].noisy);
    fputs("END\n$stems << END\n", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%.6g %.6g 0 %.6g\n", stems[i].best->intensity, stems[i].low,
                stems[i].best->gflops - stems[i].low);
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

/* The numbers of the ops, and those without a place. */
static void list_ops(char text[CHART_TEXT], char without[CHART_TEXT], const struct kernel_dots *d,
                     const size_t *number)
{
    size_t used = 0;
    text[0] = without[0] = '\0';
    for (size_t k = 1; k <= d->ops; k++)
        for (size_t o = 0; o < d->ops; o++)
            if (number[o] == k && used < CHART_TEXT)
                used += (size_t)snprintf(text + used, CHART_TEXT - used, "%s%zu\u00a0%s", used ? ", " : "", k,
                                         d->op_names[o]);
    used = 0;
    for (size_t o = 0; o < d->ops; o++)
        if (number[o] == 0 && used < CHART_TEXT)
            used += (size_t)snprintf(without + used, CHART_TEXT - used, "%s%s",
                                     used ? ", " : "not drawn, because they have no FLOPs: ", d->op_names[o]);
}

void roofline_title(char text[CHART_TEXT], const struct kernel_dots *d, const struct roofs *roofs)
{
    const struct kernel_dot *fastest = NULL;
    char op[2 * AXES_TEXT], variant[2 * AXES_TEXT];
    size_t memory = 0, ops = 0, last = d->ops;
    for (size_t i = 0; i < d->count; i++) {
        const struct kernel_dot *dot = &d->dots[i];
        const char *bound = "";
        if (!has_place(dot))
            continue;
        if (!dot->noisy && (!fastest || dot->gflops > fastest->gflops))
            fastest = dot;
        if (dot->line != last && row_get_text(dot->row, "kernel.roofline.bound", &bound)) {
            ops++; /* at one size, the first kernel: minimum bytes do not depend on the kernel */
            memory += strcmp(bound, "memory") == 0;
        }
        last = dot->line;
    }
    int used = 0;
    if (fastest) {
        gnuplot_escape(op, sizeof op, fastest->op);
        gnuplot_escape(variant, sizeof variant, fastest->variant);
        used = snprintf(text, CHART_TEXT, "The fastest kernel reaches %.3g of %.3g GFLOP/s (%s, %s); ",
                        fastest->gflops, roofs->peak, op, variant);
    }
    snprintf(text + used, CHART_TEXT - (size_t)used, "memory bounds %zu of the %zu ops with FLOPs", memory,
             ops);
}

static void list_marks(char text[CHART_TEXT], const struct kernel_dots *d, const struct roofs *roofs)
{
    bool noisy = kernel_dots_noisy(d), others = roofs->kernels < d->count;
    int used = snprintf(text, CHART_TEXT, "%s%s", noisy ? "crosses: noisy times, in no finding" : "",
                        noisy && others ? "; " : "");
    if (others)
        snprintf(text + used, CHART_TEXT - (size_t)used,
                 "roofs: of %zu of the %zu kernels; others had other threads or another state of the machine",
                 roofs->kernels, d->count);
}

void roofline_chart_write(FILE *out, const void *what)
{
    const struct kernel_chart *c = what;
    const struct kernel_dots *d = &c->dots;
    const struct rows *rows = record_rows(c->record);
    struct roofs roofs = roofline_roofs(c);
    struct view v = view_of(d, &roofs);
    char title[CHART_TEXT], machine[CHART_TEXT], work[CHART_TEXT], ops[CHART_TEXT], without[CHART_TEXT],
        marks[CHART_TEXT];
    size_t n, *number = calloc(d->ops + 1, sizeof *number), next = 0;
    struct stem *stems = stems_of(d, &n);
    if (!number)
        abort();
    for (size_t i = 0; i < n; i++)
        if (!number[stems[i].best->line])
            number[stems[i].best->line] = ++next;
    fprintf(out, "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n", v.x0, v.x1, v.y0, v.y1);
    write_kernels(out, d, stems, n);
    write_labels(out, d, &v, stems, n, number);
    double widest = fmax(write_roofs(out, &roofs, &v), kernel_dots_write_variants(out, d));
    roofline_title(title, d, &roofs);
    chart_machine(machine, c->record, rows);
    chart_work(work, rows);
    list_ops(ops, without, d, number);
    list_marks(marks, d, &roofs);
    frame_write(out, &(struct frame){.title = title,
                                     .subtitle = machine,
                                     .axis = "GFLOP/s, warm medians; lines: calibrated roofs",
                                     .notes = {ops, without, marks, work},
                                     .legend_rows = frame_legend_rows(d->variants + roofs.count, widest),
                                     .height = AREA_HEIGHT});
    free(stems);
    free(number);
}
