#include "bench/row/row_resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/schema.h"

/* The numbers of a field of a program's time, to be freed; null if it has none. */
static double *load_reals(const struct row *row, const char *program, const char *field, size_t *n)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.time.%s", program, field);
    *n = row_reals_count(row, path);
    double *values = *n > 0 ? malloc(*n * sizeof *values) : NULL;
    if (*n > 0 && !values)
        abort();
    if (values)
        row_get_reals(row, path, values, *n, n);
    return values;
}

void samples_load(struct samples *s, const struct row *from, const char *program)
{
    char group[SCHEMA_PATH];
    size_t n, count, all = 0;
    bool whole = true;
    double *seconds = load_reals(from, program, "samples", &n);
    snprintf(group, sizeof group, "%s.time", program);
    struct turn *turns = row_turns(from, group, &count);
    for (size_t i = 0; i < count; i++) {
        all += turns[i].samples;
        whole = whole && turns[i].samples > 0;
    }
    *s = (struct samples){0};
    if (n > 0 && all == n && whole) {
        samples_allocate(s, n);
        s->n = (int)n;
        s->turns = (int)count;
        s->turn = turns;
        for (size_t i = 0; i < n; i++) {
            s->seconds[i] = seconds[i];
            s->clock[i] = NAN;
            for (int p = 0; p < PHASES; p++)
                s->phase[p][i] = NAN;
        }
        s->first = NAN;
        row_get_real(from, "loss", &s->first);
    } else {
        free(turns);
    }
    free(seconds);
}

/* Whether a field is a statistic of times that `row` has, so that null is its value. */
static bool is_current(const struct row *row, const char *path)
{
    const char *time = strstr(path, ".time.");
    char n[SCHEMA_PATH];
    int64_t count;
    snprintf(n, sizeof n, "%.*s.time.n", time ? (int)(time - path) : 0, path);
    return time && row_get_count(row, n, &count);
}

struct row *row_over(struct row *row, const struct row *from)
{
    struct row *both = row_copy(from);
    for (size_t i = 0; i < schema_fields_count; i++) {
        const struct field *f = &schema_fields[i];
        if (!row_is_null(row, f->path))
            row_copy_field(both, row, f);
        else if (is_current(row, f->path) && !row_is_null(both, f->path))
            row_set_null(both, f->path, row_reason(row, f->path));
    }
    row_free(row);
    return both;
}
