/*
 * Each median has a 97.5 % interval by ranks, for the number of independent samples that the correlated ones
 * are worth (robust.c). By Bonferroni's inequality both intervals hold with a probability of 95 %, and then
 * the ratio of the true medians is between low / base high and high / base low. This interval of at least 95
 * % assumes no distribution, and nothing about the noise of the two. If they are equally noisy, its
 * confidence is closer to 99.8 %, and narrower intervals exist; but a comparison has many rows and is made
 * often, and a false alarm costs more than a second run. A bootstrap of the ratio would be narrower, and
 * wrong for about ten correlated samples (robust.h).
 *
 * A difference of 0.1 % does not matter, however certain it is: "slower" and "faster" also need a ratio
 * beyond the margin. "Same" needs an interval that excludes every difference that matters (an equivalence
 * test: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). Everything else is unclear.
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

/* There was nothing to judge: too few samples, or none. */
static struct verdict unjudged(struct verdict v)
{
    v.unjudged = true;
    return v;
}

/* Whether a ratio differs from 1 by more than this share, in either direction. */
static bool beyond(double ratio, double share)
{
    return fabs(log(ratio)) > log1p(share);
}

static struct verdict judge_interval(struct verdict v, struct verdict_limits limits)
{
    double least = v.low > 1 ? v.low : v.high < 1 ? v.high : 1; /* difference that the interval leaves */
    if (least != 1 && beyond(limits.whole ? least : v.ratio, limits.margin))
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
        return unjudged(unclear(v, "no time above 0"));
    v.ratio = median / base_median;
    size_t fewest = n < m ? n : m;
    if (fewest < VERDICT_SAMPLES_MIN)
        return unjudged(
            unclear(v, "%zu sample%s, fewer than %d", fewest, fewest == 1 ? "" : "s", VERDICT_SAMPLES_MIN));
    struct interval b = median_interval_ranks_at(base, n, confidence);
    struct interval s = median_interval_ranks_at(samples, m, confidence);
    if (!(b.low > 0) || !(s.low > 0))
        return unjudged(unclear(v, "a sample that is not above 0"));
    v.low = s.low / b.high;
    v.high = s.high / b.low;
    return judge_interval(v, limits);
}

/* The samples of a program, to be freed, or null with the reason. */
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
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN};
    return unjudged(unclear(v, "%s%s: %.400s", whose, status, reason));
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
        v = unjudged(unclear(v, "%s%.400s", b ? "" : "of the baseline: ", reason));
    free(b);
    free(s);
    return v;
}
