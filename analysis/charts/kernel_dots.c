#include "analysis/charts/kernel_dots.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/charts/text_width.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

struct kernel_dots kernel_dots_of(const struct rows *rows)
{
    size_t n = rows_count(rows);
    struct kernel_dots d = {.op_names = calloc(n + 1, sizeof *d.op_names),
                            .dots = calloc(n + 1, sizeof *d.dots)};
    if (!d.op_names || !d.dots)
        abort();
    for (size_t i = 0; i < n; i++) {
        struct kernel_dot dot = {.row = rows_at(rows, i), .cold = NAN, .intensity = NAN, .gflops = NAN};
        if (!row_is_ok(dot.row))
            continue;
        d.others++; /* until it has a dot */
        if (!row_get_text(dot.row, "op", &dot.op) || !row_get_text(dot.row, "variant", &dot.variant) ||
            !row_get_real(dot.row, "kernel.roofline.percent", &dot.percent) || !(dot.percent > 0))
            continue;
        row_get_real(dot.row, "kernel.cold.percent", &dot.cold);
        row_get_real(dot.row, "kernel.intensity", &dot.intensity);
        row_get_real(dot.row, "kernel.gflops", &dot.gflops);
        dot.noisy = row_noisy(dot.row, "kernel") != NULL;
        dot.look = index_of(d.variant_names, &d.variants, KERNEL_VARIANTS_MAX, dot.variant);
        if (dot.look == KERNEL_VARIANTS_MAX)
            continue;
        dot.line = index_of(d.op_names, &d.ops, n, dot.op);
        d.dots[d.count++] = dot;
        d.others--;
    }
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

double kernel_dots_write_variants(FILE *out, const struct kernel_dots *d)
{
    double widest = 0;
    fprintf(out, "variants = %zu\narray label[%zu]\n", d->variants, d->variants);
    for (size_t i = 0; i < d->variants; i++) {
        fprintf(out, "label[%zu] = ", i + 1);
        gnuplot_put_string(out, d->variant_names[i]);
        putc('\n', out);
        widest = fmax(widest, text_width(d->variant_names[i]));
    }
    return widest;
}
