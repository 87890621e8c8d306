#include "analysis/compare/crossing.h"

#include "analysis/statistics/allocate.h"

/* The crossings that are drawn, all over the axis of the first. */
struct crossing_chart {
    size_t count;
    const struct crossing *list[LINES_MAX];
    char label[LINES_MAX][2 * AXES_TEXT + 64];
    struct quantity quantities[LINES_MAX];
    struct chart_data data;
};

static void choose(struct crossing_chart *c, const struct crossings *all, bool every)
{
    for (size_t i = 0; i < all->count && c->count < LINES_MAX; i++) {
        const struct crossing *one = &all->list[i];
        if ((every || one->kind == CROSSING_FOUND) && (c->count == 0 || one->axis == c->list[0]->axis))
            c->list[c->count++] = one;
    }
}

/* "step: sparse attention / dense attention: 1 at about 812 nodes" */
static void set_label(struct crossing_chart *c, size_t i)
{
    const struct crossing *one = c->list[i];
    char *label = c->label[i];
    char value[32], at[AXES_TEXT];
    snprintf(value, sizeof value, "%.3g", one->at);
    axes_describe_value(one->axis, value, at);
    snprintf(label, sizeof c->label[i], "%s: %s / %s", program_name(one->program[0]), one->name[1],
             one->name[0]);
    if (one->kind == CROSSING_FOUND)
        append(label, sizeof c->label[i], ": 1 at about %.100s", at);
    c->quantities[i] = (struct quantity){.label = label, .subject = label, .kind = SERIES_RATE};
}

static struct series series_of(const struct crossing *c, const struct quantity *q)
{
    struct series s = {.quantity = q, .points = allocate(c->count, sizeof *s.points)};
    snprintf(s.group, sizeof s.group, "%s", c->group);
    for (size_t i = 0; i < c->count; i++) {
        const struct verdict *v = &c->points[i].verdict;
        bool known = isfinite(v->low) && isfinite(v->high);
        if (isfinite(v->ratio))
            s.points[s.count++] = (struct point){
                .at = {c->points[i].x, v->ratio, known ? v->low : v->ratio, known ? v->high : v->ratio},
                .noisy = !known};
    }
    return s;
}

/* The line at 1, a band over the interval of each crossing, and the lines. */
static void write_chart(FILE *out, const void *what)
{
    const struct crossing_chart *c = what;
    fputs("set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#555555' linewidth "
          "1.4\n",
          out);
    for (size_t i = 0; i < c->count; i++)
        if (c->list[i]->kind == CROSSING_FOUND)
            fprintf(out,
                    "set object %zu rectangle from first %.15g, graph 0 to first %.15g, graph 1 behind "
                    "fillcolor rgb '#f3e6df' fillstyle solid noborder\n",
                    i + 1, c->list[i]->low, c->list[i]->high);
    chart_write_lines(out, &c->data);
}

void crossing_chart_draw(struct figures *f, const char *name, const struct crossings *all, bool every,
                         const struct drawing *d)
{
    struct crossing_chart c = {0};
    struct series series[LINES_MAX];
    struct drawing drawing = *d;
    choose(&c, all, every);
    const struct chart chart = {.axis = "time over time",
                                .base = UNITS_SI,
                                .unit = "",
                                .title = every ? "Time of one file over time of another"
                                               : "Time of one variant over time of another",
                                .note = "ratios of medians, with their intervals; band: the interval of the "
                                        "crossing",
                                .count = 1,
                                .quantities = {{.path = "", .kind = SERIES_RATE}}};
    drawing.axis = c.count > 0 ? c.list[0]->axis : NULL;
    for (size_t i = 0; i < c.count; i++) {
        set_label(&c, i);
        series[i] = series_of(c.list[i], &c.quantities[i]);
    }
    c.data = (struct chart_data){&chart, &drawing, {c.count, series}, ""};
    if (c.count > 0)
        figures_add(f, name, style_scaling, write_chart, &c);
    for (size_t i = 0; i < c.count; i++)
        free(series[i].points);
}

void crossing_chart_add(struct figures *f, const struct record *record, const struct field *axis)
{
    (void)axis;
    struct crossings all = crossings_find(record_rows(record));
    const struct drawing drawing = {.rows = record_rows(record), .record = record};
    crossing_chart_draw(f, "crossover", &all, false, &drawing);
    crossings_free(&all);
}
