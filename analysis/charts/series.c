/* Points by quantity and group. */
#include "analysis/charts/series.h"

#include "analysis/statistics/allocate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Removes axes that a name before them determines, as a model does its attention; returns how many are left.
 */
static size_t without_determined(const struct rows *rows, const struct field **axes, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool own = true;
        for (size_t k = 0; own && k < kept; k++)
            own = axes[k]->type != FIELD_TEXT || !axes_determine(rows, axes[k], axes[i]);
        if (own)
            axes[kept++] = axes[i];
    }
    return kept;
}

/* The source's name and the row's values of the other axes, as in "512 channels, gelu". */
static void group_of(const struct source *source, const struct row *row, const struct field *const *beside,
                     size_t n, char group[AXES_TEXT])
{
    char values[AXES_TEXT];
    const char *name = source->name ? source->name : "";
    axes_describe_all(row, beside, n, values);
    snprintf(group, AXES_TEXT, "%.*s%s%.*s", AXES_TEXT / 2, name, *name && *values ? ", " : "",
             AXES_TEXT / 2 - 4, values);
}

/* The interval of a time, or of a rate, which has the interval of the time it divides by. */
static void set_interval(const struct row *row, const struct quantity *q, struct point *p)
{
    const struct row_times *time = row_timed(row, q->program);
    double low = time->range_low / time->median, high = time->range_high / time->median;
    p->noisy = row_noisy(row, q->program) != NULL;
    if (low > 0 && high > 0) {
        p->at.low *= q->kind == SERIES_RATE ? 1 / high : low;
        p->at.high *= q->kind == SERIES_RATE ? 1 / low : high;
    }
}

bool series_has_place(const struct row *row, const struct field *axis)
{
    double x;
    return !field_number(row, axis, &x) || x > 0;
}

/* Planned memory of several ranks is that of the largest, which is known of the step if there is one. */
static bool quantity_of_row(const struct row *row, const struct quantity *q, const struct field *field,
                            double *value)
{
    if (!strstr(q->path, ".memory.planned") || row->ranks.memory == COUNT_ABSENT)
        return field_number(row, field, value);
    *value = (double)row->ranks.memory;
    return row->step.memory.planned == COUNT_ABSENT || q->program == TIMED_STEP;
}

static bool point_of(const struct row *row, const struct field *axis, const struct quantity *q,
                     const struct field *field, struct point *p)
{
    *p = (struct point){0};
    if (!row_is_ok(row) || (q->program == TIMED_ENCODING && row_solved_nothing(row)) ||
        !field_number(row, axis, &p->at.x) || !quantity_of_row(row, q, field, &p->at.y) || p->at.x <= 0 ||
        p->at.y <= 0)
        return false;
    p->at.low = p->at.high = p->at.y;
    if (q->kind == SERIES_TIME || q->kind == SERIES_RATE)
        set_interval(row, q, p);
    return true;
}

/* The series of this quantity and group, added if new. */
static struct series *find_or_add(struct series_set *set, const struct quantity *q, const char *group)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->series[i].quantity == q && strcmp(set->series[i].group, group) == 0)
            return &set->series[i];
    set->series = grow(set->series, set->count, sizeof *set->series);
    struct series *s = &set->series[set->count++];
    *s = (struct series){.quantity = q};
    snprintf(s->group, sizeof s->group, "%s", group);
    return s;
}

static int points_by_x(const void *a, const void *b)
{
    double x = ((const struct point *)a)->at.x, y = ((const struct point *)b)->at.x;
    return (x > y) - (x < y);
}

/* The axes beside that of the chart, those that name a group, and the fits over it. */
struct group_axes {
    const struct field *beside[AXES_MAX], *named[AXES_MAX];
    size_t others, names;
    struct fits fits;
};

static struct group_axes group_axes_of(const struct rows *rows, const struct field *axis, bool timed)
{
    struct group_axes g = {0};
    g.others = axes_beside(rows, axis, g.beside);
    memcpy(g.named, g.beside, sizeof g.named);
    g.names = without_determined(rows, g.named, g.others);
    if (timed)
        g.fits = fits_find(rows);
    return g;
}

static void collect(struct series_set *set, const struct source *source, const struct field *axis,
                    const struct quantity *q, const struct group_axes *g)
{
    const struct field *field = schema_find(q->path);
    for (size_t i = 0; i < rows_count(source->rows); i++) {
        const struct row *row = rows_at(source->rows, i);
        char group[AXES_TEXT];
        struct point p;
        if (!point_of(row, axis, q, field, &p))
            continue;
        group_of(source, row, g->named, g->names, group);
        struct series *s = find_or_add(set, q, group);
        if (s->count == 0 && q->kind == SERIES_TIME) {
            axes_describe_all(row, g->beside, g->others, group);
            const struct fit *fit = fits_get(&g->fits, q->program, axis, group);
            s->law = fit ? fit->law : s->law;
        }
        s->points = grow(s->points, s->count, sizeof *s->points);
        s->points[s->count++] = p;
    }
}

struct series_set series_collect(const struct source *sources, size_t count, const struct field *axis,
                                 const struct quantity *quantities, size_t n)
{
    struct series_set set = {0};
    bool timed = n > 0 && quantities[0].kind == SERIES_TIME;
    struct group_axes *axes = allocate(count + 1, sizeof *axes);
    for (size_t i = 0; i < count; i++)
        axes[i] = group_axes_of(sources[i].rows, axis, timed);
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < count; i++)
            collect(&set, &sources[i], axis, &quantities[q], &axes[i]);
    for (size_t i = 0; i < count; i++)
        fits_free(&axes[i].fits);
    free(axes);
    for (size_t i = 0; i < set.count; i++)
        qsort(set.series[i].points, set.series[i].count, sizeof *set.series[i].points, points_by_x);
    return set;
}

bool series_has_one_x(const struct series_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->series[i].count; k++)
            if (set->series[i].points[k].at.x != set->series[0].points[0].at.x)
                return false;
    return true;
}

void series_free(struct series_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->series[i].points);
    free(set->series);
}
