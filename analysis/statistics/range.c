/*
 * If two times are each in their range, their ratio is between time.low / base.high and time.high / base.low.
 * A direction needs all of that beyond the margin; "the same" needs it within (an equivalence test:
 * Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
 *
 * Load only ever adds time, so a time that lost the share s to other programs is at least (1 - s) of itself
 * without them. Two programs of one run suffer the same load, and may lose different shares of it:
 * docs/validation/compare.md has the trials that found a half to be enough there.
 *
 * The extremes of n and m equal times are disjoint by chance in 2 of C(n + m, n) cases.
 */
#include "analysis/statistics/range.h"

#include "analysis/statistics/statistics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct verdict_limits verdict_within = {.margin = 0.01, .same = 0.05},
                            verdict_across = {.margin = 0, .same = 0.1, .across = true};

static const double least_cases = 800, least_left = 0.5;

struct range range_of(const double *observations, size_t n)
{
    struct summary s = summarize(observations, n);
    return (struct range){.median = s.median, .low = s.min, .high = s.max, .turns = n, .extremes = true};
}

struct range range_together(const struct range *runs, size_t n)
{
    double medians[n + 1];
    struct range all = {.median = NAN, .low = INFINITY, .high = NAN};
    for (size_t i = 0; i < n; i++) {
        medians[i] = runs[i].median;
        all.low = fmin(all.low, runs[i].low);
        all.high = fmax(all.high, runs[i].high); /* of NAN and a number, the number */
        all.lost = fmax(all.lost, runs[i].lost);
        all.turns += runs[i].turns;
        all.extremes = all.extremes || n > 1 || runs[i].extremes;
    }
    all.median = summarize(medians, n).median;
    all.runs = n;
    return all;
}

double range_floor(const struct range *r)
{
    return r->low * (r->lost > 0 ? fmax(0, 1 - r->lost) : 1);
}

double range_floor_within(const struct range *r)
{
    return fmax(range_floor(r), least_left * r->low);
}

bool ranges_suffice(const struct range *a, const struct range *b)
{
    double cases = 1;
    for (size_t i = 1; i <= a->turns && cases < least_cases; i++)
        cases *= (double)(b->turns + i) / (double)i;
    return cases >= least_cases;
}

double range_width(const struct range *r)
{
    return (r->high - range_floor(r)) / r->median;
}

enum limit_verdict limit_judge(double low, double high, double limit, bool least)
{
    bool all = least ? low >= limit : high <= limit, none = least ? high < limit : low > limit;
    return all ? LIMIT_MET : none ? LIMIT_MISSED : LIMIT_INCONCLUSIVE;
}

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[] = {"inconclusive", "same", "faster", "slower"};
    return names[kind];
}

void verdict_ratio_text(const struct verdict *v, char text[RATIO_TEXT])
{
    int decimals = v->ratio < 9.9995 ? 3 : v->ratio < 99.95 ? 1 : 0;
    if (isnan(v->ratio))
        strcpy(text, "-");
    else if (isnan(v->low))
        snprintf(text, RATIO_TEXT, "%.*f", decimals, v->ratio);
    else if (v->bound && verdict_differs(v->kind))
        snprintf(text, RATIO_TEXT, "%s %.*f", v->ratio > 1 ? "at least" : "at most", decimals,
                 v->ratio > 1 ? v->low : v->high);
    else
        snprintf(text, RATIO_TEXT, "%.*f [%.*f, %.*f]", decimals, v->ratio, decimals, v->low, decimals,
                 v->high);
}

/* Whether a ratio differs from 1 by more than this share, in either direction. */
static bool beyond(double ratio, double share)
{
    return fabs(log(ratio)) > log1p(share);
}

void verdict_judge(struct verdict *v, struct verdict_limits limits)
{
    double least = v->low > 1 ? v->low : v->high < 1 ? v->high : 1; /* difference that the range leaves */
    v->kind = VERDICT_INCONCLUSIVE;
    if (least != 1 && beyond(least, limits.margin))
        v->kind = least > 1 ? VERDICT_SLOWER : VERDICT_FASTER;
    else if (!beyond(v->low, limits.same) && !beyond(v->high, limits.same))
        v->kind = VERDICT_SAME;
    v->not_slower = v->kind == VERDICT_INCONCLUSIVE && v->high <= 1 + limits.margin;
}

__attribute__((format(printf, 2, 3))) static void leave_open(struct verdict *v, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(v->reason, sizeof v->reason, format, values);
    va_end(values);
    v->kind = VERDICT_INCONCLUSIVE;
}

/* The verdict by the ranges, however many turns they are of. */
static struct verdict judge_ranges(const struct range *base, const struct range *time,
                                   struct verdict_limits limits)
{
    bool own = base->runs >= VERDICT_OWN && time->runs >= VERDICT_OWN;
    double runs = limits.across && !own ? 1 + VERDICT_RUNS : 1;
    double (*floor_of)(const struct range *) = limits.across ? range_floor : range_floor_within;
    struct verdict v = {.ratio = time->median / base->median,
                        .low = floor_of(time) / base->high / runs,
                        .high = time->high / floor_of(base) * runs,
                        .bound = base->extremes || time->extremes};
    verdict_judge(&v, limits);
    return v;
}

/* Says what would decide: less load, or more turns of intervals, whose ends approach the median by 1 /
 * sqrt(n). */
static void explain(struct verdict *v, const struct range *base, const struct range *time,
                    struct verdict_limits limits)
{
    struct range alone[2] = {*base, *time};
    double lost = fmax(base->lost, time->lost),
           open = log(v->ratio > 1 ? v->ratio / v->low : v->high / v->ratio),
           gap = fabs(log(v->ratio)) - log1p(limits.margin) - (limits.across ? log1p(VERDICT_RUNS) : 0);
    size_t most = base->turns > time->turns ? base->turns : time->turns;
    alone[0].lost = alone[1].lost = 0;
    if (lost > 0 && judge_ranges(&alone[0], &alone[1], limits).kind != VERDICT_INCONCLUSIVE)
        leave_open(v, "up to %.1f %% of the time was lost to other programs: without that it is decided",
                   100 * lost);
    else if (!v->bound && gap > 0 && open / gap < 10)
        leave_open(v, "about %.0f repetitions of each would decide",
                   ceil((double)most * open * open / (gap * gap)));
}

struct verdict verdict_of(const struct range *base, const struct range *time, struct verdict_limits limits)
{
    struct verdict v = judge_ranges(base, time, limits);
    v.few = !ranges_suffice(base, time);
    v.not_slower = v.not_slower && !v.few;
    if (!(base->median > 0) || !(time->median > 0)) {
        v.low = v.high = NAN;
        v.not_slower = false;
        v.uncompared = true;
        leave_open(&v, "no time above 0");
    } else if (v.kind != VERDICT_FASTER && (!(v.low > 0) || !isfinite(v.high))) {
        v.low = v.high = NAN;
        leave_open(&v, "all of the time may have been lost to other programs");
    } else if (v.kind == VERDICT_INCONCLUSIVE) {
        explain(&v, base, time, limits);
    } else if (v.few) {
        leave_open(&v,
                   "%zu and %zu repetitions are too few to tell a difference from chance: 6 and 6 are enough",
                   base->turns, time->turns);
    }
    return v;
}
