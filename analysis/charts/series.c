/* Points by quantity and group. */
#include "analysis/charts/series.h"

#include "analysis/record/row.h"

#include <stdlib.h>
#include <string.h>

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

static bool point_of(const struct row *row, const struct field *axis, const struct quantity *q,
                     struct point *p)
{
    if (!row_is_ok(row) || !row_get_real(row, axis->path, &p->x) || !row_get_real(row, q->path, &p->y) ||
        p->x <= 0 || p->y <= 0)
        return false;
    p->low = p->high = p->y;
    if (q->low)
        row_get_real(row, q->low, &p->low);
    if (q->high)
        row_get_real(row, q->high, &p->high);
    return true;
}

/* The series of this quantity and group, added if new; null if full. */
static struct series *find_or_add(struct series_set *set, const struct quantity *q, const char *group,
                                  size_t rows)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->series[i].quantity == q && strcmp(set->series[i].group, group) == 0)
            return &set->series[i];
    if (set->count == SERIES_MAX)
        return NULL;
    struct series *s = &set->series[set->count++];
    s->quantity = q;
    snprintf(s->group, sizeof s->group, "%s", group);
    s->points = malloc(rows * sizeof *s->points);
    if (!s->points) {
        fprintf(stderr, "series: no memory for %zu points\n", rows);
        abort();
    }
    return s;
}

static int points_by_x(const void *a, const void *b)
{
    double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;
    return (x > y) - (x < y);
}

static void finish(struct series *s)
{
    double *xy = malloc(2 * s->count * sizeof *xy);
    if (!xy) {
        fprintf(stderr, "series: no memory for %zu points\n", s->count);
        abort();
    }
    qsort(s->points, s->count, sizeof *s->points, points_by_x);
    for (size_t i = 0; i < s->count; i++) {
        xy[i] = s->points[i].x;
        xy[s->count + i] = s->points[i].y;
    }
    s->fit = fit_power_law(xy, xy + s->count, s->count);
    free(xy);
}

static void collect(struct series_set *set, const struct source *source, const struct field *axis,
                    const struct quantity *q)
{
    const struct field *beside[AXES_MAX];
    size_t others = axes_beside(source->rows, axis, beside), rows = rows_count(source->rows);
    for (size_t i = 0; i < rows; i++) {
        const struct row *row = rows_at(source->rows, i);
        char group[AXES_TEXT];
        struct point p;
        if (!point_of(row, axis, q, &p))
            continue;
        group_of(source, row, beside, others, group);
        struct series *s = find_or_add(set, q, group, rows);
        if (s)
            s->points[s->count++] = p;
        else
            set->points_dropped++;
    }
}

struct series_set series_collect(const struct source *sources, size_t count, const struct field *axis,
                                 const struct quantity *quantities, size_t n)
{
    struct series_set set = {0};
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < count; i++)
            collect(&set, &sources[i], axis, &quantities[q]);
    for (size_t i = 0; i < set.count; i++)
        finish(&set.series[i]);
    return set;
}

void series_free(struct series_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->series[i].points);
}
