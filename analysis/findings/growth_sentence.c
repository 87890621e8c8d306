/*
 * How the time of a program grows over an axis: the law of its fit, or else the exponent between the last two
 * rows. A fall of time per FLOP is in the law; a rise, which no law of the work has, is told.
 */
#include "analysis/findings/sentences.h"

#include "analysis/record/schema.h"

#include <string.h>

/* A fit of wider intervals, as shares of the medians, tells nothing. */
static const double widest = 0.2;

static bool is_narrow(const struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) {
        const struct law_point *p = &fit->points[i].time;
        if (p->high > (1 + widest) * p->y || p->low < (1 - widest) * p->y)
            return false;
    }
    return !fit->no_verdict;
}

static double work_at_end(const struct fit *fit)
{
    return fit->points[fit->count - 1].flops;
}

/* Training steps before inference, then the largest work. */
static const struct fit *main_fit(const struct fits *fits)
{
    const struct fit *best = NULL;
    for (size_t i = 0; i < fits->count; i++) {
        const struct fit *fit = &fits->list[i];
        int order = !is_narrow(fit) ? -1 : best ? (int)fit->program - (int)best->program : 1;
        if (order > 0 || (order == 0 && work_at_end(fit) > work_at_end(best)))
            best = fit;
    }
    return best;
}

static void say_law(FILE *out, const struct fit *fit)
{
    const struct fit_point *last = &fit->points[fit->count - 1];
    char text[LAW_TEXT];
    const char *attention = last->row->attention;
    double square = fit->law.coefficient[2] * last->time.x * last->time.x / law_at(&fit->law, last->time.x);
    law_text(text, &fit->law, axes_symbol(fit->axis));
    fprintf(out, "takes %s, within %.2g %% of every row's median", text, 100 * fit->law.error);
    if (square > 0.5 && strcmp(fit->axis->path, "nodes") == 0 && attention && strcmp(attention, "dense") == 0)
        fprintf(out, "; by it the N^2 term, which --attention sparse avoids, is %.0f %% at %.10g nodes",
                100 * square, last->time.x);
}

static void say_exponents(FILE *out, const struct fit *fit)
{
    size_t last = fit->count - 1;
    char time_text[LAW_TEXT], work_text[LAW_TEXT];
    struct exponent time = exponent_between(&fit->points[last - 1].time, &fit->points[last].time);
    struct exponent work = fit_work_exponent(fit, last - 1, last);
    exponent_text(time_text, &time, axes_symbol(fit->axis));
    exponent_text(work_text, &work, axes_symbol(fit->axis));
    fprintf(out, "has no law (%s); between %.10g and %.10g it grows as %s, its %ss as %s", fit->no_law,
            fit->points[last - 1].time.x, fit->points[last].time.x, time_text, fit_work_name(fit), work_text);
}

/* "From 100 to 5000 nodes, sparse attention, a training step takes 7.40 ms + 110 µs N, within ..." */
double sentence_growth(FILE *out, const struct facts *facts)
{
    const struct fit *fit = main_fit(&facts->fits);
    char text[AXES_TEXT];
    if (!fit)
        return 0;
    fprintf(out, "From %.10g to %.10g %s%s%s, %s ", fit->points[0].time.x, fit->points[fit->count - 1].time.x,
            fit->axis->unit, *fit->group ? ", " : "", fit->group, subject_of(fit->program));
    if (fit->no_law)
        say_exponents(out, fit);
    else
        say_law(out, fit);
    if (fit_rise_text(text, fit))
        fprintf(out, "; %s", text);
    if (fit->left_out > 0)
        fprintf(out, "; %zu row%s left out: inconclusive, unchecked or in another state of the machine",
                fit->left_out, fit->left_out == 1 ? "" : "s");
    fputs(".", out);
    return work_at_end(fit) + 1;
}
