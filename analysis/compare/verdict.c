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
 * A difference of 0.1 % does not matter, however certain it is: "slower" and "faster" need an
 * interval beyond the margin. "Same" needs an interval that excludes every difference that matters (an
 * equivalence test: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). Everything else
 * is inconclusive.
 *
 * Where fewer turns are in one state, the range of all turns takes the place of the interval. Ranges of four
 * equal turns each are disjoint in 2.9 % of cases; those of fewer are stretched.
 */
#include "analysis/compare/verdict.h"

#include "analysis/record/schema.h"
#include "analysis/statistics/statistics.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const double confidence = 0.975; /* of each median's interval */

/* A range of fewer turns than RANGE_TURNS is wider than they show by so much at either end. */
enum { RANGE_TURNS = 4 };
static const double stretch = 0.1;

struct verdict_limits verdict_limits_default(void)
{
    return (struct verdict_limits){.margin = 0.01, .same = 0.05};
}

struct verdict_limits verdict_limits_files(void)
{
    return (struct verdict_limits){.margin = 0, .same = 0.1};
}

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[] = {"inconclusive", "same", "faster", "slower"};
    return names[kind];
}

void verdict_ratio_text(const struct verdict *v, char text[UNITS_TEXT])
{
    bool differs = v->kind == VERDICT_FASTER || v->kind == VERDICT_SLOWER;
    int decimals = v->ratio < 9.9995 ? 3 : v->ratio < 99.95 ? 1 : 0;
    if (isnan(v->ratio))
        strcpy(text, "-");
    else if (isnan(v->low))
        snprintf(text, UNITS_TEXT, "%.*f", decimals, v->ratio);
    else if (v->bound && differs)
        snprintf(text, UNITS_TEXT, "%s %.*f", v->ratio > 1 ? "at least" : "at most", decimals,
                 v->ratio > 1 ? v->low : v->high);
    else
        snprintf(text, UNITS_TEXT, "%.*f [%.*f, %.*f]", decimals, v->ratio, decimals, v->low, decimals,
                 v->high);
}

__attribute__((format(printf, 2, 3))) static struct verdict inconclusive(struct verdict v, const char *format,
                                                                         ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(v.reason, sizeof v.reason, format, values);
    va_end(values);
    v.kind = VERDICT_INCONCLUSIVE;
    v.not_slower = false;
    return v;
}

/* There was nothing to judge: too few samples, or none. */
static struct verdict not_compared(struct verdict v)
{
    v.uncompared = true;
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
    v.margin = limits.margin;
    v.kind = VERDICT_INCONCLUSIVE;
    if (least != 1 && beyond(least, limits.margin))
        v.kind = v.ratio > 1 ? VERDICT_SLOWER : VERDICT_FASTER;
    else if (!beyond(v.low, limits.same) && !beyond(v.high, limits.same))
        v.kind = VERDICT_SAME;
    v.not_slower = v.kind == VERDICT_INCONCLUSIVE && v.high <= 1 + limits.margin;
    return v;
}

struct verdict verdict_samples(const double *base, size_t n, const double *samples, size_t m,
                               struct verdict_limits limits)
{
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN, .margin = limits.margin};
    double base_median = summarize(base, n).median, median = summarize(samples, m).median;
    if (!(base_median > 0) || !(median > 0))
        return not_compared(inconclusive(v, "no time above 0"));
    v.ratio = median / base_median;
    size_t fewest = n < m ? n : m;
    if (fewest < REPORTED_MIN)
        return not_compared(
            inconclusive(v, "%zu turn%s, fewer than %d", fewest, fewest == 1 ? "" : "s", REPORTED_MIN));
    struct interval b = median_interval_ranks_at(base, n, confidence);
    struct interval s = median_interval_ranks_at(samples, m, confidence);
    if (!(b.low > 0) || !(s.low > 0))
        return not_compared(inconclusive(v, "a sample that is not above 0"));
    v.low = s.low / b.high;
    v.high = s.high / b.low;
    return judge_interval(v, limits);
}

/* The independent observations of a program: medians of turns, *n of them. To be freed. */
static double *observations_of(const struct row *row, size_t kind, size_t *n)
{
    struct items medians = row_timed(row, kind)->turn_medians;
    double *values = malloc((medians.count + 1) * sizeof *values);
    if (!values)
        abort();
    for (size_t i = 0; i < medians.count; i++)
        values[i] = medians.reals[i];
    *n = medians.count;
    return values;
}

/* Why a row has no time. */
static const char *why_untimed(const struct row *row, size_t kind)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.time.samples", program_name(kind));
    const char *reason = row_reason(row, path);
    return reason ? reason : "no time above 0";
}

static struct verdict not_ok(const char *whose, const struct row *row)
{
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN};
    return not_compared(inconclusive(v, "%s%s: %.400s", whose, row->status ? row->status : "?",
                                     row->reason ? row->reason : ""));
}

/* Judges what both rows observed. */
static struct verdict judge_observations(const struct row *base, size_t of_base, const struct row *row,
                                         size_t kind, verdict_judge *judge, struct verdict_limits limits)
{
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN};
    size_t n, m;
    double *b = observations_of(base, of_base, &n), *s = observations_of(row, kind, &m);
    if (n == 0)
        v = not_compared(inconclusive(v, "of the baseline: %.400s", why_untimed(base, of_base)));
    else if (m == 0)
        v = not_compared(inconclusive(v, "%.400s", why_untimed(row, kind)));
    else
        v = judge(b, n, s, m, limits);
    free(b);
    free(s);
    return v;
}

/* Whether turns were left out, so that too few were reported although enough were taken. */
static bool left_out(const struct row *row, size_t kind)
{
    return row_timed(row, kind)->other_turns > 0;
}

/* Gives the interval, `measured` alone, room for a part of the machine's state that was `ratio` times as slow
 * beside the row: a program follows it wholly, in part, or not at all. */
static void allow_for(struct verdict *v, const struct verdict *measured, double ratio)
{
    if (isnan(ratio))
        return;
    v->low = fmin(v->low, measured->low / ratio);
    v->high = fmax(v->high, measured->high / ratio);
}

/* What another state may change, either way: as much as the ping, and no less than a core that is shared. */
static double state_change(double ping_ratio)
{
    static const double shared = 1.2;
    return isfinite(log(ping_ratio)) ? fmax(shared, exp(fabs(log(ping_ratio)))) : shared;
}

/* On one machine, a difference counts if it is one at any clock and rate of sharing between the two, and if
 * no other state explains it. */
static struct verdict judge_state(struct verdict v, const struct row *base, size_t of_base,
                                  const struct row *row, size_t kind, struct verdict_limits limits)
{
    bool differs = v.kind == VERDICT_FASTER || v.kind == VERDICT_SLOWER;
    if (limits.machines || !differs)
        return v;
    double clock = row_state_ratio(base, of_base, row, kind, PROBE_FMA),
           sharing = row_state_ratio(base, of_base, row, kind, PROBE_SHARING);
    bool other = row_states_differ(base, of_base, row, kind);
    const struct verdict measured = v;
    limits.margin = v.margin;
    allow_for(&v, &measured, clock);
    allow_for(&v, &measured, sharing);
    if (other) {
        double change = state_change(row_state_ratio(base, of_base, row, kind, PROBE_PING));
        allow_for(&v, &measured, change);
        allow_for(&v, &measured, 1 / change);
    }
    v = judge_interval(v, limits);
    if (v.kind != VERDICT_INCONCLUSIVE)
        return v;
    bool not_slower = v.not_slower;
    v = other ? inconclusive(v, "measured in different states of the machine")
              : inconclusive(v, "the clock was %.1f %% %s, the rate of sharing between threads %.1f %% %s",
                             100 * fabs(1 / clock - 1), clock > 1 ? "lower" : "higher",
                             100 * fabs(1 / sharing - 1), sharing > 1 ? "lower" : "higher");
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
        v.uncompared = v.uncompared && !left_out(base, of_base) && !left_out(row, kind);
        return inconclusive(v, "%s%.400s", noisy_base ? "of the baseline: " : "", noisy);
    }
    return judge_state(v, base, of_base, row, kind, limits);
}

struct verdict verdict_rows(const struct row *base, const struct row *row, size_t kind, verdict_judge *judge,
                            struct verdict_limits limits)
{
    return verdict_programs(base, kind, row, kind, judge, limits);
}

/* What is known of a time, in seconds. */
struct known {
    double median, low, high;
    bool range; /* of turns, not an interval of the median */
    bool own;   /* it shows how runs differ */
};

static struct known known_range(const double *values, size_t n)
{
    struct summary s = summarize(values, n);
    double more = n < RANGE_TURNS ? 1 + stretch : 1;
    return (struct known){.median = s.median, .low = s.min / more, .high = s.max * more, .range = true};
}

static struct known known_median(const double *values, size_t n)
{
    if (n < REPORTED_MIN)
        return known_range(values, n);
    struct interval i = median_interval_ranks_at(values, n, confidence);
    return (struct known){.median = summarize(values, n).median, .low = i.low, .high = i.high};
}

/* The medians of all turns of a time, in whatever state, or, as older versions took none, of groups of
 * samples; *n of them, to be freed. */
static double *medians_of_all(const struct row_times *time, size_t *n)
{
    struct items samples = time->samples, sizes = time->blocks;
    size_t groups = sizes.count > 1                  ? sizes.count
                    : samples.count >= SPREAD_BLOCKS ? SPREAD_BLOCKS
                                                     : samples.count;
    double *medians = malloc((groups + 1) * sizeof *medians);
    if (!medians)
        abort();
    *n = 0;
    for (size_t i = 0, from = 0, to; i < groups; i++, from = to) {
        to = sizes.count > 1 ? from + (size_t)fmax(0, sizes.reals[i]) : (i + 1) * samples.count / groups;
        to = to < samples.count ? to : samples.count;
        if (to > from)
            medians[(*n)++] = summarize(samples.reals + from, to - from).median;
    }
    return medians;
}

/* The share of a time that went to other programs; in older files that of before the row. */
static double lost_of(const struct row *row, size_t kind)
{
    double lost = row_timed(row, kind)->lost;
    lost = isnan(lost) ? row->noise.lost : lost;
    return lost > 0 ? fmin(lost, 1) : 0;
}

/* What one row knows; NAN if it has no time. */
static struct known known_row(const struct row *row, size_t kind)
{
    size_t n;
    bool settled = row_settled(row, kind);
    double *medians = settled ? observations_of(row, kind, &n) : medians_of_all(row_timed(row, kind), &n);
    struct known known = settled ? known_median(medians, n) : known_range(medians, n);
    known.median = row_timed(row, kind)->median; /* that of one state, if only some turns were in it */
    if (known.range)
        known.low *= 1 - lost_of(row, kind); /* another run may lose less to other programs */
    free(medians);
    return known;
}

/* What the rows of one work know together. */
static struct known known_rows(const struct rows *rows, size_t kind)
{
    size_t n = 0;
    struct known all = {.median = NAN, .low = INFINITY};
    double *medians = malloc((rows_count(rows) + 1) * sizeof *medians);
    if (!medians)
        abort();
    for (size_t i = 0; i < rows_count(rows); i++) {
        struct known one = known_row(rows_at(rows, i), kind);
        if (!row_is_ok(rows_at(rows, i)) || !(one.median > 0))
            continue;
        medians[n++] = one.median;
        all.low = fmin(all.low, one.low);
        all.high = fmax(all.high, one.high);
        all.range = all.range || n > 1 || one.range;
    }
    all.median = summarize(medians, n).median;
    if (n >= VERDICT_OWN) {
        all = known_median(medians, n);
        all.own = true;
    }
    free(medians);
    return all;
}

struct verdict verdict_files(const struct rows *base, const struct rows *rows, size_t kind,
                             struct verdict_limits limits)
{
    const struct row *first = rows_at(base, 0), *row = rows_at(rows, 0);
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN};
    if (!row_is_ok(first))
        return not_ok("the baseline is ", first);
    if (!row_is_ok(row))
        return not_ok("", row);
    struct known b = known_rows(base, kind), s = known_rows(rows, kind);
    v.ratio = s.median / b.median;
    if (!(b.median > 0))
        return not_compared(inconclusive(v, "of the baseline: %.400s", why_untimed(first, kind)));
    if (!(s.median > 0))
        return not_compared(inconclusive(v, "%.400s", why_untimed(row, kind)));
    double runs = b.own && s.own ? 1 : 1 + VERDICT_RUNS;
    v.low = s.low / b.high / runs;
    v.high = s.high / b.low * runs;
    v.bound = b.range || s.range;
    v = judge_interval(v, limits);
    if (v.kind == VERDICT_INCONCLUSIVE && !(b.low > 0 && s.low > 0)) {
        v.low = v.high = NAN;
        return inconclusive(v, "all of the time may have been lost to other programs");
    }
    return judge_state(v, first, kind, row, kind, limits);
}
