/* Fits as text. */
#include "analysis/fits/fits.h"

#include "analysis/record/axes.h"
#include "analysis/record/row.h"
#include "analysis/record/schema.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <string.h>

static const char *text_of(const struct value *fit, const char *name)
{
    const char *text = "";
    value_get_text(fit, name, &text);
    return text;
}

static double real_of(const struct value *fit, const char *name)
{
    double value = NAN;
    value_get_real(fit, name, &value);
    return value;
}

static const char *symbol_text(const struct value *fit)
{
    return axes_symbol(schema_find(text_of(fit, "axis")));
}

/* "step, gelu over nodes" */
static void print_subject(const struct value *fit, FILE *out)
{
    const char *group = text_of(fit, "group");
    fprintf(out, "%s%s%s over %s %g-%g", text_of(fit, "program"), *group ? ", " : "", group,
            text_of(fit, "axis"), real_of(fit, "from"), real_of(fit, "to"));
}

/* "N^1.38 ± 0.04" */
static void print_exponent(const struct value *fit, FILE *out)
{
    double half = (real_of(fit, "exponent_high") - real_of(fit, "exponent_low")) / 2;
    fprintf(out, "%s^%.2f ± %.2f", symbol_text(fit), real_of(fit, "exponent"), half);
}

/* "12.1 µs N + 1.30 ns N^2": coefficients and the terms of the law. */
static void print_law(const struct value *fit, FILE *out)
{
    char terms[SCHEMA_PATH], *rest = terms;
    const char *separator = "";
    snprintf(terms, sizeof terms, "%s", text_of(fit, "law"));
    for (struct walk w = value_walk(value_get(fit, "law_coefficients")); rest && walk_next(&w);) {
        double coefficient = 0;
        char value[UNITS_TEXT], *end = strstr(rest, " + ");
        int length = end ? (int)(end - rest) : (int)strlen(rest);
        value_read_real(w.value, &coefficient);
        units_format(value, coefficient, UNITS_SI, "s");
        fprintf(out, "%s%s", separator, value);
        separator = " + ";
        if (length != 1 || *rest != '1')
            fprintf(out, " %.*s", length, rest);
        rest = end ? end + strlen(" + ") : NULL;
    }
    fprintf(out, " within %.2g %%", 100 * real_of(fit, "law_error"));
    if (*text_of(fit, "law_as_good"))
        fprintf(out, " (or %s)", text_of(fit, "law_as_good"));
}

static const char *work_name(const struct value *fit)
{
    return strcmp(text_of(fit, "work"), "bytes") == 0 ? "bytes" : "FLOPs";
}

void fits_print(const struct value *fits, FILE *out)
{
    enum { SHOWN = 12 };
    size_t shown = 0, more = 0;
    for (struct walk w = value_walk(fits); walk_next(&w);) {
        const struct value *fit = w.value;
        if (isnan(real_of(fit, "exponent_low")))
            continue;
        if (shown == SHOWN) {
            more++;
            continue;
        }
        fputs(shown++ ? "  " : "\ngrowth of time\n  ", out);
        print_subject(fit, out);
        fputs(": ", out);
        print_exponent(fit, out);
        if (!isnan(real_of(fit, "work_exponent")))
            fprintf(out, ", its %s %s^%.2f", work_name(fit), symbol_text(fit), real_of(fit, "work_exponent"));
        if (*text_of(fit, "law")) {
            fputs("; ", out);
            print_law(fit, out);
        }
        putc('\n', out);
    }
    if (more)
        fprintf(out, "  and %zu more in the result file\n", more);
}

static void warn_contradiction(const struct value *fit, FILE *out)
{
    bool faster = real_of(fit, "excess") > 0;
    fputs("CONTRADICTION: ", out);
    print_subject(fit, out);
    fputs(": time grows as ", out);
    print_exponent(fit, out);
    fprintf(out,
            ", but the %s as %s^%.2f, though all rows are in one level of memory (%s) and %s-bound: %s\n",
            work_name(fit), symbol_text(fit), real_of(fit, "work_exponent"), text_of(fit, "levels"),
            text_of(fit, "bounds"),
            faster ? "something costs more than the algorithm predicts"
                   : "small sizes have costs that do not grow with the work");
}

static void warn_crossing(const struct value *fit, FILE *out)
{
    fputs("note: ", out);
    print_subject(fit, out);
    fprintf(out, ": time grows by an exponent of %.2f %s than the %s; ", fabs(real_of(fit, "excess")),
            real_of(fit, "excess") > 0 ? "more" : "less", work_name(fit));
    if (*text_of(fit, "levels"))
        fprintf(out, "the rows are in %s and bound by %s\n", text_of(fit, "levels"), text_of(fit, "bounds"));
    else
        fputs("the levels of memory are not known without a roofline\n", out);
}

void fits_warn(const struct value *fits, FILE *out)
{
    for (struct walk w = value_walk(fits); walk_next(&w);) {
        const struct value *fit = w.value;
        if (strcmp(text_of(fit, "verdict"), "contradicts") == 0)
            warn_contradiction(fit, out);
        else if (strcmp(text_of(fit, "verdict"), "crosses") == 0)
            warn_crossing(fit, out);
    }
}
