/*
 * The roofline (Williams, Waterman and Patterson, "Roofline", 2009): GFLOP/s over intensity, with the roof of
 * each level of memory, min(peak, intensity x bandwidth). The names of the ops furthest from their roofline
 * stand at the right, with lines to their default kernels.
 */
#include "analysis/charts/kernel_dots.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/frame.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/statistics/allocate.h"

enum { ROOFS_MAX = 8 };

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
    const char *time = value_text_or(calibration, "time", "");
    int64_t threads = 0;
    size_t n = 0;
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

/* How far a point lies above the others, as seen from a height at the right, both shares of the plot. */
static double rise_of(const struct kernel_dot *dot, const struct view *v, double beside)
{
    double x = log(dot->intensity / v->x0) / log(v->x1 / v->x0),
           y = log(dot->gflops / v->y0) / log(v->y1 / v->y0);
    return (y - beside) / (1.02 - x);
}

/* Names at the right, evenly spaced: each next one is that of the uppermost point that is left, as seen from
 * its place, so that no line from a name to its point crosses another. Returns how many ops have one. */
static size_t write_dot_names(FILE *out, const struct kernel_dots *d, const struct view *v)
{
    const double top = 0.98, apart = 0.033;
    const struct kernel_dot *left[KERNELS_NAMED];
    size_t n = 0;
    for (size_t line = 0; line < d->ops && line < KERNELS_NAMED; line++)
        if ((left[n] = named_dot(d, line)))
            n++;
    fputs("$named << END\n", out);
    for (size_t i = 0; i < n; i++) {
        double beside = top - apart * (double)i;
        size_t next = i;
        for (size_t k = i + 1; k < n; k++)
            if (rise_of(left[k], v, beside) > rise_of(left[next], v, beside))
                next = k;
        const struct kernel_dot *dot = left[next];
        left[next] = left[i];
        left[i] = dot;
        fprintf(out, "%.6g %.6g %.3f\n", dot->intensity, dot->gflops, beside);
    }
    fprintf(out, "END\narray name[%d]\n", KERNELS_NAMED);
    for (size_t i = 0; i < n; i++)
        gnuplot_put_element(out, "name", i + 1, left[i]->op);
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

static void write_roofs(FILE *out, const struct roofs *roofs, const struct view *v, size_t variants)
{
    fprintf(out, "roofs = %zu\n$roofs << END\n", roofs->count);
    for (size_t i = 0; i < roofs->count; i++) {
        double bandwidth = roofs->bandwidth[i], corner = roofs->peak / bandwidth;
        fprintf(out, "%s%.6g %.6g\n%.6g %.6g\n%.6g %.6g\n", i ? "\n\n" : "", v->x0, v->x0 * bandwidth, corner,
                roofs->peak, v->x1, roofs->peak);
    }
    fputs("END\n", out);
    for (size_t i = 0; i < roofs->count; i++) {
        char text[128];
        snprintf(text, sizeof text, "%.60s, %.3g GB/s", roofs->name[i], roofs->bandwidth[i]);
        gnuplot_put_element(out, "label", variants + i + 1, text);
    }
}

static void roofline_notes(char text[CHART_TEXT], const struct kernel_dots *d, size_t named)
{
    size_t drawn = 0;
    snprintf(text, CHART_TEXT, "warm medians; lines: calibrated roofs; named: ");
    for (size_t i = 0; i < d->count; i++)
        drawn += has_place(&d->dots[i]);
    append(text, CHART_TEXT, "the %zu default kernels furthest from their roofline%s", named,
           kernel_dots_noisy(d) ? "; pale: wide range" : "");
    if (drawn < d->count)
        append(text, CHART_TEXT, "; not drawn: %zu of %zu kernels, without FLOPs", d->count - drawn,
               d->count);
}

void roofline_chart_write(FILE *out, const void *what)
{
    const struct kernel_chart *c = what;
    const struct kernel_dots *d = &c->dots;
    struct roofs roofs = roofs_of(c);
    struct view v = view_of(d, &roofs);
    char notes[CHART_TEXT], others[160] = "";
    fprintf(out, "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n", v.x0, v.x1, v.y0, v.y1);
    write_kernels(out, d);
    roofline_notes(notes, d, write_dot_names(out, d, &v));
    if (roofs.kernels < d->count)
        snprintf(others, sizeof others,
                 "roofs: of %zu of the %zu kernels; others had other threads or another state of the machine",
                 roofs.kernels, d->count);
    kernel_dots_write_variants(out, d, d->ops, roofs.count);
    write_roofs(out, &roofs, &v, d->variants);
    frame_write(out, &(struct frame){.title = "Roofline of the kernels: GFLOP/s over FLOP/B",
                                     .axis = "GFLOP/s",
                                     .record = c->record,
                                     .rows = record_rows(c->record),
                                     .notes = {notes, others},
                                     .height = 560});
}
