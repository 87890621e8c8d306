/*
 * Probes are clustered on one axis by their gaps, as Jenks' natural breaks or single linkage would, but with
 * a test of each gap against the scatter beside it, so that one cluster stays one. The widest gap that passes
 * divides the values, and both sides are divided again.
 */
#include "analysis/statistics/states.h"

#include <math.h>

#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"

const char *const probe_parts[PROBE_PARTS] = {"ping", "fma", "sharing"};

static const double gap_over_extent = 3, least_gap = 1.25, least_shared = 1.002;

/* The ratio across the quarter of sorted[n] that is nearest to its end, or to its begin. */
static double extent(const double *sorted, size_t n, bool at_end)
{
    size_t quarter = (n + 3) / 4;
    return at_end ? sorted[n - 1] / sorted[n - 1 - quarter] : sorted[quarter] / sorted[0];
}

static bool is_border(const double *sorted, size_t n, size_t i)
{
    double gap = sorted[i] / sorted[i - 1];
    double scatter = fmax(extent(sorted, i, true), extent(sorted + i, n - i, false));
    return gap >= least_gap && log(gap) >= gap_over_extent * log(scatter);
}

/* Adds the borders within sorted[n], ascending. */
static void divide(struct borders *b, const double *sorted, size_t n)
{
    size_t best = 0;
    for (size_t i = BORDER_SIDE; i + BORDER_SIDE <= n; i++)
        if (is_border(sorted, n, i) &&
            (best == 0 || sorted[i] / sorted[i - 1] > sorted[best] / sorted[best - 1]))
            best = i;
    if (best == 0)
        return;
    divide(b, sorted, best);
    if (b->count < BORDERS_MAX)
        b->at[b->count++] = sqrt(sorted[best - 1] * sorted[best]);
    divide(b, sorted + best, n - best);
}

struct borders borders_find(double *values, size_t n)
{
    struct borders b = {0};
    sort_doubles(values, n);
    divide(&b, values, n);
    return b;
}

size_t borders_locate(const struct borders *b, double value)
{
    size_t cluster = 0;
    while (cluster < b->count && value > b->at[cluster])
        cluster++;
    return cluster;
}

static bool is_given_up(const struct turn *t)
{
    return t->before.seconds[PROBE_PING] >= PROBE_LIMIT || t->after.seconds[PROBE_PING] >= PROBE_LIMIT;
}

static double multiply_adds(const struct turn *t)
{
    return fmin(t->before.seconds[PROBE_FMA], t->after.seconds[PROBE_FMA]);
}

/* The limit of a cluster of multiply-adds; sorts them. */
static double unshared(double *values, size_t n)
{
    if (n == 0)
        return INFINITY;
    sort_doubles(values, n);
    return values[0] * fmax(least_shared, pow(values[(n - 1) / 4] / values[0], 4));
}

/* Finds the limits, after the borders; values[n] is scratch. */
static void find_unshared(struct states *s, const struct turn *turns, size_t n, double *values)
{
    const struct borders *b = &s->part[PROBE_FMA];
    for (size_t cluster = 0; cluster <= b->count; cluster++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (multiply_adds(&turns[i]) > 0 && !is_given_up(&turns[i]) &&
                borders_locate(b, multiply_adds(&turns[i])) == cluster)
                values[count++] = multiply_adds(&turns[i]);
        s->unshared[cluster] = unshared(values, count);
    }
}

struct states states_find(const struct turn *turns, size_t n)
{
    struct states s = {0};
    double *values = allocate(2 * n, sizeof *values);
    for (int part = 0; part < PROBE_PARTS; part++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (turns[i].before.seconds[part] > 0 && !is_given_up(&turns[i])) {
                values[count++] = turns[i].before.seconds[part];
                values[count++] = turns[i].after.seconds[part];
            }
        s.part[part] = borders_find(values, count);
    }
    find_unshared(&s, turns, n, values);
    free(values);
    return s;
}

bool states_shared(const struct states *s, double multiply_adds)
{
    double limit = s->unshared[borders_locate(&s->part[PROBE_FMA], multiply_adds)];
    return limit > 0 && multiply_adds > limit;
}

bool states_same(const struct states *s, const struct probe *a, const struct probe *b)
{
    bool same = true;
    for (int part = 0; part < PROBE_PARTS; part++)
        same = same && borders_locate(&s->part[part], a->seconds[part]) ==
                           borders_locate(&s->part[part], b->seconds[part]);
    return same;
}

bool states_holds(const struct states *s, const struct turn *t, const struct turn *other)
{
    return !is_given_up(t) && states_same(s, &t->before, &t->after) &&
           states_same(s, &t->before, &other->before) &&
           states_shared(s, multiply_adds(t)) == states_shared(s, multiply_adds(other));
}

const struct turn *states_best_filled(const struct states *s, const struct turn *turns, size_t n)
{
    const struct turn *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        for (size_t k = 0; k < n; k++)
            count += states_holds(s, &turns[k], &turns[i]);
        if (count > most && states_holds(s, &turns[i], &turns[i])) {
            best = &turns[i];
            most = count;
        }
    }
    return best;
}

/* Whether the turns outside the chosen state take a time like those inside; sorts the latter. */
static bool is_like(double *inside, size_t n, const double *outside, size_t m)
{
    double median = summarize(outside, m).median;
    sort_doubles(inside, n);
    return quantile(inside, n, 0.25) <= median && median <= quantile(inside, n, 0.75);
}

static double *medians_of(const struct turns *t)
{
    double *medians = allocate(t->count, sizeof *medians);
    const double *samples = t->samples;
    for (size_t i = 0; i < t->count; samples += t->list[i++].samples)
        medians[i] = summarize(samples, t->list[i].samples).median;
    return medians;
}

struct probe states_median(const struct turn *turns, size_t n, const bool *counts)
{
    struct probe state;
    double *values = allocate(2 * n, sizeof *values);
    for (int part = 0; part < PROBE_PARTS; part++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if ((counts && !counts[i]) || !(turns[i].before.seconds[part] > 0))
                continue;
            values[count++] = part == PROBE_FMA ? multiply_adds(&turns[i]) : turns[i].before.seconds[part];
            if (part != PROBE_FMA)
                values[count++] = turns[i].after.seconds[part];
        }
        state.seconds[part] = summarize(values, count).median;
    }
    free(values);
    return state;
}

/* Reports all turns; all[] are their medians. */
static void report_all(struct reported *r, const double *all, size_t n)
{
    r->turns = n;
    r->others = 0;
    for (size_t i = 0; i < n; i++) {
        r->is_reported[i] = true;
        r->medians[i] = all[i];
    }
}

bool reported_suffices(size_t turns, size_t all)
{
    return turns >= REPORTED_MIN && 2 * turns > all;
}

struct reported reported_choose(const struct turns *t, const struct states *s)
{
    const struct turn *best = states_best_filled(s, t->list, t->count);
    double *all = medians_of(t), *inside = allocate(t->count, sizeof *inside),
           *outside = allocate(t->count, sizeof *outside);
    struct reported r = {.medians = allocate(t->count, sizeof *r.medians),
                         .is_reported = allocate(t->count, sizeof *r.is_reported),
                         .stateless = !best};
    for (size_t i = 0; i < t->count; i++) {
        r.is_reported[i] = best && states_holds(s, &t->list[i], best);
        if (!r.is_reported[i]) {
            outside[r.others++] = all[i];
            continue;
        }
        inside[r.turns] = all[i];
        r.medians[r.turns++] = all[i];
    }
    r.state = states_median(t->list, t->count, best ? r.is_reported : NULL);
    r.settled = reported_suffices(r.turns, t->count);
    if (!r.settled || (r.others > 0 && is_like(inside, r.turns, outside, r.others)))
        report_all(&r, all, t->count);
    free(all);
    free(inside);
    free(outside);
    return r;
}

struct reported reported_part(const struct turns *t, const struct reported *whole)
{
    struct reported r = *whole;
    double *all = medians_of(t);
    r.medians = allocate(t->count, sizeof *r.medians);
    r.is_reported = allocate(t->count, sizeof *r.is_reported);
    r.turns = 0;
    for (size_t i = 0; i < t->count; i++) {
        r.is_reported[i] = whole->is_reported[i];
        if (r.is_reported[i])
            r.medians[r.turns++] = all[i];
    }
    free(all);
    return r;
}

double reported_median(const struct reported *r)
{
    return summarize(r->medians, r->turns).median;
}

double *reported_values(const struct turns *t, const struct reported *r, const double *values, size_t *n)
{
    size_t all = 0;
    for (size_t i = 0; i < t->count; i++)
        all += t->list[i].samples;
    double *chosen = allocate(all, sizeof *chosen);
    *n = 0;
    for (size_t i = 0; i < t->count; values += t->list[i++].samples)
        for (size_t k = 0; k < t->list[i].samples && r->is_reported[i]; k++)
            chosen[(*n)++] = values[k];
    return chosen;
}

void reported_free(struct reported *r)
{
    free(r->medians);
    free(r->is_reported);
    *r = (struct reported){0};
}
