/* Tick marks on logarithmic axes. */
#include "analysis/charts/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TICKS_ENOUGH = 4, TICKS_FEWEST = 3 };

/* A ladder of values: each mantissa times every power of `radix`. */
struct ladder {
    double radix;
    double mantissas[3]; /* 0-terminated */
};

/* From coarse to fine. */
static const struct ladder decimal_ladders[] = {
    {1e6, {1}}, {1e3, {1}}, {1e2, {1}}, {10, {1}}, {10, {1, 3}}, {10, {1, 2, 5}},
};
static const struct ladder binary_ladders[] = {
    {0x1p20, {1}}, {0x1p10, {1}}, {0x1p5, {1}}, {16, {1}}, {8, {1}}, {4, {1}}, {2, {1}},
};

static size_t climb(const struct ladder *ladder, double low, double high, double ticks[TICKS_MAX])
{
    size_t n = 0;
    for (int power = (int)floor(log(low) / log(ladder->radix)); n < TICKS_MAX; power++) {
        double decade = pow(ladder->radix, power);
        if (decade > high)
            break;
        for (size_t i = 0; i < 3 && ladder->mantissas[i] > 0 && n < TICKS_MAX; i++) {
            double value = ladder->mantissas[i] * decade;
            if (value >= low && value <= high)
                ticks[n++] = value;
        }
    }
    return n;
}

size_t ticks_even(double low, double high, enum unit_base base, double ticks[TICKS_MAX])
{
    double rough = (high - low) / TICKS_ENOUGH, step;
    if (base == UNITS_BINARY) {
        step = pow(2, floor(log2(rough)));
    } else {
        double decade = pow(10, floor(log10(rough)));
        step = (rough < 2 * decade ? 1 : rough < 5 * decade ? 2 : 5) * decade;
    }
    size_t n = 0;
    for (double k = ceil(low / step); k * step <= high && n < TICKS_MAX; k++)
        ticks[n++] = k * step;
    return n;
}

size_t ticks_round(double low, double high, enum unit_base base, double ticks[TICKS_MAX])
{
    const struct ladder *ladders = base == UNITS_SI ? decimal_ladders : binary_ladders;
    size_t n = base == UNITS_SI ? sizeof decimal_ladders / sizeof *decimal_ladders
                                : sizeof binary_ladders / sizeof *binary_ladders;
    for (size_t i = 0; i < n; i++) {
        size_t found = climb(&ladders[i], low, high, ticks);
        if (found >= (i + 1 < n ? TICKS_ENOUGH : TICKS_FEWEST))
            return found;
    }
    return ticks_even(low, high, base, ticks);
}

size_t ticks_at(const double *values, size_t n, double low, double high, double ticks[TICKS_MAX])
{
    double gap = pow(high / low, 0.06), next = 0; /* the width of a label, as a fraction of the axis */
    size_t found = 0;
    while (found < TICKS_MAX) {
        double least = INFINITY;
        for (size_t i = 0; i < n; i++)
            if (values[i] >= next && values[i] > 0 && values[i] < least)
                least = values[i];
        if (isinf(least))
            break;
        ticks[found++] = least;
        next = least * gap;
    }
    return found;
}

void ticks_label(char text[UNITS_TEXT], double value)
{
    char plain[UNITS_TEXT];
    units_format_short(text, value, UNITS_SI, "");
    snprintf(plain, sizeof plain, "%.6g", value);
    if (value < 1 || units_width(plain) < units_width(text))
        memcpy(text, plain, sizeof plain);
}
