/* Numbers with SI prefixes, and those of IEC 80000-13 for powers of 1024. */
#include "analysis/tables/units.h"

#include "analysis/statistics/disturbance.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scale {
    double factor; /* value of one prefixed unit */
    const char *prefix;
};

static const struct scale si[] = {{1e-9, "n"}, {1e-6, "µ"}, {1e-3, "m"}, {1, ""},     {1e3, "k"},
                                  {1e6, "M"},  {1e9, "G"},  {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
static const struct scale binary[] = {
    {1, ""},        {1024, "Ki"},  {1048576., "Mi"}, {1073741824., "Gi"}, {1099511627776., "Ti"},
    {0x1p50, "Pi"}, {0x1p60, "Ei"}};

/* The largest prefix not above the value; for 0 none, for tiny values the smallest. */
static struct scale scale_of(double value, enum unit_base base)
{
    const struct scale *table = base == UNITS_SI ? si : binary;
    size_t n = base == UNITS_SI ? sizeof si / sizeof *si : sizeof binary / sizeof *binary;
    if (value == 0)
        return (struct scale){1, ""};
    size_t i = 0;
    /* 0.9995 rather than 1, because of rounding to three digits: 999.6 ms is 1.00 s. */
    while (i + 1 < n && fabs(value) >= 0.9995 * table[i + 1].factor)
        i++;
    return table[i];
}

/* Whether the locale has another character set than UTF-8. None at all is that of most containers, whose
 * terminals have UTF-8. */
static bool is_ascii_only(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"}; /* the first that is set decides */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale)
            return !strcasestr(locale, "utf-8") && !strcasestr(locale, "utf8");
    }
    return false;
}

static const char *prefix_of(const struct scale *s)
{
    return s->factor == 1e-6 && is_ascii_only() ? "u" : s->prefix;
}

int units_decimals(double value)
{
    return fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
}

void units_format(char text[UNITS_TEXT], double value, enum unit_base base, const char *unit)
{
    struct scale s = scale_of(value, base);
    double scaled = value / s.factor;
    int decimals = s.factor == 1 && base == UNITS_BINARY ? 0 /* bytes are whole */ : units_decimals(scaled);
    snprintf(text, UNITS_TEXT, "%.*f %s%s", decimals, scaled, prefix_of(&s), unit);
}

void units_format_short(char text[UNITS_TEXT], double value, enum unit_base base, const char *unit)
{
    struct scale s = scale_of(value, base);
    snprintf(text, UNITS_TEXT, "%g%s%s%s", value / s.factor, *unit ? " " : "", prefix_of(&s), unit);
}

/* Whether "± half" describes an interval: it is narrow, and symmetric as far as the digits show. */
static bool is_plain(double value, double below, double above, double digit)
{
    static const double most_skewed = 1.5;
    double longer = fmax(below, above), shorter = fmin(below, above);
    return below + above <= RANGE_WIDE * value &&
           (longer <= most_skewed * shorter || longer - shorter <= digit);
}

void units_format_interval(char text[UNITS_TEXT], double value, double low, double high, const char *unit)
{
    if (!isfinite(low) || !isfinite(high)) {
        units_format(text, value, UNITS_SI, unit);
        return;
    }
    struct scale s = scale_of(value, UNITS_SI);
    double scaled = value / s.factor, below = scaled - low / s.factor, above = high / s.factor - scaled;
    int decimals = units_decimals(scaled), low_decimals = units_decimals(low / s.factor),
        high_decimals = units_decimals(high / s.factor);
    double digit = pow(10, -decimals), half = fmax(below, above);
    if (is_plain(scaled, below, above, digit)) /* rounded up; 1e-6: 0.3 / 0.1 is above 3 */
        snprintf(text, UNITS_TEXT, "%.*f %s %.*f %s%s", decimals, scaled, is_ascii_only() ? "+-" : "±",
                 decimals, fmax(0, ceil(half / digit - 1e-6)) * digit, prefix_of(&s), unit);
    else
        snprintf(text, UNITS_TEXT, "%.*f [%.*f, %.*f] %s%s", decimals, scaled,
                 low_decimals < decimals ? low_decimals : decimals, low / s.factor,
                 high_decimals < decimals ? high_decimals : decimals, high / s.factor, prefix_of(&s), unit);
}

size_t units_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80; /* continuation bytes take no column */
    return width;
}
