/*
 * Verdicts.
 *
 * For both medians there is an interval of 97.5 % by ranks, as wide as the number of independent samples
 * makes it (robust.c). By Bonferroni's inequality both hold with 95 %, and then the ratio of the true medians
 * is between low / base high and high / base low: an interval of at least 95 % that assumes no distribution
 * and nothing about how noisy the two are. Where they are equally noisy it is nearer to 99.8 %, and narrower
 * ones exist; but a comparison has many rows and is made often, and a false alarm costs more than a second
 * run. A bootstrap of the ratio would be narrower and, of some ten samples that correlate, wrong (robust.h).
 *
 * Another 0.5 % of certainty does not make a difference of 0.1 % matter: a verdict also needs a ratio beyond
 * the margin. "Same" is a claim as well, and needs an interval that leaves no difference worth mention (an
 * equivalence test: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). What is neither
 * is unclear.
 */
#include "analysis/compare/verdict.h"

#include "analysis/record/schema.h"
#include "analysis/statistics/statistics.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

static const double confidence = 0.975; /* of each median's interval */

struct verdict_limits verdict_limits_default(void)
{
    return (struct verdict_limits){.margin = 0.01, .same = 0.05};
}

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[] = {"unclear", "same", "faster", "slower"};
    return names[kind];
}

__attribute__((format(printf, 2, 3))) static struct verdict unclear(struct verdict v, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(v.reason, sizeof v.reason, format, values);
    va_end(values);
    v.kind = VERDICT_UNCLEAR;
    return v;
}

/* Whether a ratio is further from 1 than this share, in either direction alike. */
static bool beyond(double ratio, double share)
{
    return fabs(log(ratio)) > log1p(share);
}

static struct verdict judge_interval(struct verdict v, struct verdict_limits limits)
{
    bool differs = v.low > 1 || v.high < 1;
    if (differs && beyond(v.ratio, limits.margin))
        v.kind = v.ratio > 1 ? VERDICT_SLOWER : VERDICT_FASTER;
    else if (!beyond(v.low, limits.same) && !beyond(v.high, limits.same))
        v.kind = VERDICT_SAME;
    else
        return unclear(v, "too noisy to tell");
    return v;
}

struct verdict verdict_samples(const double *base, size_t n, const double *samples, size_t m,
                               struct verdict_limits limits)
{
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN, .margin = limits.margin};
    double base_median = summarize(base, n).median, median = summarize(samples, m).median;
    if (!(base_median > 0) || !(median > 0))
        return unclear(v, "no time above 0");
    v.ratio = median / base_median;
    size_t fewest = n < m ? n : m;
    if (fewest < VERDICT_SAMPLES_MIN)
        return unclear(v, "%zu sample%s, fewer than %d", fewest, fewest == 1 ? "" : "s", VERDICT_SAMPLES_MIN);
    struct interval b = median_interval_ranks_at(base, n, confidence);
    struct interval s = median_interval_ranks_at(samples, m, confidence);
    if (!(b.low > 0) || !(s.low > 0))
        return unclear(v, "a sample that is not above 0");
    v.low = s.low / b.high;
    v.high = s.high / b.low;
    return judge_interval(v, limits);
}

/* The samples of a program, to be freed; null with the reason if there are none. */
static double *samples_of(const struct row *row, const char *program, size_t *n, const char **reason)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.time.samples", program);
    *n = row_reals_count(row, path);
    double *samples = *n > 0 ? malloc(*n * sizeof *samples) : NULL;
    if (*n > 0 && !samples) {
        fprintf(stderr, "verdict: no memory for %zu samples\n", *n);
        abort();
    }
    if (samples && row_get_reals(row, path, samples, *n, n))
        return samples;
    *reason = row_reason(row, path);
    *reason = *reason ? *reason : "no samples";
    free(samples);
    return NULL;
}

static struct verdict not_ok(const char *whose, const struct row *row)
{
    const char *status = "?", *reason = "";
    row_get_text(row, "status", &status);
    row_get_text(row, "reason", &reason);
    return unclear((struct verdict){.ratio = NAN, .low = NAN, .high = NAN}, "%s%s: %.400s", whose, status,
                   reason);
}

struct verdict verdict_rows(const struct row *base, const struct row *row, const char *program,
                            verdict_judge *judge, struct verdict_limits limits)
{
    static const char of_baseline[] = "the baseline is ";
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN};
    const char *reason = "";
    size_t n, m = 0;
    if (!row_is_ok(base))
        return not_ok(of_baseline, base);
    if (!row_is_ok(row))
        return not_ok("", row);
    double *b = samples_of(base, program, &n, &reason), *s = b ? samples_of(row, program, &m, &reason) : NULL;
    if (s)
        v = judge(b, n, s, m, limits);
    else
        v = unclear(v, "%s%.400s", b ? "" : "of the baseline: ", reason);
    free(b);
    free(s);
    return v;
}
