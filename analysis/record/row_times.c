/*
 * The times of a program, as fields of a row. The independent observations are the medians of the turns, not
 * the samples, since those of one turn are alike.
 */
#include "analysis/record/row.h"

#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"

struct row_times *row_times(const struct row *row, const char *group)
{
    static const struct {
        const char *group;
        size_t offset;
    } places[] = {
        {"forward.time", offsetof(struct row, forward.time)},
        {"step.time", offsetof(struct row, step.time)},
        {"kernel.time", offsetof(struct row, kernel.time)},
        {"encoding.time", offsetof(struct row, encoding.time)},
        {"step.backward.time", offsetof(struct row, step.backward.time)},
        {"step.optimizer.time", offsetof(struct row, step.optimizer.time)},
        {"step.recompute.time", offsetof(struct row, step.recompute.time)},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].group, group) == 0)
            return (struct row_times *)((char *)row + places[i].offset);
    fprintf(stderr, "row: %s: no group of times\n", group);
    abort();
}

/* Absent unless all values are finite. */
static struct items keep_reals(struct row *row, const double *values, size_t n)
{
    size_t finite = 0;
    while (finite < n && isfinite(values[finite]))
        finite++;
    return finite == n ? row_keep_items(row, values, n, FIELD_REALS) : (struct items){.count = 0};
}

static void set_turns(struct row *row, struct row_times *time, const struct turns *t,
                      const struct reported *r)
{
    double *sizes = allocate(t->count, ITEM), *left_out = allocate(t->count, ITEM);
    size_t others = 0;
    for (size_t i = 0; i < t->count; i++) {
        sizes[i] = (double)t->list[i].samples;
        if (!r->is_reported[i])
            left_out[others++] = (double)i;
    }
    time->blocks = keep_reals(row, sizes, t->count);
    if (others > 0)
        time->left_out = keep_reals(row, left_out, others);
    free(left_out);
    free(sizes);
}

double *row_state(struct row_times *time, int part)
{
    return part == PROBE_PING  ? &time->state.ping
           : part == PROBE_FMA ? &time->state.fma
                               : &time->state.sharing;
}

static struct items *probes_of(struct row_times *time, int part)
{
    return part == PROBE_PING  ? &time->state.ping_probes
           : part == PROBE_FMA ? &time->state.fma_probes
                               : &time->state.sharing_probes;
}

static void set_state(struct row *row, struct row_times *time, const struct turns *t,
                      const struct reported *r)
{
    double *probes = allocate(2 * t->count, ITEM);
    for (int part = 0; part < PROBE_PARTS; part++) {
        for (size_t i = 0; i < t->count; i++) {
            probes[2 * i] = t->list[i].before.seconds[part];
            probes[2 * i + 1] = t->list[i].after.seconds[part];
        }
        *probes_of(time, part) = keep_reals(row, probes, 2 * t->count);
        *row_state(time, part) = r->state.seconds[part];
    }
    free(probes);
}

/*
 * The median of the turns' medians, and its interval by ranks. The turns of one run are more alike than those
 * of two, so the ranks are those that would hold with 99 % if turns were independent; below 8 turns, where
 * none do, the whole range.
 */
static void set_intervals(struct row_times *time, const double *medians, size_t turns, bool settled)
{
    double *sorted = sorted_copy(medians, turns);
    size_t rank = settled ? median_interval_rank_at(turns, 0.99) : 0;
    if (settled && !rank)
        rank = median_interval_rank(turns);
    time->median = quantile(sorted, turns, 0.5);
    time->ci95_low = rank ? sorted[rank - 1] : NAN;
    time->ci95_high = rank ? sorted[turns - rank] : NAN;
    free(sorted);
}

static void set_summary(struct row_times *time, const double *samples, size_t n)
{
    struct summary s = summarize(samples, n);
    time->n = (int64_t)n;
    time->mean = s.mean;
    time->std = s.std;
    time->min = s.min;
    time->max = s.max;
    time->p95 = s.p95;
    time->p99 = s.p99;
}

void row_report_times(struct row_times *time, const struct turns *t, const struct reported *r)
{
    size_t n;
    double *samples = reported_values(t, r, t->samples, &n);
    set_intervals(time, r->medians, r->turns, r->settled);
    set_summary(time, samples, n);
    free(samples);
}

void row_set_part_times(struct row *row, const char *group, const struct turns *t, const struct reported *r)
{
    struct row_times *time = row_times(row, group);
    size_t all = 0;
    for (size_t i = 0; i < t->count; i++)
        all += t->list[i].samples;
    row_omit(row, group, NULL);
    time->samples = keep_reals(row, t->samples, all);
    row_report_times(time, t, r);
}

void row_set_times(struct row *row, const char *group, const struct turns *t, const struct reported *r)
{
    struct row_times *time = row_times(row, group);
    row_set_part_times(row, group, t, r);
    set_turns(row, time, t, r);
    set_state(row, time, t, r);
    row_derive_times(row, time);
}

void row_set_samples(struct row *row, const char *group, const double *samples, size_t n)
{
    static const struct states none;
    static const struct turn one = {1, {{NAN, NAN, NAN}}, {{NAN, NAN, NAN}}};
    struct turn *list = allocate(n, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = one;
    struct turns turns = {n, list, samples};
    struct reported reported = reported_choose(&turns, &none);
    row_set_times(row, group, &turns, &reported);
    reported_free(&reported);
    free(list);
}

struct turn *row_turns(const struct row_times *time, size_t *n)
{
    struct items sizes = time->blocks;
    struct turn *turns = sizes.count > 0 ? allocate(sizes.count, sizeof *turns) : NULL;
    *n = sizes.count;
    for (size_t i = 0; i < *n; i++)
        turns[i] = (struct turn){
            sizes.reals[i] >= 1 ? (size_t)sizes.reals[i] : 0, {{NAN, NAN, NAN}}, {{NAN, NAN, NAN}}};
    for (int part = 0; part < PROBE_PARTS; part++) {
        struct items probes = *probes_of((struct row_times *)time, part);
        for (size_t i = 0; i < *n && probes.count == 2 * *n; i++) {
            turns[i].before.seconds[part] = probes.reals[2 * i];
            turns[i].after.seconds[part] = probes.reals[2 * i + 1];
        }
    }
    return turns;
}
