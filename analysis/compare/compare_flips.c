#include "analysis/compare/compare_flips.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/compare/compare_notes.h"
#include "analysis/compare/crossing.h"

/* What two files measured of a program: the pairs, and the rows of the lead among them. */
struct measured {
    struct pair *pairs;
    struct rows *rows;
};

static struct measured measured_by(const struct comparison *c, size_t base, size_t file, size_t program)
{
    struct measured m = {calloc(comparison_lines(c) + 1, sizeof *m.pairs), rows_new_view()};
    if (!m.pairs)
        abort();
    for (size_t line = 0; line < comparison_lines(c); line++) {
        struct pair p = {line, program, file, base};
        if (!comparison_row(c, base, line) || !comparison_row(c, file, line) ||
            !isfinite(comparison_judge(c, &p).low))
            continue;
        m.pairs[rows_count(m.rows)] = p;
        rows_append(m.rows, (struct row *)comparison_row(c, base, line));
    }
    return m;
}

static int by_axis_value(const void *a, const void *b)
{
    double x = ((const struct crossing_point *)a)->x, y = ((const struct crossing_point *)b)->x;
    return (x > y) - (x < y);
}

/* The one that is faster at first is the subject. */
static void print_flip(FILE *out, const struct comparison *c, const struct pair *p, const struct crossing *f)
{
    const struct crossing_point *from = &f->points[f->from], *to = &f->points[f->to];
    bool base_first = from->verdict.kind == VERDICT_SLOWER;
    char first[AXES_TEXT], second[AXES_TEXT];
    compare_label(first, c, base_first ? p->base : p->file);
    compare_label(second, c, base_first ? p->file : p->base);
    double digit = pow(10, floor(log10(f->at)) - 1); /* the second */
    double before = base_first ? from->verdict.ratio : 1 / from->verdict.ratio,
           after = base_first ? 1 / to->verdict.ratio : to->verdict.ratio;
    fprintf(out,
            "%s%s%s: %s is %.2f times faster than %s at %.10g %s, %.2f times slower at %.10g; they cross "
            "near %.10g\n",
            program_name(p->program), *f->group ? ", " : "", f->group, first, before, second, from->x,
            f->axis->unit, after, to->x, round(f->at / digit) * digit);
}

/* Judges the rows of one group, whose first row is `i`. */
static void find_flip(FILE *out, const struct comparison *c, const struct measured *m, const size_t *group,
                      size_t i, struct crossing *f)
{
    f->count = 0;
    for (size_t k = i; k < rows_count(m->rows); k++) {
        struct crossing_point *point = &f->points[f->count];
        if (group[k] != i || !field_number(rows_at(m->rows, k), f->axis, &point->x) || !(point->x > 0))
            continue;
        point->verdict = comparison_judge(c, &m->pairs[k]);
        f->count++;
    }
    qsort(f->points, f->count, sizeof *f->points, by_axis_value);
    if (f->count < 2)
        return;
    crossing_judge(f);
    if (f->kind == CROSSING_FOUND)
        print_flip(out, c, &m->pairs[i], f);
}

static void find_flips(FILE *out, const struct comparison *c, const struct measured *m,
                       const struct field *axis)
{
    const struct field *beside[AXES_MAX];
    size_t n = axes_beside(m->rows, axis, beside), count = rows_count(m->rows);
    size_t *group = calloc(count + 1, sizeof *group);
    struct crossing f = {.axis = axis, .points = calloc(count + 1, sizeof *f.points)};
    if (!group || !f.points)
        abort();
    axes_group(m->rows, beside, n, group);
    for (size_t i = 0; i < count; i++)
        if (group[i] == i) {
            axes_describe_all(rows_at(m->rows, i), beside, n, f.group);
            find_flip(out, c, m, group, i, &f);
        }
    free(f.points);
    free(group);
}

void compare_flips(FILE *out, const struct comparison *c)
{
    for (size_t base = 0; base < c->count; base++)
        for (size_t file = base + 1; file < c->count; file++)
            for (size_t p = 0; p < TIMED; p++) {
                struct measured m = measured_by(c, base, file, p);
                const struct field *numeric[AXES_MAX];
                size_t n = c->programs[p] ? axes_numeric(m.rows, numeric) : 0;
                for (size_t i = 0; i < n; i++)
                    find_flips(out, c, &m, numeric[i]);
                rows_free(m.rows);
                free(m.pairs);
            }
}
