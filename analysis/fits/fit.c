/*
 * Power law by ordinary least squares: log y = log c + b log x + noise of equal variance (a relative error).
 *
 *     b = Sxy / Sxx,  log c = mean(log y) - b mean(log x),
 *     se(b)^2 = (residual sum of squares) / (n - 2) / Sxx
 *
 * with the sums Sxx, Sxy of centred logarithms; the interval is b +- t(n - 2) se(b) (Draper and Smith,
 * "Applied Regression Analysis", 3rd edition, 1998, section 1.4).
 */
#include "analysis/fits/fit.h"

#include <math.h>

double student_t95(size_t freedom)
{
    static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                                   2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
                                   2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
                                   2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
    if (freedom <= sizeof table / sizeof *table)
        return table[freedom - 1];
    /* Abramowitz and Stegun 26.7.5, two terms beyond the normal quantile z: error below 1e-4 from here on. */
    double z = 1.959964, f = (double)freedom;
    return z + (pow(z, 3) + z) / (4 * f) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * f * f);
}

static bool usable(double x, double y)
{
    return x > 0 && y > 0 && isfinite(x) && isfinite(y);
}

/* The number of distinct x among the usable points, at most 3. */
static int distinct_up_to_three(const double *x, const double *y, size_t n)
{
    double seen[3];
    int distinct = 0;
    for (size_t i = 0; i < n && distinct < 3; i++) {
        bool known = false;
        for (int k = 0; k < distinct; k++)
            known = known || seen[k] == x[i];
        if (!known && usable(x[i], y[i]))
            seen[distinct++] = x[i];
    }
    return distinct;
}

struct power_law fit_power_law(const double *x, const double *y, size_t n)
{
    struct power_law fit = {false, false, 0, NAN, NAN, NAN, NAN};
    double mean_x = 0, mean_y = 0;
    for (size_t i = 0; i < n; i++) {
        if (!usable(x[i], y[i]))
            continue;
        fit.points++;
        mean_x += log(x[i]);
        mean_y += log(y[i]);
    }
    int distinct = distinct_up_to_three(x, y, n);
    if (distinct < 2)
        return fit;
    mean_x /= (double)fit.points;
    mean_y /= (double)fit.points;

    double sxx = 0, sxy = 0;
    for (size_t i = 0; i < n; i++) {
        if (!usable(x[i], y[i]))
            continue;
        sxx += (log(x[i]) - mean_x) * (log(x[i]) - mean_x);
        sxy += (log(x[i]) - mean_x) * (log(y[i]) - mean_y);
    }
    fit.has_exponent = true;
    fit.exponent = sxy / sxx;
    fit.factor = exp(mean_y - fit.exponent * mean_x);
    if (distinct < 3)
        return fit;

    double residual = 0;
    for (size_t i = 0; i < n; i++)
        if (usable(x[i], y[i]))
            residual += pow(log(y[i]) - mean_y - fit.exponent * (log(x[i]) - mean_x), 2);
    size_t freedom = fit.points - 2;
    fit.has_interval = true;
    fit.standard_error = sqrt(residual / (double)freedom / sxx);
    fit.half_width = student_t95(freedom) * fit.standard_error;
    return fit;
}
