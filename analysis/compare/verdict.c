/*
 * The observations are the medians of turns. The median of each side has a
 * 97.5 % interval by ranks, for the number of independent observations that correlated ones are worth
 * (robust.c). By Bonferroni's inequality both intervals hold with a probability of 95 %, and then
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
    v.not_slower = false;
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
    else {
        v = unclear(v, "too noisy to tell");
        v.not_slower = v.high <= 1 + limits.margin;
    }
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
    if (fewest < REPORTED_MIN)
        return unjudged(
            unclear(v, "%zu turn%s, fewer than %d", fewest, fewest == 1 ? "" : "s", REPORTED_MIN));
    struct interval b = median_interval_ranks_at(base, n, confidence);
    struct interval s = median_interval_ranks_at(samples, m, confidence);
    if (!(b.low > 0) || !(s.low > 0))
        return unjudged(unclear(v, "a sample that is not above 0"));
    v.low = s.low / b.high;
    v.high = s.high / b.low;
    return judge_interval(v, limits);
}

/* The independent observations of a program: medians of turns, *n of them. To be freed; null with the reason
 * if there are none. */
static double *observations_of(const struct row *row, size_t kind, size_t *n, const char **reason)
{
    struct items medians = row_timed(row, kind)->turn_medians;
    double *values = malloc((medians.count + 1) * sizeof *values);
    if (!values)
        abort();
    for (size_t i = 0; i < medians.count; i++)
        values[i] = medians.list[i].real;
    *n = medians.count;
    if (medians.count > 0)
        return values;
    free(values);
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.time.samples", program_name(kind));
    *reason = row_reason(row, path);
    *reason = *reason ? *reason : "no turns";
    return NULL;
}

static struct verdict not_ok(const char *whose, const struct row *row)
{
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN};
    return unjudged(
        unclear(v, "%s%s: %.400s", whose, row->status ? row->status : "?", row->reason ? row->reason : ""));
}

/* Judges what both rows observed. */
static struct verdict judge_observations(const struct row *base, size_t of_base, const struct row *row,
                                         size_t kind, verdict_judge *judge, struct verdict_limits limits)
{
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN};
    const char *reason = "";
    size_t n, m = 0;
    double *b = observations_of(base, of_base, &n, &reason);
    double *s = b ? observations_of(row, kind, &m, &reason) : NULL;
    if (s)
        v = judge(b, n, s, m, limits);
    else
        v = unjudged(unclear(v, "%s%.400s", b ? "" : "of the baseline: ", reason));
    free(b);
    free(s);
    return v;
}

/* Whether turns were left out, so that too few were reported although enough were taken. */
static bool left_out(const struct row *row, size_t kind)
{
    return row_timed(row, kind)->other_turns > 0;
}

/*
 * A program that is bound by arithmetic takes longer by the ratio of the clocks, one whose threads read what
 * others wrote by that of the exchanges, and most are between: a difference counts only if it is one either
 * way.
 */
static struct verdict judge_drift(struct verdict v, double ratio, struct verdict_limits limits,
                                  const char *what)
{
    struct verdict same = {.ratio = v.ratio / ratio, .low = v.low / ratio, .high = v.high / ratio};
    bool differs = v.kind == VERDICT_FASTER || v.kind == VERDICT_SLOWER;
    limits.margin = v.margin;
    if (!differs || isnan(ratio) || judge_interval(same, limits).kind == v.kind)
        return v;
    bool not_slower = v.kind == VERDICT_FASTER && same.high <= 1 + limits.margin;
    v = unclear(v, "may be the %s, which was %.1f %% %s", what, 100 * fabs(1 / ratio - 1),
                ratio > 1 ? "lower" : "higher");
    v.not_slower = not_slower;
    return v;
}

struct verdict verdict_programs(const struct row *base, size_t of_base, const struct row *row, size_t kind,
                                verdict_judge *judge, struct verdict_limits limits)
{
    if (!row_is_ok(base))
        return not_ok("the baseline is ", base);
    if (!row_is_ok(row))
        return not_ok("", row);
    struct verdict v = judge_observations(base, of_base, row, kind, judge, limits);
    const char *noisy_base = row_noisy(base, of_base),
               *noisy = noisy_base ? noisy_base : row_noisy(row, kind);
    if (noisy) {
        v.unjudged = v.unjudged && !left_out(base, of_base) && !left_out(row, kind);
        return unclear(v, "noisy%s: %.400s", noisy_base ? " baseline" : "", noisy);
    }
    bool differs = v.kind == VERDICT_FASTER || v.kind == VERDICT_SLOWER;
    if (limits.machines || !differs)
        return v;
    if (row_states_differ(base, of_base, row, kind))
        return unclear(v, "measured in different states of the machine");
    v = judge_drift(v, row_state_ratio(base, of_base, row, kind, PROBE_FMA), limits, "clock");
    return judge_drift(v, row_state_ratio(base, of_base, row, kind, PROBE_SHARING), limits,
                       "rate of exchange between threads");
}

struct verdict verdict_rows(const struct row *base, const struct row *row, size_t kind, verdict_judge *judge,
                            struct verdict_limits limits)
{
    return verdict_programs(base, kind, row, kind, judge, limits);
}
