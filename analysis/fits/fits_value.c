#include "analysis/fits/fits.h"

static void set_absent(struct value *v, const char *name, const char *reason)
{
    if (!value_get(v, "absent"))
        value_set(v, "absent", value_new_object());
    value_set_text(value_get(v, "absent"), name, reason);
}

/* A list of numbers, one more for each append. */
static struct value *list_of(struct value *v, const char *name)
{
    value_set(v, name, value_new_array());
    return value_get(v, name);
}

static void set_exponent_fields(struct value *v, const struct fit *fit)
{
    const char *no_work = fit_no_work(fit);
    struct value *values = list_of(v, "values"), *exponents = list_of(v, "exponents");
    struct value *lows = list_of(v, "exponents_low"), *highs = list_of(v, "exponents_high");
    struct value *work = no_work ? NULL : list_of(v, "cost_exponents");
    for (size_t i = 0; i < fit->count; i++) {
        value_append(values, value_new_real(fit->points[i].time.x));
        if (i == 0)
            continue;
        struct exponent e = fit_exponent(fit, i - 1, i);
        value_append(exponents, value_new_real(e.value));
        value_append(lows, value_new_real(e.low));
        value_append(highs, value_new_real(e.high));
        if (!no_work)
            value_append(work, value_new_real(fit_work_exponent(fit, i - 1, i).value));
    }
    if (no_work)
        set_absent(v, "cost_exponents", no_work);
}

static void set_law_fields(struct value *v, const struct fit *fit)
{
    char text[LAW_TEXT];
    law_terms_text(text, fit->terms, axes_symbol(fit->axis));
    if (fit->terms)
        value_set_text(v, "cost_terms", text);
    if (fit->no_law)
        return set_absent(v, "formula", fit->no_law);
    law_terms_text(text, fit->law.terms, axes_symbol(fit->axis));
    value_set_text(v, "formula", text);
    struct value *coefficients = list_of(v, "coefficients");
    for (int t = 0; t < LAW_TERMS; t++)
        if (fit->law.terms >> t & 1)
            value_append(coefficients, value_new_real(fit->law.coefficient[t]));
    value_set_real(v, "error", fit->law.error);
}

static void set_verdict_fields(struct value *v, const struct fit *fit)
{
    static const char *const names[] = {"agrees", "inconclusive", "crosses", "contradicts"};
    if (fit->no_verdict)
        return set_absent(v, "verdict", fit->no_verdict);
    value_set_real(v, "change", fit->change.ratio);
    value_set_real(v, "change_low", fit->change.low);
    value_set_real(v, "change_high", fit->change.high);
    value_set_real(v, "change_from", fit->points[fit->change.from].time.x);
    value_set_real(v, "change_to", fit->points[fit->change.to].time.x);
    value_set_text(v, "verdict", names[fit->verdict]);
}

struct value *fits_value(const struct fits *fits)
{
    struct value *array = value_new_array();
    for (size_t i = 0; i < fits->count; i++) {
        const struct fit *fit = &fits->list[i];
        struct value *v = value_new_object();
        value_set_text(v, "program", program_name(fit->program));
        value_set_text(v, "axis", fit->axis->path);
        value_set_text(v, "group", fit->group);
        value_set_count(v, "points", (int64_t)fit->count);
        value_set_real(v, "from", fit->points[0].time.x);
        value_set_real(v, "to", fit->points[fit->count - 1].time.x);
        value_set_text(v, "cost", fit->by_bytes ? "bytes" : "flops");
        set_exponent_fields(v, fit);
        set_law_fields(v, fit);
        set_verdict_fields(v, fit);
        value_append(array, v);
    }
    return array;
}
