#include "analysis/record/row_range.h"

#include "analysis/statistics/allocate.h"

struct range times_range(const struct row *row, const struct row_times *t)
{
    double lost = isnan(t->lost) ? row->noise.lost : t->lost; /* older files have that of before the row */
    size_t samples = t->samples.count < ROW_GROUPS ? t->samples.count : ROW_GROUPS;
    bool in_turns = t->repetition_medians.count > 0;
    return (struct range){.median = t->median,
                          .low = t->range_low,
                          .high = t->range_high,
                          .lost = lost > 0 ? fmin(lost, 1) : 0,
                          .turns = in_turns ? t->repetition_medians.count : samples,
                          .extremes = !in_turns || isnan(t->ci95_low)};
}

struct range row_range(const struct row *row, size_t kind)
{
    return times_range(row, row_timed(row, kind));
}

__attribute__((format(printf, 1, 2))) static struct verdict not_compared(const char *format, ...)
{
    struct verdict v = {.ratio = NAN, .low = NAN, .high = NAN, .uncompared = true};
    va_list values;
    va_start(values, format);
    vsnprintf(v.reason, sizeof v.reason, format, values);
    va_end(values);
    return v;
}

static const char *why_untimed(const struct row *row, size_t kind)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.time.samples", program_name(kind));
    const char *reason = row_reason(row, path);
    return reason ? reason : "no time above 0";
}

/* Gives the range, `measured` alone, room for a part of the machine's state that was `ratio` times as slow
 * beside the row: a program follows it wholly, in part, or not at all. */
static void allow_for(struct verdict *v, const struct verdict *measured, double ratio)
{
    if (isnan(ratio))
        return;
    v->low = fmin(v->low, measured->low / ratio);
    v->high = fmax(v->high, measured->high / ratio);
}

/* A ping that is so many times another is of another state, though too few probes were between to show a gap.
 */
static const double other_ping = 1.5;

/* What another state may change, either way: as much as the ping, and no less than a core that is shared. */
static double state_change(double ping_ratio)
{
    static const double shared = 1.2;
    return isfinite(log(ping_ratio)) ? fmax(shared, exp(fabs(log(ping_ratio)))) : shared;
}

/* Takes back a difference that a clock, a rate of sharing or another state explains. */
static void judge_state(struct verdict *v, const struct row *base, size_t of_base, const struct row *row,
                        size_t kind, struct verdict_limits limits)
{
    if (limits.machines || !verdict_differs(v->kind))
        return;
    bool mixed = v->bound; /* then the medians of probes say nothing of either state */
    double clock = mixed ? NAN : row_state_ratio(base, of_base, row, kind, PROBE_FMA),
           sharing = mixed ? NAN : row_state_ratio(base, of_base, row, kind, PROBE_SHARING),
           ping = row_state_ratio(base, of_base, row, kind, PROBE_PING);
    bool other = row_states_differ(base, of_base, row, kind) || (!mixed && fabs(log(ping)) > log(other_ping));
    const struct verdict measured = *v;
    allow_for(v, &measured, clock);
    allow_for(v, &measured, sharing);
    if (other) {
        double change = state_change(ping);
        allow_for(v, &measured, change);
        allow_for(v, &measured, 1 / change);
    }
    verdict_judge(v, limits);
    if (v->kind == VERDICT_INCONCLUSIVE && other)
        snprintf(v->reason, sizeof v->reason, "measured in different states of the machine");
    else if (v->kind == VERDICT_INCONCLUSIVE)
        snprintf(v->reason, sizeof v->reason,
                 "the clock was %.1f %% %s, the rate of sharing between threads %.1f %% %s",
                 100 * fabs(1 / clock - 1), clock > 1 ? "lower" : "higher", 100 * fabs(1 / sharing - 1),
                 sharing > 1 ? "lower" : "higher");
}

static struct verdict judge_rows(const struct range *base, const struct row *base_row, size_t of_base,
                                 const struct range *time, const struct row *row, size_t kind,
                                 struct verdict_limits limits)
{
    if (!row_is_ok(base_row))
        return not_compared("the baseline is %s: %.400s", base_row->status ? base_row->status : "?",
                            base_row->reason ? base_row->reason : "");
    if (!row_is_ok(row))
        return not_compared("%s: %.400s", row->status ? row->status : "?", row->reason ? row->reason : "");
    if (!(base->median > 0) || base->turns == 0)
        return not_compared("of the baseline: %.400s", why_untimed(base_row, of_base));
    if (!(time->median > 0) || time->turns == 0)
        return not_compared("%.400s", why_untimed(row, kind));
    struct verdict v = verdict_of(base, time, limits);
    judge_state(&v, base_row, of_base, row, kind, limits);
    return v;
}

struct verdict row_verdict(const struct row *base, size_t of_base, const struct row *row, size_t kind,
                           struct verdict_limits limits)
{
    struct range b = row_range(base, of_base), r = row_range(row, kind);
    return judge_rows(&b, base, of_base, &r, row, kind, limits);
}

struct range rows_range(const struct rows *rows, size_t kind)
{
    size_t n = 0;
    struct range *all = allocate(rows_count(rows), sizeof *all);
    for (size_t i = 0; i < rows_count(rows); i++) {
        all[n] = row_range(rows_at(rows, i), kind);
        n += row_is_ok(rows_at(rows, i)) && all[n].median > 0;
    }
    struct range together = range_together(all, n);
    free(all);
    return together;
}

struct verdict rows_verdict(const struct rows *base, const struct rows *rows, size_t kind,
                            struct verdict_limits limits)
{
    struct range b = rows_range(base, kind), r = rows_range(rows, kind);
    return judge_rows(&b, rows_at(base, 0), kind, &r, rows_at(rows, 0), kind, limits);
}
