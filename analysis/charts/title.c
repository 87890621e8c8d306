#include "analysis/charts/title.h"

#include "analysis/charts/chart_text.h"
#include "analysis/charts/gnuplot.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* "12.3 ms", in one line */
static const char *value_text(char text[UNITS_TEXT], double y, const struct chart *c)
{
    char plain[UNITS_TEXT];
    chart_value(plain, y, c);
    char *blank = strchr(plain, ' ');
    snprintf(text, UNITS_TEXT, "%.*s\u00a0%s", (int)strcspn(plain, " "), plain, blank ? blank + 1 : "");
    return text;
}

/* The value of a point; "9.12 ms to 38.1 ms" if its interval is wider than 10 % to either side. */
static const char *point_text(char text[2 * UNITS_TEXT], const struct point *p, const struct chart *c)
{
    char low[UNITS_TEXT], high[UNITS_TEXT];
    if (p->at.high - p->at.low <= 0.2 * p->at.y)
        return value_text(text, p->at.y, c);
    snprintf(text, 2 * UNITS_TEXT, "%s to %s", value_text(low, p->at.low, c),
             value_text(high, p->at.high, c));
    return text;
}

/* "500 nodes", "1 node", "seed 42" */
static void x_text(char text[UNITS_TEXT], double x, const struct field *axis)
{
    int length = (int)strlen(axis->unit) - (x == 1); /* units are plurals */
    if (*axis->unit)
        snprintf(text, UNITS_TEXT, "%.15g %.*s", x, length, axis->unit);
    else
        snprintf(text, UNITS_TEXT, "%s %.15g", axis->path, x);
}

/* The next point from i on that can be a finding; null: none. */
static const struct point *next_good(const struct series *s, size_t i)
{
    while (i < s->count && s->points[i].noisy)
        i++;
    return i < s->count ? &s->points[i] : NULL;
}

/* The last such point with an x below `x`. */
static const struct point *last_good(const struct series *s, double x)
{
    for (size_t i = s->count; i-- > 0;)
        if (!s->points[i].noisy && s->points[i].at.x < x)
            return &s->points[i];
    return NULL;
}

static const struct series *first_good(const struct series_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (next_good(&set->series[i], 0))
            return &set->series[i];
    return NULL;
}

/* "grows as N^{1.7}, its work as N^{1.6}"; "" if the interval leaves it open. */
static void growth_text(char text[CHART_TEXT], const struct point *a, const struct point *b,
                        const struct quantity *q, const char *symbol)
{
    const double widest = 0.1, flat = 0.05; /* 12 % over a decade */
    struct exponent e = exponent_between(&a->at, &b->at);
    int decimals = q->program ? 1 : 2, used = 0;
    text[0] = '\0';
    if (!a->certain || !b->certain || e.value - e.low > widest || e.high - e.value > widest)
        return;
    if (fabs(e.low) <= flat && fabs(e.high) <= flat)
        used = snprintf(text, CHART_TEXT, "hardly changes");
    else if (e.low > flat || e.high < -flat)
        used = snprintf(text, CHART_TEXT, "%s as %s^{%.*f}", e.value > 0 ? "grows" : "falls", symbol,
                        decimals, e.value);
    if (used == 0 || q->kind != SERIES_TIME || !(a->work > 0) || !(b->work > 0))
        return;
    double work = log(b->work / a->work) / log(b->at.x / a->at.x);
    snprintf(text + used, CHART_TEXT - (size_t)used, ", its work %sas %s^{%.1f}",
             e.low > flat && work > 0 ? "" : "grows ", symbol, work);
}

/* The sentence about a series with this name. */
static void compose(char text[CHART_TEXT], const struct chart *c, const struct series *s, const char *group,
                    const struct field *axis, bool with_growth)
{
    char escaped[2 * AXES_TEXT], value[2 * UNITS_TEXT], x[UNITS_TEXT], growth[CHART_TEXT] = "";
    const struct point *first = next_good(s, 0), *last = last_good(s, INFINITY);
    const struct point *before = last_good(s, last->at.x);
    gnuplot_escape(escaped, sizeof escaped, group);
    x_text(x, first->at.x, axis);
    int used = snprintf(text, CHART_TEXT, "%s%s%s%s %s %s at %s", s->quantity->subject, *group ? " (" : "",
                        escaped, *group ? ")" : "", c->verb, point_text(value, first, c), x);
    if (!before)
        return;
    used += snprintf(text + used, CHART_TEXT - (size_t)used, " and %s at %.15g", point_text(value, last, c),
                     last->at.x);
    if (with_growth)
        growth_text(growth, before, last, s->quantity, axes_symbol(axis));
    if (*growth)
        snprintf(text + used, CHART_TEXT - (size_t)used, "; between %.15g and %.15g it %s", before->at.x,
                 last->at.x, growth);
}

/* Shortens a name to `length` bytes and "...", at the beginning of a character. */
static void shorten_name(char short_name[AXES_TEXT + 4], const char *name, size_t length)
{
    while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
        length--;
    snprintf(short_name, AXES_TEXT + 4, "%.*s%s", (int)length, name, name[length] ? "..." : "");
}

static void no_finding(char text[CHART_TEXT], const struct series_set *set)
{
    snprintf(text, CHART_TEXT, "%s: all times are noisy, so there is no finding",
             set->series[0].quantity->subject);
}

void title_of_lines(char text[CHART_TEXT], const struct chart *c, const struct series_set *set,
                    const struct field *axis)
{
    const struct series *s = first_good(set);
    if (!s) {
        no_finding(text, set);
        return;
    }
    compose(text, c, s, s->group, axis, true);
    for (size_t length = strlen(s->group); !frame_fits(text); length -= length > 0) {
        char group[AXES_TEXT + 4];
        shorten_name(group, s->group, length);
        compose(text, c, s, group, axis, false);
        if (length == 0)
            return;
    }
}

/* Appends " and a forward pass 24.2 ms", of the same group. */
static void append_other(char text[CHART_TEXT], const struct chart *c, const struct series_set *set,
                         const struct series *s)
{
    size_t used = strlen(text);
    char value[2 * UNITS_TEXT];
    for (size_t i = 0; i < set->count; i++) {
        const struct series *other = &set->series[i];
        const char *subject = other->quantity->subject;
        const struct point *p = next_good(other, 0);
        if (p && strcmp(subject, s->quantity->subject) != 0 && strcmp(other->group, s->group) == 0) {
            snprintf(text + used, CHART_TEXT - used, " and %c%s %s", tolower((unsigned char)*subject),
                     subject + 1, point_text(value, p, c));
            return;
        }
    }
}

/* " (ba graph)" if the series is the least (or the most) beyond all intervals; otherwise "". */
static void extreme_name(char text[2 * AXES_TEXT], const struct series_set *set, const struct series *s,
                         bool least)
{
    const struct point *p = next_good(s, 0);
    char escaped[2 * AXES_TEXT - 4];
    text[0] = '\0';
    for (size_t i = 0; i < set->count; i++) {
        const struct series *other = &set->series[i];
        const struct point *q = next_good(other, 0);
        if (q && other != s && other->quantity == s->quantity &&
            !(p->certain && q->certain && (least ? p->at.high < q->at.low : p->at.low > q->at.high)))
            return;
    }
    gnuplot_escape(escaped, sizeof escaped, s->group);
    snprintf(text, 2 * AXES_TEXT, " (%s)", escaped);
}

/* The range of a quantity over n groups. */
static void compose_range(char text[CHART_TEXT], const struct chart *c, const struct series_set *set,
                          const struct series *least, const struct series *most, size_t n, bool named)
{
    char low[UNITS_TEXT], high[UNITS_TEXT], a[2 * AXES_TEXT] = "", b[2 * AXES_TEXT] = "";
    value_text(low, next_good(least, 0)->at.y, c);
    value_text(high, next_good(most, 0)->at.y, c);
    if (named) {
        extreme_name(a, set, least, true);
        extreme_name(b, set, most, false);
    }
    int used = snprintf(text, CHART_TEXT, "%s %s", least->quantity->subject, c->verb);
    if (strcmp(low, high) == 0)
        snprintf(text + used, CHART_TEXT - (size_t)used, " %s in all %zu cases", low, n);
    else
        snprintf(text + used, CHART_TEXT - (size_t)used, " from %s%s to %s%s", low, a, high, b);
}

void title_of_bars(char text[CHART_TEXT], const struct chart *c, const struct series_set *set,
                   const struct field *axis)
{
    const struct series *s = first_good(set), *least = s, *most = s;
    char x[UNITS_TEXT];
    size_t n = 0;
    if (!s) {
        no_finding(text, set);
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct series *other = &set->series[i];
        const struct point *p = next_good(other, 0);
        if (!p || other->quantity != s->quantity)
            continue;
        n++;
        least = p->at.y < next_good(least, 0)->at.y ? other : least;
        most = p->at.y > next_good(most, 0)->at.y ? other : most;
    }
    x_text(x, s->points[0].at.x, axis);
    if (n == 1) {
        compose(text, c, s, s->group, axis, false);
        text[strlen(text) - strlen(" at ") - strlen(x)] = '\0';
        append_other(text, c, set, s);
    } else {
        compose_range(text, c, set, least, most, n, true);
    }
    size_t used = strlen(text);
    snprintf(text + used, CHART_TEXT - used, " at %s", x);
    if (n > 1 && !frame_fits(text)) {
        compose_range(text, c, set, least, most, n, false);
        used = strlen(text);
        snprintf(text + used, CHART_TEXT - used, " at %s", x);
    }
}
