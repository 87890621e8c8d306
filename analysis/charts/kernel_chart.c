/*
 * A dot plot (Cleveland and McGill, "Graphical perception", JASA 79, 1984) on a logarithmic scale: positions
 * along a common scale are compared most accurately, and ops without FLOPs can be shown too.
 */
#include "analysis/charts/kernel_dots.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/frame.h"
#include "analysis/charts/gnuplot.h"

static const double lowest = 0.1, roof = 100;

static bool is_drawn(const struct kernel_dot *dot, double percent)
{
    return dot->line < KERNELS_NAMED && percent > 0;
}

static size_t write_percentages(FILE *out, const struct kernel_dots *d, bool cold)
{
    size_t count = 0;
    fprintf(out, "$%s << END\n", cold ? "cold" : "warm");
    for (size_t i = 0; i < d->count; i++) {
        const struct kernel_dot *dot = &d->dots[i];
        double percent = cold ? dot->cold : dot->percent;
        if (is_drawn(dot, percent) && ++count)
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
            bool below = percent < lowest;
            if (!is_drawn(dot, percent) || (!below && !(percent > roof)))
                continue;
            most = fmax(most, percent);
            count++;
            fprintf(out, "%.6g %zu \"%s%.*g %%\"\n", fmax(percent, lowest), dot->line, below ? "← " : "",
                    below ? 1 : 3, percent);
        }
    fprintf(out, "END\noutside = %zu\n", count);
    return most;
}

static void write_kernel_hints(FILE *out, const struct kernel_dots *d)
{
    fputs("hints = 1\n$hints << END\n", out);
    for (size_t i = 0; i < d->count; i++)
        if (is_drawn(&d->dots[i], d->dots[i].percent))
            kernel_dot_put_hint(out, &d->dots[i], fmax(d->dots[i].percent, lowest), (double)d->dots[i].line);
    fputs("END\n", out);
}

static void write_percent(FILE *out, const void *what)
{
    enum { PIXELS = 26 };
    const struct kernel_chart *c = what;
    const struct kernel_dots *d = &c->dots;
    const struct rows *rows = record_rows(c->record);
    char title[128] = "Kernels and the percentage of their roofline that they reach", notes[CHART_TEXT],
         left_out[CHART_TEXT], others[64] = "";
    size_t ops = d->ops < KERNELS_NAMED ? d->ops : KERNELS_NAMED;
    write_percentages(out, d, false);
    bool cold = write_percentages(out, d, true) > 0;
    double most = write_outside(out, d);
    kernel_dots_write_variants(out, d, ops, 0);
    write_kernel_hints(out, d);
    fprintf(out, "highest = %.6g\nops = %zu\nset ytics (", most, ops);
    for (size_t i = 0; i < ops; i++)
        gnuplot_put_tick(out, i == 0, d->op_names[i], (double)i);
    fputs(")\n", out);
    if (ops < d->ops)
        snprintf(title, sizeof title,
                 "The %zu of %zu ops whose default kernels are furthest from their roofline", ops, d->ops);
    chart_left_out(left_out, rows, schema_find("op"), false);
    if (d->others > 0)
        snprintf(others, sizeof others, "not drawn: %zu row%s without a percentage", d->others,
                 d->others == 1 ? "" : "s");
    snprintf(notes, sizeof notes, "medians%s%s%s%s%.500s", cold ? "; hollow: cold caches" : "",
             kernel_dots_noisy(d) ? "; pale: wide range" : "",
             most > roof ? "; above 100 %: the calibration is too low, or data stayed in a faster cache" : "",
             *left_out ? "; " : "", left_out);
    frame_write(out, &(struct frame){.title = title,
                                     .axis = "percentage of the calibrated roofline",
                                     .record = c->record,
                                     .rows = rows,
                                     .notes = {notes, others},
                                     .height = ops * PIXELS + 60});
}

void kernel_chart_add(struct figures *f, const struct record *record, const struct field *axis)
{
    (void)axis;
    struct kernel_chart c = {.record = record, .dots = kernel_dots_of(record_rows(record))};
    if (c.dots.count > 0)
        figures_add(f, "percent", style_percent, write_percent, &c);
    if (roofline_chart_possible(&c))
        figures_add(f, "roofline", style_roofline, roofline_chart_write, &c);
    kernel_dots_free(&c.dots);
}
