#include "analysis/charts/kernel_dots.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/statistics/allocate.h"

/* The index of a name, added if new; `most` if full. */
static size_t index_of(const char **names, size_t *count, size_t most, const char *name)
{
    size_t i = 0;
    while (i < *count && strcmp(names[i], name) != 0)
        i++;
    if (i == *count && *count < most)
        names[(*count)++] = name;
    return i;
}

struct ranked {
    const char *name; /* null: no dot of it was seen */
    size_t look;      /* of its default variant */
    double least;     /* percent that this variant reaches */
};

static int by_percent(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->least != y->least ? (x->least > y->least) - (x->least < y->least) : strcmp(x->name, y->name);
}

static void rank_ops(struct kernel_dots *d)
{
    struct ranked *ops = allocate(d->ops + 1, sizeof *ops);
    for (size_t i = 0; i < d->count; i++) {
        struct kernel_dot *dot = &d->dots[i];
        struct ranked *op = &ops[dot->line];
        if (!op->name)
            *op = (struct ranked){dot->op, dot->look, dot->percent};
        dot->standard = dot->look == op->look;
        op->least = dot->standard ? fmin(op->least, dot->percent) : op->least;
    }
    qsort(ops, d->ops, sizeof *ops, by_percent);
    for (size_t i = 0; i < d->ops; i++)
        d->op_names[i] = ops[i].name;
    for (size_t i = 0; i < d->count; i++)
        d->dots[i].line = index_of(d->op_names, &d->ops, d->ops, d->dots[i].op);
    free(ops);
}

struct kernel_dots kernel_dots_of(const struct rows *rows)
{
    size_t n = rows_count(rows);
    struct kernel_dots d = {.op_names = allocate(n + 1, sizeof *d.op_names),
                            .dots = allocate(n + 1, sizeof *d.dots)};
    for (size_t i = 0; i < n; i++) {
        const struct row *row = rows_at(rows, i);
        struct kernel_dot dot = {.row = row,
                                 .op = row->op,
                                 .variant = row->variant,
                                 .percent = row->kernel.roofline.percent,
                                 .cold = row->kernel.cold.percent,
                                 .intensity = row->kernel.intensity,
                                 .gflops = row->kernel.gflops,
                                 .noisy = row_noisy(row, TIMED_KERNEL)};
        if (!row_is_ok(row))
            continue;
        d.others++; /* until it has a dot */
        if (!dot.op || !dot.variant || !(dot.percent > 0))
            continue;
        dot.look = index_of(d.variant_names, &d.variants, KERNEL_VARIANTS_MAX, dot.variant);
        if (dot.look == KERNEL_VARIANTS_MAX)
            continue;
        dot.line = index_of(d.op_names, &d.ops, n, dot.op);
        d.dots[d.count++] = dot;
        d.others--;
    }
    rank_ops(&d);
    return d;
}

void kernel_dots_free(struct kernel_dots *d)
{
    free(d->op_names);
    free(d->dots);
}

bool kernel_dots_noisy(const struct kernel_dots *d)
{
    bool noisy = false;
    for (size_t i = 0; i < d->count; i++)
        noisy = noisy || d->dots[i].noisy;
    return noisy;
}

void kernel_dot_put_hint(FILE *out, const struct kernel_dot *dot, double x, double y)
{
    char rate[64] = "";
    if (dot->gflops > 0 && dot->intensity > 0)
        snprintf(rate, sizeof rate, ", %.3g GFLOP/s at %.3g FLOP/B", dot->gflops, dot->intensity);
    gnuplot_put_label(out, x, y, "%.200s, %.200s: %.3g %% of its roofline%s%s", dot->op, dot->variant,
                      dot->percent, rate, dot->noisy ? "; wide range" : "");
}

void kernel_dots_write_variants(FILE *out, const struct kernel_dots *d, size_t lines, size_t more)
{
    const char *labels[KERNEL_VARIANTS_MAX] = {0};
    for (size_t i = 0; i < d->count; i++)
        if (d->dots[i].line < lines)
            labels[d->dots[i].look] = d->dots[i].variant;
    fprintf(out, "variants = %zu\narray label[%zu]\n", d->variants, d->variants + more);
    for (size_t i = 0; i < d->variants; i++)
        gnuplot_put_element(out, "label", i + 1, labels[i] ? labels[i] : "");
}
