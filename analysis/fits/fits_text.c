#include "analysis/fits/fits.h"

#include "analysis/statistics/allocate.h"
#include "analysis/tables/wrap.h"

enum { LAW_POINTS = 3 }; /* fewer are not worth a line */

const char *fit_work_name(const struct fit *fit)
{
    return fit->by_bytes ? "byte" : "FLOP";
}

/* "between 500 and 1000 nodes N^1.33 [1.23, 1.59]; ": other exponents are in the record. */
static void print_exponent(const struct fit *fit, FILE *out)
{
    const struct fit_point *from = &fit->points[fit->count - 2], *to = from + 1;
    char text[LAW_TEXT], values[AXES_TEXT];
    struct exponent time = fit_last_exponent(fit);
    exponent_text(text, &time, axes_symbol(fit->axis));
    axes_describe_span(fit->axis, from->time.x, "and", to->time.x, values);
    if (fit_tells(fit))
        fprintf(out, "between %s %s; ", values, text);
}

/* "step, gelu = 5.8 ms + 94 µs N + 83 ns N^2", or why there is no scaling fit, and how time grows at the end.
 */
static void print_law(const struct fit *fit, FILE *out)
{
    char text[LAW_TEXT];
    fprintf(out, "%s%s", fit->program == TIMED_FORWARD ? "inference" : program_name(fit->program),
            *fit->group ? ", " : "");
    plain_put(out, fit->group);
    law_text(text, &fit->law, axes_symbol(fit->axis));
    if (!fit->no_law) {
        fprintf(out, " = %s, within %.2g %%", text, 100 * fit->law.error);
    } else {
        fputs(": ", out);
        print_exponent(fit, out);
        fprintf(out, "no scaling fit: %s", fit->no_law);
    }
    fputs(fit->loaded ? "; under load, exponent likely low\n" : "\n", out);
}

/* Whether it is of the program that the question is mostly about: the training step, if it was timed. */
static bool leads(const struct fits *fits, const struct fit *fit)
{
    bool has_step = false;
    for (size_t i = 0; i < fits->count; i++)
        has_step = has_step || (fits->list[i].count >= LAW_POINTS && fits->list[i].program == TIMED_STEP);
    return fit->count >= LAW_POINTS && fit_tells(fit) && (fit->program == TIMED_STEP || !has_step);
}

void fits_print(const struct fits *fits, FILE *out)
{
    enum { SHOWN = 6 };
    size_t found = 0;
    struct wrap lines;
    wrap_begin(&lines, out);
    for (size_t i = 0; i < fits->count; i++)
        if (leads(fits, &fits->list[i]) && found++ < SHOWN)
            print_law(&fits->list[i], lines.lines);
    wrap_end(&lines);
    if (found > SHOWN)
        fprintf(out, "%zu more scaling fits are in the result file\n", found - SHOWN);
}

/* "time per FLOP rises by 40 % from 2000 nodes on" */
static void print_change(FILE *out, const struct fit *fit, const struct fit_change *c)
{
    char text[AXES_TEXT];
    double from = fit->points[c->from].time.x, to = fit->points[c->to].time.x;
    bool first = c->from == 0, last = c->to + 1 == fit->count;
    fprintf(out, "time per %s %s by %.0f %% ", fit_work_name(fit), c->ratio > 1 ? "rises" : "falls",
            100 * fabs(c->ratio - 1));
    if (first == last)
        axes_describe_span(fit->axis, from, "to", to, text);
    else
        axes_describe_number(fit->axis, last ? from : to, text);
    fprintf(out, "%s %s%s", first && !last ? "up to" : "from", text, last && !first ? " on" : "");
}

bool fit_rise_text(char text[AXES_TEXT], const struct fit *fit)
{
    const struct fit_point *from = &fit->points[fit->rise.from], *to = &fit->points[fit->rise.to];
    text[0] = '\0';
    if (from == to)
        return false;
    FILE *out = fmemopen(text, AXES_TEXT, "w");
    if (!out)
        abort();
    print_change(out, fit, &fit->rise);
    if (fit->rise_is == FIT_CROSSES && from->level && from->bound && to->level && to->bound)
        fprintf(out, ", where the rows go from %s, %s-bound, to %s, %s-bound", from->level, from->bound,
                to->level, to->bound);
    fclose(out);
    return true;
}

static bool contradicts(const struct fit *fit)
{
    return fit->verdict == FIT_CONTRADICTS && (fit->rise_is == FIT_CONTRADICTS || !fit->law.terms);
}

static void print_warning(const struct fit *fit, FILE *out)
{
    bool rises = fit->rise_is == FIT_CONTRADICTS;
    fprintf(out, "CONTRADICTION: %s%s", program_name(fit->program), *fit->group ? ", " : "");
    plain_put(out, fit->group);
    fprintf(out, " over %s %.10g-%.10g: ", fit->axis->path, fit->points[0].time.x,
            fit->points[fit->count - 1].time.x);
    print_change(out, fit, rises ? &fit->rise : &fit->change);
    fprintf(out, ", though the level of memory and the bound stay the same there%s",
            rises ? "" : ", and no scaling fit explains that");
    putc('\n', out);
}

void fits_warn(const struct fits *fits, FILE *out)
{
    struct wrap lines;
    wrap_begin(&lines, out);
    for (size_t i = 0; i < fits->count; i++)
        if (contradicts(&fits->list[i]))
            print_warning(&fits->list[i], lines.lines);
    wrap_end(&lines);
}
