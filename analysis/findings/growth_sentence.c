/*
 * How the time of a program grows over an axis: the law of its fit, or else the exponent between the last two
 * rows. A fall of time per FLOP is in the law; a rise, which no law of the work has, is told.
 */
#include "analysis/findings/sentences.h"

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
        int order = fit->no_verdict || !fit_tells(fit) ? -1
                    : best                             ? (int)fit->program - (int)best->program
                                                       : 1;
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
    if (square > 0.5 && !fit->loaded && strcmp(fit->axis->path, "nodes") == 0 && attention &&
        strcmp(attention, "dense") == 0)
        fprintf(out, "; by it the N^2 term, which --attention sparse avoids, is %.0f %% at %.10g nodes",
                100 * square, last->time.x);
}

static void say_exponents(FILE *out, const struct fit *fit)
{
    size_t last = fit->count - 1;
    char time_text[LAW_TEXT], work_text[LAW_TEXT];
    struct exponent time = fit_last_exponent(fit);
    struct exponent work = fit_work_exponent(fit, last - 1, last);
    exponent_text(time_text, &time, axes_symbol(fit->axis));
    exponent_text(work_text, &work, axes_symbol(fit->axis));
    fprintf(out, "has no scaling fit (%s); between %.10g and %.10g it grows as %s, its %ss as %s",
            fit->no_law, fit->points[last - 1].time.x, fit->points[last].time.x, time_text,
            fit_work_name(fit), work_text);
}

/* "; --batch 64 takes 0.31 [0.29, 0.33] times as long for each graph as 1", if that is less for certain. */
static void say_batch(FILE *out, const struct fit *fit)
{
    const struct fit_point *a = &fit->points[0], *b = &fit->points[fit->count - 1];
    struct verdict v = row_verdict(a->row, fit->program, b->row, fit->program, verdict_within);
    double graphs = b->time.x / a->time.x;
    if (strcmp(fit->axis->path, "batch") == 0 && v.kind != VERDICT_INCONCLUSIVE && v.high < graphs)
        fprintf(out, "; --batch %.10g takes %.2g [%.2g, %.2g] times as long for each graph as %.10g",
                b->time.x, v.ratio / graphs, v.low / graphs, v.high / graphs, a->time.x);
}

/* "From 100 to 5000 nodes, sparse attention, a training step takes 7.40 ms + 110 µs N, within ..." */
double sentence_growth(FILE *out, const struct facts *facts, struct basis *basis)
{
    const struct fit *fit = main_fit(&facts->fits);
    char text[AXES_TEXT];
    if (!fit)
        return 0;
    *basis = (struct basis){fit->count, fit->count + fit->left_out};
    axes_describe_span(fit->axis, fit->points[0].time.x, "to", fit->points[fit->count - 1].time.x, text);
    fprintf(out, "From %s%s%s, %s ", text, *fit->group ? ", " : "", fit->group, subject_of(fit->program));
    if (fit->no_law)
        say_exponents(out, fit);
    else
        say_law(out, fit);
    if (fit_rise_text(text, fit))
        fprintf(out, "; %s", text);
    say_batch(out, fit);
    fputs(fit->loaded ? "; under load, exponent likely low." : ".", out);
    return work_at_end(fit) + 1;
}
