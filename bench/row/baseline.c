#include "bench/row/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/comparison.h"
#include "analysis/compare/match.h"
#include "analysis/compare/verdict.h"
#include "analysis/statistics/statistics.h"

static const double least_margin = 0.05;

double baseline_drift(const double *samples, size_t n)
{
    double low = INFINITY, high = 0;
    for (size_t b = 0; n >= BASELINE_BLOCKS && b < BASELINE_BLOCKS; b++) {
        size_t first = b * n / BASELINE_BLOCKS, end = (b + 1) * n / BASELINE_BLOCKS;
        double median = summarize(samples + first, end - first).median;
        low = fmin(low, median);
        high = fmax(high, median);
    }
    return n < BASELINE_BLOCKS ? 0 : (high - low) / summarize(samples, n).median;
}

static double drift_of(const struct row *row, const char *program)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.time.samples", program);
    size_t n, capacity = row_reals_count(row, path);
    double *samples = malloc((capacity + 1) * sizeof *samples);
    double drift =
        samples && row_get_reals(row, path, samples, capacity, &n) ? baseline_drift(samples, n) : 0;
    free(samples);
    return drift;
}

/* What is compared, and the axes that tell rows apart. */
struct judging {
    const struct rows *base, *rows;
    struct match_rule rule;
    const struct field *axes[AXES_MAX];
    size_t axes_count;
    int compared, slower;
    FILE *out;
};

static void print_axes(const struct judging *j, const struct row *row)
{
    char text[AXES_TEXT];
    for (size_t i = 0; i < j->axes_count; i++) {
        axes_text(row, j->axes[i], text);
        fprintf(j->out, "%12s ", text);
    }
}

static void judge_program(struct judging *j, const struct row *base, const struct row *row,
                          const char *program)
{
    double margin = fmax(least_margin, fmax(drift_of(base, program), drift_of(row, program)));
    struct verdict v =
        verdict_rows(base, row, program, (struct verdict_limits){.margin = margin, .same = least_margin});
    char interval[64] = "-";
    if (isfinite(v.low))
        snprintf(interval, sizeof interval, "%6.3f [%.3f, %.3f]", v.ratio, v.low, v.high);
    else if (isfinite(v.ratio)) /* of few samples */
        snprintf(interval, sizeof interval, "%6.3f", v.ratio);
    print_axes(j, row);
    fprintf(j->out, "%-8s %-24s margin %4.1f %%  %s%s%s\n", program, interval, 100 * margin,
            verdict_name(v.kind), *v.reason ? ": " : "", v.reason);
    j->compared += isfinite(v.low);
    j->slower += v.kind == VERDICT_SLOWER;
}

/* Matching leaves open where a row ran, since machines differ in it; a reader must know. */
static void note_place(const struct judging *j, const struct row *base, const struct row *row)
{
    static const char *const places[] = {"device", "threads"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char then[AXES_TEXT], now[AXES_TEXT];
        axes_text(base, schema_find(places[i]), then);
        axes_text(row, schema_find(places[i]), now);
        if (strcmp(then, now) != 0)
            fprintf(j->out, "note: %s %s, in the baseline %s: this is no comparison of builds\n", places[i],
                    now, then);
    }
}

static void explain(const struct judging *j, const struct row *row)
{
    char why[AXES_TEXT];
    match_explain(&j->rule, j->base, row, why);
    print_axes(j, row);
    fprintf(j->out, "not in the baseline: %s\n", why);
}

/* The programs that were asked for, and encodings wherever they were timed. */
static bool is_wanted(const bool programs[PROGRAMS], size_t p, const struct row *row)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.time.samples", comparison_program(p));
    return p < PROGRAMS ? programs[p] : row_reals_count(row, path) > 0;
}

int baseline_judge(const struct rows *base, const struct rows *rows, const bool programs[PROGRAMS], FILE *out)
{
    struct judging j = {.base = base, .rows = rows, .out = out};
    const struct rows *const both[] = {j.base, j.rows};
    j.rule = match_rule(both, 2, NULL);
    j.axes_count = axes_varying(j.rows, j.axes);
    fprintf(out, "\nagainst the baseline, time over its time and 95 %% interval:\n");
    for (size_t i = 0; i < j.axes_count; i++)
        fprintf(out, "%12s ", j.axes[i]->path);
    fprintf(out, "program\n");
    for (size_t i = 0; i < rows_count(j.rows); i++) {
        const struct row *row = rows_at(j.rows, i);
        size_t base = match_find(&j.rule, j.base, row);
        for (size_t p = 0; p < COMPARED_PROGRAMS && base != MATCH_NONE; p++)
            if (is_wanted(programs, p, row))
                judge_program(&j, rows_at(j.base, base), row, comparison_program(p));
        if (base != MATCH_NONE)
            note_place(&j, rows_at(j.base, base), row);
    }
    for (size_t i = 0; i < rows_count(j.rows); i++)
        if (match_find(&j.rule, j.base, rows_at(j.rows, i)) == MATCH_NONE)
            explain(&j, rows_at(j.rows, i));
    if (!j.compared)
        fprintf(out, "nothing could be compared\n");
    return j.compared ? j.slower : -1;
}
