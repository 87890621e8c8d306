#include "analysis/charts/series.h"

#include "analysis/record/slices.h"
#include "analysis/statistics/allocate.h"

/* The paths of axes that a name before them determines, as a model does its attention. */
static void find_determined(const struct rows *rows, const struct field *const *axes, size_t n,
                            const char *paths[AXES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (axes[k]->type == FIELD_TEXT && axes_determine(rows, axes[k], axes[i])) {
                paths[count++] = axes[i]->path;
                break;
            }
    paths[count] = NULL;
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

/* Rows drawn together, grouped by what has a name of its own, and their fits over the axis. */
struct drawn {
    const struct source *source;
    const struct field *axis, *beside[AXES_MAX];
    size_t others;
    struct slices slices;
    struct fits fits;
};

static struct drawn drawn_of(const struct source *source, const struct field *axis, bool timed)
{
    struct drawn d = {.source = source, .axis = axis};
    const char *determined[AXES_MAX + 1];
    d.others = axes_beside(source->rows, axis, d.beside);
    find_determined(source->rows, d.beside, d.others, determined);
    d.slices = slices_of(source->rows, axis, determined);
    if (timed)
        d.fits = fits_find(source->rows);
    return d;
}

/* Adds the series of a slice, unless no row has a value; named by its source and the values that its rows
 * share, as in "512 channels, gelu". */
static void add_series(struct series_set *set, const struct drawn *d, const struct slice *slice,
                       const struct quantity *q)
{
    const struct field *field = schema_find(q->path);
    const char *name = d->source->name ? d->source->name : "";
    struct series s = {.quantity = q, .points = allocate(slice->count, sizeof *s.points)};
    char values[AXES_TEXT], group[AXES_TEXT];
    const struct row *first = NULL;
    for (size_t i = 0; i < slice->count; i++)
        if (point_of(slice->rows[i].row, d->axis, q, field, &s.points[s.count]) && s.count++ == 0)
            first = slice->rows[i].row;
    if (!first) {
        free(s.points);
        return;
    }
    axes_describe_all(first, d->beside, d->others, group);
    const struct fit *fit = q->kind == SERIES_TIME ? fits_get(&d->fits, q->program, d->axis, group) : NULL;
    s.law = fit ? fit->law : s.law;
    slice_name(&d->slices, slice, values);
    snprintf(s.group, AXES_TEXT, "%.*s%s%.*s", AXES_TEXT / 2, name, *name && *values ? ", " : "",
             AXES_TEXT / 2 - 4, values);
    set->series = grow(set->series, set->count, sizeof *set->series);
    set->series[set->count++] = s;
}

struct series_set series_collect(const struct source *sources, size_t count, const struct field *axis,
                                 const struct quantity *quantities, size_t n)
{
    struct series_set set = {0};
    struct drawn *drawn = allocate(count, sizeof *drawn);
    for (size_t i = 0; i < count; i++)
        drawn[i] = drawn_of(&sources[i], axis, n > 0 && quantities[0].kind == SERIES_TIME);
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < drawn[i].slices.count; k++)
                add_series(&set, &drawn[i], &drawn[i].slices.list[k], &quantities[q]);
    for (size_t i = 0; i < count; i++) {
        fits_free(&drawn[i].fits);
        slices_free(&drawn[i].slices);
    }
    free(drawn);
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
