/* The texts of a chart. */
#include "analysis/charts/chart_text.h"

#include "analysis/charts/gnuplot.h"
#include "analysis/record/record.h"
#include "analysis/record/row.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Appends to a text, truncated to CHART_TEXT. */
__attribute__((format(printf, 2, 3))) static void append(char text[CHART_TEXT], const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, CHART_TEXT - used, format, values);
    va_end(values);
}

/* "12.3 ms at 100 nodes" */
static void append_point(char text[CHART_TEXT], const struct point *p, const struct field *axis,
                         enum unit_base base, const char *unit)
{
    char value[UNITS_TEXT];
    units_format(value, p->y, base, unit);
    int length = (int)strlen(axis->unit) - (p->x == 1); /* units are plurals */
    append(text, "%s at %.15g %.*s", value, p->x, *axis->unit ? length : (int)strlen(axis->path),
           *axis->unit ? axis->unit : axis->path);
}

/*
 * Whether the exponent is precise enough for a title: the cost of a tenfold size is known within a factor of
 * 1.8.
 */
static bool is_finding(const struct power_law *fit)
{
    const double widest = 0.25;
    return fit->has_interval && fit->half_width <= widest;
}

void chart_title(char text[CHART_TEXT], const struct series *first, const struct field *axis,
                 const char *what, enum unit_base base, const char *unit)
{
    const double about_flat = 0.05; /* 12 % over a decade */
    const struct power_law *fit = &first->fit;
    char group[2 * AXES_TEXT];
    gnuplot_escape(group, sizeof group, first->group);
    text[0] = '\0';
    append(text, "%s", first->quantity->subject);
    if (is_finding(fit))
        append(text, " %s", what);
    if (*group)
        append(text, " (%s)", group);
    if (!is_finding(fit))
        append(text, ": ");
    else if (fabs(fit->exponent) < about_flat)
        append(text, " hardly changes: ");
    else
        append(text, " %s as %s^{%.1f}: ", fit->exponent > 0 ? "grows" : "falls", axes_symbol(axis),
               fit->exponent);
    append_point(text, &first->points[0], axis, base, unit);
    if (fit->has_exponent) {
        append(text, ", ");
        append_point(text, &first->points[first->count - 1], axis, base, unit);
    }
}

void chart_legend(char text[CHART_TEXT], const struct series *s, const struct field *axis)
{
    const double meaningless = 1; /* too uncertain to show */
    char group[2 * AXES_TEXT];
    gnuplot_escape(group, sizeof group, s->group);
    text[0] = '\0';
    append(text, "%s%s%s", s->quantity->label, *s->quantity->label && *group ? ", " : "", group);
    if (!*text)
        append(text, "%s", s->quantity->subject);
    if (!s->fit.has_interval || s->fit.half_width > meaningless)
        return;
    append(text, ", %s^{%.2f", axes_symbol(axis), s->fit.exponent);
    if (s->fit.half_width >= 0.005) /* not rounded to 0 */
        append(text, " ± %.2f", s->fit.half_width);
    append(text, "}");
}

static const struct row *first_ok(const struct rows *rows)
{
    for (size_t i = 0; i < rows_count(rows); i++)
        if (row_is_ok(rows_at(rows, i)))
            return rows_at(rows, i);
    return NULL;
}

/* Appends an axis if it is the same in all rows. */
static void append_constant(char text[CHART_TEXT], const struct rows *rows, const struct field *axis)
{
    char value[AXES_TEXT];
    axes_describe(first_ok(rows), axis, value);
    if (*value && !axes_vary(rows, axis))
        append(text, "%s%s", *text ? ", " : "", value);
}

/* Axes that identify the machine and the program rather than a size. */
static const char *const identity[] = {"model", "dtype", "device", "threads"};
enum { IDENTITY = sizeof identity / sizeof *identity };

void chart_machine(char text[CHART_TEXT], const struct record *record, const struct rows *rows)
{
    const char *cpu;
    text[0] = '\0';
    if (record && value_get_text(record_head(record), "host.cpu", &cpu))
        append(text, "%s", cpu);
    for (size_t i = 0; i < IDENTITY; i++)
        append_constant(text, rows, schema_find(identity[i]));
}

void chart_work(char text[CHART_TEXT], const struct rows *rows)
{
    text[0] = '\0';
    for (size_t i = 0; i < schema_fields_count; i++) {
        const struct field *axis = &schema_fields[i];
        bool told = !axis->symbol;
        for (size_t k = 0; k < IDENTITY; k++)
            told = told || strcmp(axis->path, identity[k]) == 0;
        if (!told)
            append_constant(text, rows, axis);
    }
}

void chart_left_out(char text[CHART_TEXT], const struct rows *rows, const struct field *axis)
{
    enum { NAMED = 5 };
    size_t others = 0;
    text[0] = '\0';
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        const char *status = "?";
        char value[AXES_TEXT];
        if (row_is_ok(row))
            continue;
        row_get_text(row, "status", &status);
        axes_describe(row, axis, value);
        if (others++ < NAMED)
            append(text, "%s%s (%s)", *text ? ", " : "left out: ", value, status);
    }
    if (others > NAMED)
        append(text, " and %zu more", others - NAMED);
}
