#include "analysis/charts/scale.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Adds a margin to both ends: a share of the range, and at least a factor; the ends stay finite and positive.
 */
static void widen(struct scale *s, double share, double least)
{
    double factor = fmax(pow(s->high / s->low, share), least);
    s->low = fmax(s->low / factor, DBL_MIN);
    s->high = fmin(s->high * factor, DBL_MAX);
}

struct scale scale_of_x(const struct series *series, size_t count)
{
    size_t n = 0, points = 0;
    struct scale s = {.low = INFINITY, .high = 0};
    for (size_t i = 0; i < count; i++)
        points += series[i].count;
    double *values = calloc(points + 1, sizeof *values);
    if (!values)
        abort();
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < series[i].count; k++) {
            double x = values[n++] = series[i].points[k].at.x;
            s.low = fmin(s.low, x);
            s.high = fmax(s.high, x);
        }
    widen(&s, 0.04, 1.02);
    s.count = ticks_at(values, n, s.low, s.high, s.ticks);
    free(values);
    return s;
}

struct scale scale_of_y(const struct series *series, size_t count, enum unit_base base)
{
    struct scale s = {.low = INFINITY, .high = 0};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < series[i].count; k++) {
            struct law_point p = series[i].points[k].at;
            s.low = fmin(s.low, p.low > 0 ? p.low : p.y);
            s.high = fmax(s.high, p.high);
        }
    widen(&s, 0.06, 1.3);
    s.count = ticks_round(s.low, s.high, base, s.ticks);
    return s;
}
