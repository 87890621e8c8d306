#include "analysis/compare/compare.h"

#include "analysis/record/slices.h"

/* What two files measured of a program: the pairs, and the rows of the first file among them. */
struct measured {
    struct pair *pairs;
    struct rows *rows;
};

static struct measured measured_by(const struct comparison *c, size_t base, size_t file, size_t program)
{
    struct measured m = {allocate(comparison_lines(c) + 1, sizeof *m.pairs), rows_new_view()};
    for (size_t line = 0; line < comparison_lines(c) && c->programs[program]; line++) {
        struct pair p = {line, program, file, base};
        if (!comparison_row(c, base, line) || !comparison_row(c, file, line) ||
            !isfinite(comparison_judge(c, &p).low))
            continue;
        m.pairs[rows_count(m.rows)] = p;
        rows_append(m.rows, (struct row *)comparison_row(c, base, line));
    }
    return m;
}

/* Adds what the rows of a slice show, if they are two at least. */
static void add_values(struct crossings *all, const struct comparison *c, const struct measured *m,
                       const struct slice *slice, const struct crossing *like)
{
    struct crossing f = *like;
    f.points = allocate(slice->count, sizeof *f.points);
    for (size_t i = 0; i < slice->count; i++) {
        struct crossing_point *point = &f.points[f.count];
        if (!field_number(slice->rows[i].row, f.axis, &point->x) || !(point->x > 0))
            continue;
        point->verdict = comparison_judge(c, &m->pairs[slice->rows[i].index]);
        f.count++;
    }
    if (f.count < 2) {
        free(f.points);
        return;
    }
    crossing_judge(&f);
    all->list = grow(all->list, all->count, sizeof *all->list);
    all->list[all->count++] = f;
}

static void add_axis(struct crossings *all, const struct comparison *c, const struct measured *m,
                     struct crossing *like)
{
    struct slices slices = slices_of(m->rows, like->axis, NULL);
    for (size_t i = 0; i < slices.count; i++) {
        slice_name(&slices, &slices.list[i], like->group);
        add_values(all, c, m, &slices.list[i], like);
    }
    slices_free(&slices);
}

static void add_files(struct crossings *all, const struct comparison *c, size_t base, size_t file)
{
    struct crossing like = {0};
    compare_label(like.name[0], c, base);
    compare_label(like.name[1], c, file);
    for (size_t p = 0; p < TIMED; p++) {
        struct measured m = measured_by(c, base, file, p);
        const struct field *numeric[AXES_MAX];
        size_t n = axes_numeric(m.rows, numeric);
        like.program[0] = like.program[1] = p;
        for (size_t i = 0; i < n; i++) {
            like.axis = numeric[i];
            add_axis(all, c, &m, &like);
        }
        rows_free(m.rows);
        free(m.pairs);
    }
}

struct crossings compare_crossings(const struct comparison *c)
{
    struct crossings all = {0};
    for (size_t base = 0; base < c->count; base++)
        for (size_t file = base + 1; file < c->count; file++)
            add_files(&all, c, base, file);
    return all;
}

/* The one that is faster at first is the subject. */
static void print_flip(FILE *out, const struct crossing *f)
{
    const struct crossing_point *from = &f->points[f->from], *to = &f->points[f->to];
    bool base_first = from->verdict.kind == VERDICT_SLOWER;
    double digit = pow(10, floor(log10(f->at)) - 1); /* the second */
    double before = base_first ? from->verdict.ratio : 1 / from->verdict.ratio,
           after = base_first ? 1 / to->verdict.ratio : to->verdict.ratio;
    char at[AXES_TEXT];
    axes_describe_number(f->axis, from->x, at);
    fprintf(
        out,
        "%s%s%s: %s is %.2f times faster than %s at %s, %.2f times slower at %.10g; they cross near %.10g\n",
        compare_program(f->program[0]), *f->group ? ", " : "", f->group, f->name[!base_first], before,
        f->name[base_first], at, after, to->x, round(f->at / digit) * digit);
}

void compare_flips(FILE *out, const struct comparison *c)
{
    struct crossings all = compare_crossings(c);
    for (size_t i = 0; i < all.count; i++)
        if (all.list[i].kind == CROSSING_FOUND)
            print_flip(out, &all.list[i]);
    crossings_free(&all);
}
