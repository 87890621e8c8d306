/*
 * The times of a program, as fields of a row. The independent observations are the medians of the turns, not
 * the samples, since those of one turn are alike.
 */
#include "analysis/record/row.h"

#include "analysis/record/schema.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets a statistic, or null with the reason. */
static void set_statistic(struct row *row, const char *group, const char *name, double value,
                          const char *reason)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.%s", group, name);
    if (isfinite(value))
        row_set_real(row, path, value);
    else
        row_set_null(row, path, reason);
}

static void set_text(struct row *row, const char *group, const char *name, const char *text)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.%s", group, name);
    row_set_text(row, path, text);
}

static void set_count(struct row *row, const char *group, const char *name, size_t count)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.%s", group, name);
    row_set_count(row, path, (int64_t)count);
}

/* Sets an array, or null with the reason if a value is not finite. */
static void set_array(struct row *row, const char *group, const char *name, const double *values, size_t n,
                      const char *reason)
{
    char path[SCHEMA_PATH];
    bool finite = true;
    snprintf(path, sizeof path, "%s.%s", group, name);
    for (size_t i = 0; i < n; i++)
        finite = finite && isfinite(values[i]);
    if (finite)
        row_set_reals(row, path, values, n);
    else
        row_set_null(row, path, reason);
}

static double *new_array(size_t n)
{
    double *array = calloc(n, sizeof *array);
    if (!array)
        abort();
    return array;
}

/* Why the time is no basis for a verdict; empty if it is one. */
static void describe_noise(const struct turns *t, const struct reported *r, char text[MESSAGE_SIZE])
{
    *text = '\0';
    if (r->unsettled)
        snprintf(text, MESSAGE_SIZE, "the machine was disturbed, or its state changed, in every turn");
    else if (r->turns < REPORTED_MIN && r->others > 0)
        snprintf(text, MESSAGE_SIZE, "%zu of %zu turns in one state of the machine, fewer than %d", r->turns,
                 t->count, REPORTED_MIN);
    else if (r->turns < REPORTED_MIN)
        snprintf(text, MESSAGE_SIZE, "%zu turn%s, fewer than %d", r->turns, r->turns == 1 ? "" : "s",
                 REPORTED_MIN);
}

static void set_turns(struct row *row, const char *group, const struct turns *t, const struct reported *r)
{
    char noisy[MESSAGE_SIZE];
    double *sizes = new_array(t->count);
    for (size_t i = 0; i < t->count; i++)
        sizes[i] = (double)t->list[i].samples;
    set_array(row, group, "blocks", sizes, t->count, "");
    free(sizes);
    set_count(row, group, "turns", r->turns);
    set_count(row, group, "other_turns", r->others);
    describe_noise(t, r, noisy);
    set_text(row, group, "noisy", noisy);
}

static void set_state(struct row *row, const char *group, const struct turns *t, const struct reported *r)
{
    double *probes = new_array(2 * t->count);
    for (int part = 0; part < PROBE_PARTS; part++) {
        for (size_t i = 0; i < t->count; i++) {
            probes[2 * i] = t->list[i].before.seconds[part];
            probes[2 * i + 1] = t->list[i].after.seconds[part];
        }
        char name[32];
        snprintf(name, sizeof name, "state.%s_probes", probe_parts[part]);
        set_array(row, group, name, probes, 2 * t->count, "not probed");
        snprintf(name, sizeof name, "state.%s", probe_parts[part]);
        set_statistic(row, group, name, r->state.seconds[part], "not probed");
    }
    free(probes);
}

/*
 * The rank of the interval's lower end. The turns of one run are more alike than those of two, so the ranks
 * are those that would hold with 99 % if turns were independent; below 8 turns, where none do, the whole
 * range.
 */
static size_t interval_rank(size_t turns)
{
    size_t rank = median_interval_rank_at(turns, 0.99);
    return rank ? rank : median_interval_rank(turns);
}

/* The turns' medians, their interval by ranks, and their range. */
static void set_intervals(struct row *row, const char *group, const struct reported *r)
{
    double *sorted = new_array(r->turns);
    memcpy(sorted, r->medians, r->turns * sizeof *sorted);
    qsort(sorted, r->turns, sizeof *sorted, compare_doubles);
    size_t rank = interval_rank(r->turns);
    set_array(row, group, "turn_medians", r->medians, r->turns, "not a finite number");
    set_statistic(row, group, "median", quantile(sorted, r->turns, 0.5), "not a finite number");
    set_statistic(row, group, "ci95_low", rank ? sorted[rank - 1] : NAN, "needs 6 turns");
    set_statistic(row, group, "ci95_high", rank ? sorted[r->turns - rank] : NAN, "needs 6 turns");
    set_statistic(row, group, "range_low", sorted[0], "not a finite number");
    set_statistic(row, group, "range_high", sorted[r->turns - 1], "not a finite number");
    set_statistic(row, group, "range_confidence", 1 - exp2(1 - (double)r->turns), "");
    free(sorted);
}

static void set_trend(struct row *row, const char *group, const double *samples, size_t n)
{
    struct drift drift = drift_find(samples, n);
    set_statistic(row, group, "drift", drift.change, "needs 10 samples");
    set_statistic(row, group, "drift_p", drift.p, "needs 10 samples");
    set_count(row, group, "slow_start", slow_start_find(samples, n).runs);
}

/* Statistics of single samples. */
static void set_summary(struct row *row, const char *group, const double *samples, size_t n)
{
    struct summary s = summarize(samples, n);
    set_count(row, group, "n", n);
    set_statistic(row, group, "mean", s.mean, "not a finite number");
    set_statistic(row, group, "std", s.std, "needs 2 samples");
    set_statistic(row, group, "min", s.min, "not a finite number");
    set_statistic(row, group, "max", s.max, "not a finite number");
    set_statistic(row, group, "p95", s.p95, "needs 20 samples");
    set_statistic(row, group, "p99", s.p99, "needs 100 samples");
    set_statistic(row, group, "cv", s.cv, "needs 2 samples and a mean that is not 0");
    set_count(row, group, "outliers", s.outliers);
}

void row_set_part_times(struct row *row, const char *group, const struct turns *t, const struct reported *r)
{
    size_t all = 0, n;
    for (size_t i = 0; i < t->count; i++)
        all += t->list[i].samples;
    double *samples = reported_values(t, r, t->samples, &n);
    set_array(row, group, "samples", t->samples, all, "a sample is not a finite number");
    set_intervals(row, group, r);
    set_summary(row, group, samples, n);
    set_trend(row, group, samples, n);
    free(samples);
}

void row_set_times(struct row *row, const char *group, const struct turns *t, const struct reported *r)
{
    row_set_part_times(row, group, t, r);
    set_turns(row, group, t, r);
    set_state(row, group, t, r);
}

void row_set_samples(struct row *row, const char *group, const double *samples, size_t n)
{
    static const struct states none;
    static const struct turn one = {1, {{NAN, NAN, NAN}}, {{NAN, NAN, NAN}}};
    struct turn *list = calloc(n, sizeof *list);
    if (!list)
        abort();
    for (size_t i = 0; i < n; i++)
        list[i] = one;
    struct turns turns = {n, list, samples};
    struct reported reported = reported_choose(&turns, &none);
    row_set_times(row, group, &turns, &reported);
    reported_free(&reported);
    free(list);
}

struct turn *row_turns(const struct row *row, const char *group, size_t *n)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.blocks", group);
    *n = 0;
    const union item *sizes = row_items(row, path, n);
    struct turn *turns = *n > 0 ? calloc(*n, sizeof *turns) : NULL;
    if (*n > 0 && !turns)
        abort();
    for (size_t i = 0; i < *n; i++)
        turns[i] = (struct turn){
            sizes[i].real >= 1 ? (size_t)sizes[i].real : 0, {{NAN, NAN, NAN}}, {{NAN, NAN, NAN}}};
    for (int part = 0; part < PROBE_PARTS; part++) {
        size_t count = 0;
        snprintf(path, sizeof path, "%s.state.%s_probes", group, probe_parts[part]);
        const union item *probes = row_items(row, path, &count);
        for (size_t i = 0; i < *n && count == 2 * *n; i++) {
            turns[i].before.seconds[part] = probes[2 * i].real;
            turns[i].after.seconds[part] = probes[2 * i + 1].real;
        }
    }
    return turns;
}
