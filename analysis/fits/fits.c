/*
 * Time against work. Both are fitted over the same rows, and so is their quotient. Its logarithm is a
 * difference, so the quotient's exponent is the difference of the exponents, and its interval excludes
 * curvature that both share (20 N d^2 + 4 N^2 d is no power law, but no contradiction either).
 */
#include "analysis/fits/fits.h"

#include "analysis/fits/fit.h"
#include "analysis/fits/growth.h"
#include "analysis/record/axes.h"
#include "analysis/record/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const programs[] = {"forward", "step"};

/* A row of one program and combination of axes. */
struct sample {
    double x, time, flops, bytes;
    const char *level, *bound; /* null: no roofline */
};

struct run {
    const char *program;
    const struct field *axis;
    const char *group;
    size_t n;
    struct sample *samples;
    double *x, *y; /* n each, for fitting */
};

/* The path of a program's field. */
static const char *part(char path[SCHEMA_PATH], const char *program, const char *field)
{
    snprintf(path, SCHEMA_PATH, "%s.%s", program, field);
    return path;
}

static bool sample_of(const struct row *row, const struct field *axis, const char *program, struct sample *s)
{
    char path[SCHEMA_PATH];
    *s = (struct sample){0}; /* 0: work not known */
    if (!row_is_ok(row) || row_noisy(row, program) ||
        !row_get_real(row, part(path, program, "time.median"), &s->time) ||
        !row_get_real(row, axis->path, &s->x) || !(s->x > 0))
        return false;
    row_get_real(row, part(path, program, "flops.analytic"), &s->flops);
    row_get_real(row, part(path, program, "bytes"), &s->bytes);
    row_get_text(row, part(path, program, "roofline.level"), &s->level);
    row_get_text(row, part(path, program, "roofline.bound"), &s->bound);
    return true;
}

static int samples_by_x(const void *a, const void *b)
{
    double x = ((const struct sample *)a)->x, y = ((const struct sample *)b)->x;
    return (x > y) - (x < y);
}

static double time_of(const struct sample *s)
{
    return s->time;
}

static double flops_of(const struct sample *s)
{
    return s->flops;
}

static double bytes_of(const struct sample *s)
{
    return s->bytes;
}

typedef double (*quantity_function)(const struct sample *s);

static struct power_law exponent_of(struct run *r, quantity_function over, quantity_function under)
{
    for (size_t i = 0; i < r->n; i++) {
        r->x[i] = r->samples[i].x;
        r->y[i] = over(&r->samples[i]) / (under ? under(&r->samples[i]) : 1);
    }
    return fit_power_law(r->x, r->y, r->n);
}

static void set_real(struct value *fit, const char *name, double value, const char *reason)
{
    value_set_real(fit, name, value);
    if (!isfinite(value))
        value_set_text(value_get(fit, "reasons"), name, reason);
}

static void set_null(struct value *fit, const char *name, const char *reason)
{
    set_real(fit, name, NAN, reason);
}

static void set_exponent(struct value *fit, const char *name, const struct power_law *law)
{
    char low[SCHEMA_PATH], high[SCHEMA_PATH];
    snprintf(low, sizeof low, "%s_low", name);
    snprintf(high, sizeof high, "%s_high", name);
    set_real(fit, name, law->exponent, "needs 2 values of the axis");
    set_real(fit, low, law->exponent - law->half_width, "needs 3 values of the axis");
    set_real(fit, high, law->exponent + law->half_width, "needs 3 values of the axis");
}

/* "N + N^2" */
static void law_text(char text[SCHEMA_PATH], const struct growth_law *law, const char *symbol)
{
    text[0] = '\0';
    for (enum growth_term t = 0; t < GROWTH_TERMS; t++) {
        char term[SCHEMA_PATH / 2];
        size_t used = strlen(text);
        growth_term_text(term, sizeof term, t, symbol);
        if (law->terms >> t & 1)
            snprintf(text + used, SCHEMA_PATH - used, "%s%s", used ? " + " : "", term);
    }
}

/* Sets the law of the times, which are in r->x and r->y. */
static void set_law(struct value *fit, const struct run *r)
{
    static const char *const fields[] = {"law", "law_coefficients", "law_error", "law_as_good"};
    struct growth g = growth_fit(r->x, r->y, r->n);
    for (size_t i = 0; !g.found && i < sizeof fields / sizeof *fields; i++)
        set_null(fit, fields[i], "needs 4 values of the axis");
    if (!g.found)
        return;
    char text[SCHEMA_PATH], others[GROWTH_LAWS * SCHEMA_PATH] = "";
    struct value *coefficients = value_new_array();
    for (int t = 0; t < GROWTH_TERMS; t++)
        if (g.laws[0].terms >> t & 1)
            value_append(coefficients, value_new_real(g.laws[0].coefficient[t]));
    for (int l = 1; l < GROWTH_LAWS && g.laws[l].criterion < g.laws[0].criterion + GROWTH_CLOSE; l++) {
        size_t used = strlen(others);
        law_text(text, &g.laws[l], axes_symbol(r->axis));
        snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", text);
    }
    law_text(text, &g.laws[0], axes_symbol(r->axis));
    value_set_text(fit, "law", text);
    value_set(fit, "law_coefficients", coefficients);
    set_real(fit, "law_error", g.laws[0].error, "");
    value_set_text(fit, "law_as_good", others);
}

static const char *level_of(const struct sample *s)
{
    return s->level;
}

static const char *bound_of(const struct sample *s)
{
    return s->bound;
}

/* The distinct names along the axis, in order; null if a row has none. */
static void set_names(struct value *fit, const char *field, const struct run *r,
                      const char *(*name_of)(const struct sample *s))
{
    char text[256] = "";
    const char *last = NULL;
    for (size_t i = 0; i < r->n; i++) {
        const char *name = name_of(&r->samples[i]);
        if (!name) {
            set_null(fit, field, "no roofline");
            return;
        }
        size_t used = strlen(text);
        if (!last || strcmp(name, last) != 0)
            snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", name);
        last = name;
    }
    value_set_text(fit, field, text);
}

static bool is_one(const struct value *fit, const char *field)
{
    const char *names;
    return value_get_text(fit, field, &names) && !strchr(names, ',');
}

static bool all_bound_by_memory(const struct run *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (!r->samples[i].bound || strcmp(r->samples[i].bound, "memory") != 0)
            return false;
    return true;
}

static bool changes(const struct run *r, quantity_function quantity)
{
    for (size_t i = 1; i < r->n; i++)
        if (quantity(&r->samples[i]) != quantity(&r->samples[0]))
            return true;
    return false;
}

static const char *verdict_of(const struct value *fit, const struct power_law *excess)
{
    if (fabs(excess->exponent) <= FITS_TOLERANCE)
        return "agrees";
    if (fabs(excess->exponent) - excess->half_width <= FITS_TOLERANCE)
        return "unclear";
    return is_one(fit, "levels") && is_one(fit, "bounds") ? "contradicts" : "crosses";
}

/* Sets the fields that compare time with work. */
static void set_work(struct value *fit, struct run *r)
{
    static const char *const fields[] = {"work_exponent", "excess", "excess_low", "excess_high", "verdict"};
    bool bytes = all_bound_by_memory(r);
    quantity_function work = bytes ? bytes_of : flops_of;
    set_names(fit, "levels", r, level_of);
    set_names(fit, "bounds", r, bound_of);
    value_set_text(fit, "work", bytes ? "bytes" : "flops");
    struct power_law grows = exponent_of(r, work, NULL), excess = exponent_of(r, time_of, work);
    const char *missing = grows.points < r->n ? "the work of a row is not known" : "the work does not change";
    if (grows.points < r->n || !changes(r, work)) {
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            set_null(fit, fields[i], missing);
        return;
    }
    set_real(fit, "work_exponent", grows.exponent, "");
    set_exponent(fit, "excess", &excess);
    if (excess.has_interval)
        value_set_text(fit, "verdict", verdict_of(fit, &excess));
    else
        set_null(fit, "verdict", "needs 3 values of the axis");
}

/* The fit of one run; null if the axis has one value. */
static struct value *fit_of(struct run *r)
{
    qsort(r->samples, r->n, sizeof *r->samples, samples_by_x);
    if (r->n < 2 || r->samples[0].x == r->samples[r->n - 1].x)
        return NULL;
    struct value *fit = value_new_object();
    value_set_text(fit, "program", r->program);
    value_set_text(fit, "axis", r->axis->path);
    value_set_text(fit, "group", r->group);
    value_set_count(fit, "points", (int64_t)r->n);
    value_set_real(fit, "from", r->samples[0].x);
    value_set_real(fit, "to", r->samples[r->n - 1].x);
    value_set(fit, "reasons", value_new_object());
    struct power_law time = exponent_of(r, time_of, NULL);
    set_exponent(fit, "exponent", &time);
    set_law(fit, r);
    set_work(fit, r);
    return fit;
}

/* A row that has a sample, and the values of its other axes. */
struct point {
    char group[AXES_TEXT];
    size_t row, first; /* of this group */
    struct sample sample;
};

static int points_by_group(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int order = strcmp(x->group, y->group);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int points_by_first(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int order = (x->first > y->first) - (x->first < y->first);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Brings the points of each group together, in the order of the rows. */
static void sort_points(struct point *points, size_t n)
{
    qsort(points, n, sizeof *points, points_by_group);
    for (size_t i = 0; i < n; i++)
        points[i].first =
            i && strcmp(points[i - 1].group, points[i].group) == 0 ? points[i - 1].first : points[i].row;
    qsort(points, n, sizeof *points, points_by_first);
}

/* Adds the fits of a program over an axis, one for each combination of the other axes. */
static void add_fits(struct value *fits, const struct rows *rows, const struct field *axis,
                     const char *program)
{
    size_t count = rows_count(rows), n = 0;
    const struct field *beside[AXES_MAX];
    size_t others = axes_beside(rows, axis, beside);
    struct point *points = malloc(count * sizeof *points);
    struct sample *samples = malloc(count * sizeof *samples);
    double *xy = malloc(2 * count * sizeof *xy);
    if (!points || !samples || !xy)
        abort();
    for (size_t i = 0; i < count; i++)
        if (sample_of(rows_at(rows, i), axis, program, &points[n].sample)) {
            axes_describe_all(rows_at(rows, i), beside, others, points[n].group);
            points[n++].row = i;
        }
    sort_points(points, n);
    for (size_t i = 0; i < n;) {
        struct run r = {.program = program,
                        .axis = axis,
                        .group = points[i].group,
                        .samples = samples,
                        .x = xy,
                        .y = xy + count};
        for (size_t first = points[i].first; i < n && points[i].first == first; i++)
            samples[r.n++] = points[i].sample;
        struct value *fit = fit_of(&r);
        if (fit)
            value_append(fits, fit);
    }
    free(points);
    free(samples);
    free(xy);
}

struct value *fits_of(const struct rows *rows)
{
    struct value *fits = value_new_array();
    const struct field *varying[AXES_MAX];
    size_t n = axes_varying(rows, varying);
    for (size_t i = 0; i < n; i++) {
        bool own = varying[i]->type != FIELD_TEXT;
        for (size_t k = 0; own && k < i; k++)
            own = varying[k]->type == FIELD_TEXT || !axes_follows(rows, varying[k], varying[i]);
        for (size_t p = 0; own && p < sizeof programs / sizeof *programs; p++)
            add_fits(fits, rows, varying[i], programs[p]);
    }
    return fits;
}
