/* The points of charts of ops: a row each. */
#ifndef GTMARK_ANALYSIS_KERNEL_DOTS_H
#define GTMARK_ANALYSIS_KERNEL_DOTS_H

#include "analysis/charts/charts.h"

enum { KERNEL_VARIANTS_MAX = 8, KERNELS_NAMED = 20 };

struct kernel_dot {
    const struct row *row;
    const char *op, *variant;
    size_t line;              /* of the op; 0: its default kernel is furthest from its roofline */
    size_t look;              /* of the variant, in order of appearance */
    bool standard;            /* of the op's default variant, the first */
    double percent, cold;     /* of the roofline; cold: NAN if not measured */
    double intensity, gflops; /* NAN or 0 without FLOPs */
    bool noisy;
};

struct kernel_dots {
    size_t count, ops, variants;
    size_t others;         /* rows that are ok, but without a percentage or of one variant too many */
    const char **op_names; /* by line; those below KERNELS_NAMED are drawn by name */
    const char *variant_names[KERNEL_VARIANTS_MAX];
    struct kernel_dot *dots;
};

/* The rows that are ok and have a percentage of the roofline, of up to KERNEL_VARIANTS_MAX variants. */
struct kernel_dots kernel_dots_of(const struct rows *rows);
void kernel_dots_free(struct kernel_dots *d);

/* Whether a time is noisy, and so drawn pale. */
bool kernel_dots_noisy(const struct kernel_dots *d);

/* Writes the values of a dot at x, y of a plot (gnuplot_put_label). */
void kernel_dot_put_hint(FILE *out, const struct kernel_dot *dot, double x, double y);

/* Writes the variants as label[i], i = 1 .. variants, "" for one without dots on the first `lines`; the array
 * has room for more. */
void kernel_dots_write_variants(FILE *out, const struct kernel_dots *d, size_t lines, size_t more);

/* The charts of them. */
struct kernel_chart {
    const struct record *record;
    struct kernel_dots dots;
};

/* The script of "roofline", for plots/roofline.gp; `what` is a struct kernel_chart. */
void roofline_chart_write(FILE *out, const void *what);

/* Whether the record has the roofs. */
bool roofline_chart_possible(const struct kernel_chart *c);

#endif
