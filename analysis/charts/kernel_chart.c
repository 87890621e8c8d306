/*
 * A dot plot (Cleveland and McGill, "Graphical perception", JASA 79, 1984) on a logarithmic scale: positions
 * along a common scale are compared most accurately, and ops without FLOPs can be shown too.
 */
#include "analysis/charts/kernel_chart.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/figure.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/record/record.h"
#include "analysis/statistics/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 128, VARIANTS_MAX = 8 };

/* Names in order of first appearance. */
struct names {
    size_t count, most;
    const char *list[NAMES_MAX];
};

struct kernel_chart {
    const struct record *record;
    const struct rows *rows;
    struct names ops, variants;
};

/* The index of a name, added if new; `most` if full. */
static size_t index_of(struct names *n, const char *name)
{
    size_t i = 0;
    while (i < n->count && strcmp(n->list[i], name) != 0)
        i++;
    if (i == n->count && n->count < n->most)
        n->list[n->count++] = name;
    return i;
}

static bool roofline_percent(const struct row *row, const char *path, double *percent)
{
    return row_is_ok(row) && row_get_real(row, path, percent) && *percent > 0;
}

/* The median over ops of the percentage of the first variant, the default. */
static double median_of_defaults(const struct kernel_chart *c)
{
    double reached[NAMES_MAX], percent;
    size_t n = 0;
    for (size_t o = 0; o < c->ops.count; o++)
        for (size_t i = 0; i < rows_count(c->rows); i++) {
            const struct row *row = rows_at(c->rows, i);
            const char *op;
            if (row_get_text(row, "op", &op) && strcmp(op, c->ops.list[o]) == 0 &&
                roofline_percent(row, "kernel.roofline.percent", &percent)) {
                reached[n++] = percent;
                break;
            }
        }
    qsort(reached, n, sizeof *reached, compare_doubles);
    return n ? (reached[n / 2] + reached[(n - 1) / 2]) / 2 : NAN;
}

static void write_points(FILE *out, struct kernel_chart *c, const char *block, const char *path)
{
    int count = 0;
    fprintf(out, "$%s << END\n", block);
    for (size_t i = 0; i < rows_count(c->rows); i++) {
        const struct row *row = rows_at(c->rows, i);
        const char *op, *variant;
        double percent;
        if (!row_get_text(row, "op", &op) || !row_get_text(row, "variant", &variant) ||
            !roofline_percent(row, path, &percent))
            continue;
        size_t line = index_of(&c->ops, op), look = index_of(&c->variants, variant);
        if (line < NAMES_MAX && look < VARIANTS_MAX)
            count += fprintf(out, "%.6g %zu %zu\n", percent, line, look + 1) > 0;
    }
    fprintf(out, "END\n%s = %d\n", block, count);
}

static void write_names(FILE *out, const struct kernel_chart *c)
{
    fprintf(out, "ops = %zu\nset ytics (", c->ops.count);
    for (size_t i = 0; i < c->ops.count; i++) {
        fputs(i ? ", " : "", out);
        gnuplot_put_string(out, c->ops.list[i]);
        fprintf(out, " %zu", i);
    }
    fprintf(out, ")\nvariants = %zu\narray label[%zu]\n", c->variants.count, c->variants.count);
    for (size_t i = 0; i < c->variants.count; i++) {
        fprintf(out, "label[%zu] = ", i + 1);
        gnuplot_put_string(out, c->variants.list[i]);
        putc('\n', out);
    }
}

static void write_chart(FILE *out, const void *what)
{
    struct kernel_chart c = *(const struct kernel_chart *)what;
    char text[CHART_TEXT];
    write_points(out, &c, "warm", "kernel.roofline.percent");
    write_points(out, &c, "cold", "kernel.cold.percent");
    write_names(out, &c);
    snprintf(text, sizeof text, "Half of the default kernels reach %.0f %% of the roofline or more",
             median_of_defaults(&c));
    gnuplot_put_text(out, "title", text);
    chart_machine(text, c.record, c.rows);
    gnuplot_put_text(out, "subtitle", text);
    chart_work(text, c.rows);
    gnuplot_put_text(out, "work", text);
}

enum chart_result kernel_chart_draw(const struct record *record, const char *plots_dir, const char *prefix,
                                    char *message)
{
    static const struct figure figure = {"roofline", "roofline.gp", write_chart};
    struct kernel_chart c = {
        .record = record, .rows = record_rows(record), .ops.most = NAMES_MAX, .variants.most = VARIANTS_MAX};
    double percent;
    bool any = false;
    for (size_t i = 0; i < rows_count(c.rows); i++)
        any = any || roofline_percent(rows_at(c.rows, i), "kernel.roofline.percent", &percent);
    if (any)
        return figure_draw(&figure, &c, plots_dir, prefix, message);
    snprintf(message, MESSAGE_SIZE, "charts skipped: no row has a roofline percentage");
    return CHART_SKIPPED;
}
