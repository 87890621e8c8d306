/* Findings about sweeps: growth, layers, batches. */
#include "analysis/findings/sentences.h"

#include "analysis/record/schema.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *subject_of(const struct fit *fit)
{
    return strcmp(fit->program, "step") == 0 ? "a training step" : "inference";
}

/* "From 100 to 5000 nodes, sparse attention, " */
static void print_range(FILE *out, const struct fit *fit)
{
    fprintf(out, "From %.10g to %.10g %s%s%s%s ", fit->points[0].time.x, fit->points[fit->count - 1].time.x,
            fit->axis->unit, *fit->group ? ", " : "", fit->group, *fit->group ? "," : "");
}

static void print_growth(FILE *out, const struct fit *fit)
{
    static const char *const verdicts[] = {"follows its", "may or may not follow its", "does not follow its",
                                           "does not follow its"};
    const char *work = fit_work_name(fit);
    char text[AXES_TEXT];
    size_t last = fit->count - 1;
    print_range(out, fit);
    fprintf(out, "the time of %s %s %ss", subject_of(fit), verdicts[fit->verdict], work);
    fit_change_text(text, fit);
    if (fit->verdict == FIT_AGREES)
        fprintf(out,
                ": between any two of the rows, time per %s changes by less than 10 %% or an exponent of 0.1",
                work);
    else
        fprintf(out, "%s: %s", fit->verdict == FIT_CANNOT_TELL ? ", the rows cannot tell" : "", text);
    struct exponent time = exponent_between(&fit->points[last - 1].time, &fit->points[last].time);
    struct exponent exact = fit_work_exponent(fit, last - 1, last);
    char time_text[LAW_TEXT], work_text[LAW_TEXT];
    exponent_text(time_text, &time, axes_symbol(fit->axis));
    exponent_text(work_text, &exact, axes_symbol(fit->axis));
    fprintf(out, ". Between %.10g and %.10g it grows as %s, its %ss as %s.", fit->points[last - 1].time.x,
            fit->points[last].time.x, time_text, work, work_text);
    law_text(time_text, &fit->law, axes_symbol(fit->axis));
    if (!fit->no_law)
        fprintf(out, " %s is within %.2g %% of every row.", time_text, 100 * fit->law.error);
    putc('\n', out);
}

/* The line through the times, and the row furthest from it. The time is linear if no row's interval leaves 5
 * % of the line, and not linear if one is wholly outside. */
struct line {
    struct law law; /* without terms: too few rows */
    struct law_point furthest;
    double distance; /* of its median, relative to the line */
    bool inside, outside;
};

static struct line line_of(const struct fit *fit)
{
    static const double tolerance = 0.05;
    struct law_point *times = calloc(fit->count, sizeof *times);
    if (!times)
        abort();
    for (size_t i = 0; i < fit->count; i++)
        times[i] = fit->points[i].time;
    struct line line = {.law = law_fit(times, fit->count, 3), .distance = -1, .inside = true};
    for (size_t i = 0; line.law.terms && i < fit->count; i++) {
        double at = law_at(&line.law, times[i].x), distance = fabs(times[i].y / at - 1);
        double low = times[i].low / at, high = times[i].high / at;
        bool outside = low > 1 + tolerance || high < 1 - tolerance;
        if ((outside && !line.outside) || (outside == line.outside && distance > line.distance)) {
            line.distance = distance;
            line.furthest = times[i];
        }
        line.outside = line.outside || outside;
        line.inside = line.inside && low >= 1 - tolerance && high <= 1 + tolerance;
    }
    free(times);
    return line;
}

static void print_layers(FILE *out, const struct fit *fit)
{
    struct line line = line_of(fit);
    const struct law_point *p = &line.furthest;
    char text[LAW_TEXT];
    if (!line.law.terms)
        return;
    law_text(text, &line.law, axes_symbol(fit->axis));
    print_range(out, fit);
    fprintf(out, "the time of %s ", subject_of(fit));
    if (line.outside)
        fprintf(out, "is not linear in layers: with %.10g it takes %.0f %% %s than the line %s.\n", p->x,
                100 * line.distance, p->y > law_at(&line.law, p->x) ? "more" : "less", text);
    else if (line.inside)
        fprintf(out, "is linear in layers: %s, within %.2g %% of every row.\n", text, 100 * line.distance);
    else
        fprintf(out,
                "may or may not be linear in layers, the rows cannot tell: of the line %s, the medians are "
                "within %.2g %%, but an interval reaches beyond 5 %%.\n",
                text, 100 * line.distance);
}

static double throughput(const struct fit *fit, size_t i)
{
    return fit->points[i].time.x / fit->points[i].time.y;
}

/* The throughput of point i over that of another, with its interval. */
static struct law_point share_of(const struct fit *fit, size_t i, size_t other)
{
    struct law_point time = law_ratio(&fit->points[other].time, &fit->points[i].time);
    if (i == other)
        return (struct law_point){1, 1, 1, 1};
    return (struct law_point){time.x, time.x / time.y, time.x / time.high, time.x / time.low};
}

enum answer { NO, OPEN, YES };

/* Whether the throughput from point k on stays within 10 % of the best. */
static enum answer saturates(const struct fit *fit, size_t k, size_t best)
{
    enum answer answer = YES;
    for (size_t i = k; i < fit->count; i++) {
        struct law_point share = share_of(fit, i, best);
        enum answer here = share.low >= 0.9 ? YES : share.high < 0.9 ? NO : OPEN;
        answer = here < answer ? here : answer;
    }
    return answer;
}

static void print_batch(FILE *out, const struct fit *fit)
{
    size_t best = 0, last = fit->count - 1, knee = 0;
    char rate[UNITS_TEXT];
    for (size_t i = 0; i < fit->count; i++)
        best = throughput(fit, i) > throughput(fit, best) ? i : best;
    while (knee < last && saturates(fit, knee, best) != YES)
        knee++;
    enum answer at_last = saturates(fit, last, best), before = saturates(fit, last - 1, best);
    units_format(rate, throughput(fit, best), UNITS_SI, "graphs/s");
    print_range(out, fit);
    if (at_last == NO)
        fprintf(out, "the throughput of %s is highest with %.10g, %s, and %.0f %% lower with %.10g.\n",
                subject_of(fit), fit->points[best].time.x, rate, 100 * (1 - share_of(fit, last, best).y),
                fit->points[last].time.x);
    else if (knee < last)
        fprintf(out,
                "the throughput of %s saturates at %.10g%s: with more it stays within 10 %% of the highest, "
                "%s.\n",
                subject_of(fit), fit->points[knee].time.x,
                knee == 0 || saturates(fit, knee - 1, best) == NO ? "" : " or before", rate);
    else if (best == last && before == NO)
        fprintf(out,
                "the throughput of %s does not saturate: from %.10g to %.10g it rises by %.0f %%, to %s.\n",
                subject_of(fit), fit->points[last - 1].time.x, fit->points[last].time.x,
                100 * (1 / share_of(fit, last - 1, best).y - 1), rate);
    else
        fprintf(
            out,
            "the rows cannot tell whether the throughput of %s saturates; the highest is %s, with %.10g.\n",
            subject_of(fit), rate, fit->points[best].time.x);
}

/* The program whose growth is told: training steps, or inference if there are no fits of them. */
static const char *main_program(const struct fits *fits)
{
    for (size_t i = 0; i < fits->count; i++)
        if (strcmp(fits->list[i].program, "step") == 0)
            return "step";
    return "forward";
}

void sentences_sweep(FILE *out, const struct facts *facts)
{
    enum { SHOWN = 4 };
    const char *program = main_program(facts->fits);
    for (size_t i = 0, shown = 0; i < facts->fits->count && shown < SHOWN; i++) {
        const struct fit *fit = &facts->fits->list[i];
        bool batch = strcmp(fit->axis->path, "batch") == 0;
        if (fit->no_verdict || (!batch && strcmp(fit->program, program) != 0))
            continue;
        if (batch)
            print_batch(out, fit);
        else if (strcmp(fit->axis->path, "layers") == 0)
            print_layers(out, fit);
        else
            print_growth(out, fit);
        shown++;
    }
}

/* The row with the most graphs of those that say what padding would take. */
static const struct row *largest_batch(const struct facts *facts, const char *field)
{
    const struct row *largest = NULL;
    int64_t most = 1, graphs, flops;
    for (size_t i = 0; i < rows_count(facts->rows); i++) {
        const struct row *row = rows_at(facts->rows, i);
        if (row_get_count(row, "batch", &graphs) && graphs > most && row_get_count(row, field, &flops)) {
            most = graphs;
            largest = row;
        }
    }
    return largest;
}

static double flops_of(const struct row *row, const char *program, const char *way)
{
    char field[SCHEMA_PATH];
    int64_t flops;
    snprintf(field, sizeof field, "%s.flops.%s", program, way);
    return row_get_count(row, field, &flops) ? (double)flops : NAN;
}

void sentences_batching(FILE *out, const struct facts *facts)
{
    static const char *const programs[] = {"step", "forward"};
    const struct row *row = largest_batch(facts, "step.flops.padded");
    const char *program = programs[row == NULL];
    int64_t graphs;
    row = row ? row : largest_batch(facts, "forward.flops.padded");
    if (!row || !row_get_count(row, "batch", &graphs))
        return;
    char text[UNITS_TEXT];
    double useful = flops_of(row, program, "ragged");
    units_format(text, useful, UNITS_SI, "FLOP");
    fprintf(out,
            "A batch of %lld graphs takes %s in %s; padded to the largest graph it would take %.3g times as "
            "many, padded in buckets %.3g times, packed %.3g times.\n",
            (long long)graphs, text, strcmp(program, "step") == 0 ? "a training step" : "inference",
            flops_of(row, program, "padded") / useful, flops_of(row, program, "bucketed") / useful,
            flops_of(row, program, "packed") / useful);
}
