/*
 * The power law y = factor x^exponent fitted to measured points: how a cost grows with the size of the work.
 */
#ifndef GTMARK_ANALYSIS_FIT_H
#define GTMARK_ANALYSIS_FIT_H

#include <stdbool.h>
#include <stddef.h>

struct power_law {
    bool has_exponent;     /* at least 2 distinct x */
    bool has_interval;     /* at least 3 distinct x */
    size_t points;         /* points used: those with x > 0 and y > 0, both finite */
    double factor;         /* NAN without exponent */
    double exponent;       /* NAN without exponent */
    double standard_error; /* of the exponent; NAN without interval */
    double half_width;     /* of the exponent's 95 % interval, exponent +- half_width; NAN without interval */
};

/* Least squares in log-log over the points (x[i], y[i]), i < n; points that are not positive are left out. */
struct power_law fit_power_law(const double *x, const double *y, size_t n);

/*
 * The 97.5 % quantile of Student's t with `freedom` >= 1 degrees of freedom, for a two-sided 95 % interval.
 */
double student_t95(size_t freedom);

#endif
