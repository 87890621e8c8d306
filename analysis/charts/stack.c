#include "analysis/charts/stack.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/text_width.h"
#include "analysis/charts/ticks.h"

#include <math.h>
#include <stdlib.h>

void stack_allocate(struct stack *s, size_t points)
{
    s->points = points;
    s->x = calloc(points + 1, sizeof *s->x);
    s->value = calloc(points + 1, sizeof *s->value);
    if (!s->x || !s->value)
        abort();
}

void stack_free(struct stack *s)
{
    free(s->x);
    free(s->value);
}

static void write_x(FILE *out, const struct stack *s)
{
    double first = s->x[0], last = s->x[s->points - 1], ticks[TICKS_MAX];
    fprintf(out, "set xrange [%.10g:%.10g]\n", first, last > first ? last : first + 1);
    if (!s->logarithmic || !(last > first))
        return;
    size_t n = ticks_at(s->x, s->points, 0.99 * first, 1.01 * last, ticks);
    fputs("set logscale x\nset xtics (", out);
    for (size_t i = 0; i < n; i++) {
        char label[UNITS_TEXT];
        ticks_label(label, ticks[i]);
        gnuplot_put_tick(out, i == 0, label, ticks[i]);
    }
    fputs(")\n", out);
}

static void write_values(FILE *out, const struct stack *s)
{
    fputs("$stack << END\n", out);
    for (size_t i = 0; i < s->points; i++) {
        double sum = 0;
        fprintf(out, "%.10g 0", s->x[i]);
        for (size_t p = 0; p < s->parts; p++)
            fprintf(out, " %.10g", sum += s->value[i][p]);
        putc('\n', out);
    }
    fputs("END\n", out);
}

void stack_write(FILE *out, const void *what)
{
    const struct stack *s = what;
    char machine[CHART_TEXT];
    double widest = 0;
    fprintf(out, "parts = %zu\narray label[%d]\n", s->parts, STACK_PARTS);
    for (size_t p = 0; p < s->parts; p++) {
        fprintf(out, "label[%zu] = ", p + 1);
        gnuplot_put_string(out, s->label[p]);
        putc('\n', out);
        widest = fmax(widest, text_width(s->label[p]));
    }
    fprintf(out, "marks = %d\nmarked = %.10g\n", !isnan(s->marked), isnan(s->marked) ? 0 : s->marked);
    gnuplot_put_text(out, "xtitle", s->x_axis);
    fputs("set format y ", out);
    gnuplot_put_string(out, s->format);
    putc('\n', out);
    write_x(out, s);
    write_values(out, s);
    chart_machine(machine, s->record, s->rows);
    frame_write(out, &(struct frame){.title = s->title,
                                     .subtitle = machine,
                                     .axis = s->axis,
                                     .notes = {s->note, s->work},
                                     .legend_rows = frame_legend_rows(s->parts, widest),
                                     .height = 400});
}
