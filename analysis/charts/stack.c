#include "analysis/charts/stack.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/statistics/allocate.h"

void stack_allocate(struct stack *s, size_t points)
{
    s->points = points;
    s->x = allocate(points + 1, sizeof *s->x);
    s->value = allocate(points + 1, sizeof *s->value);
}

void stack_free(struct stack *s)
{
    free(s->x);
    free(s->value);
}

static void write_values(FILE *out, const struct stack *s)
{
    fputs("$points << END\n", out);
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
    fprintf(out, "array label[%zu]\n", s->parts);
    for (size_t p = 0; p < s->parts; p++)
        gnuplot_put_element(out, "label", p + 1, s->label[p] ? s->label[p] : "");
    fprintf(out, "marked = %.10g\nturn = %.10g\nlogarithmic = %d\nbinary = %d\n", s->marked, s->turn,
            s->logarithmic, s->base == UNITS_BINARY);
    gnuplot_put_text(out, "unit", s->unit);
    gnuplot_put_text(out, "xtitle", s->x_axis);
    write_values(out, s);
    frame_write(out, &(struct frame){.title = s->title,
                                     .axis = s->axis,
                                     .record = s->record,
                                     .rows = s->rows,
                                     .notes = {s->notes[0], s->notes[1]},
                                     .height = 400});
}
