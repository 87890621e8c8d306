/*
 * What follows from the fields of a row: those that schema.def calls derived, absent where they lack a
 * source; what a row says about itself; and whether two were measured in one state of the machine.
 */

#include "analysis/record/row_range.h"
#include "analysis/statistics/allocate.h"
#include "analysis/statistics/disturbance.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/statistics.h"

/* --- derived fields */

static double ratio(double a, double b)
{
    double value = a / b;
    return isfinite(value) ? value : NAN;
}

/* The turns of `times`, whose samples are to come, and which of them it reports: all, where a file of an
 * older version left out so many that the rest does not suffice. False if it has none that its samples are
 * of. To be freed. */
static bool read_reported(struct row_times *times, struct turns *t, struct reported *r)
{
    static const char before[] = "the machine was disturbed, or its state changed, in every turn";
    bool stateless = times->noisy && strcmp(times->noisy, before) == 0, whole = true;
    size_t left = times->samples.count, others = 0;
    t->list = row_turns(times, &t->count);
    r->is_reported = allocate(t->count, sizeof *r->is_reported);
    for (size_t i = 0; i < t->count; i++) {
        r->is_reported[i] = true;
        whole = whole && t->list[i].samples > 0;
        left -= t->list[i].samples;
    }
    for (size_t i = 0; i < times->left_out.count; i++) {
        double at = times->left_out.reals[i];
        if (at >= 0 && at < (double)t->count && r->is_reported[(size_t)at]) {
            r->is_reported[(size_t)at] = false;
            others++;
        }
    }
    bool suffices = reported_suffices(t->count - others, t->count);
    if (!suffices) {
        times->left_out = (struct items){0};
        for (size_t i = 0; i < t->count; i++)
            r->is_reported[i] = true;
    }
    r->settled = suffices && !stateless && !isnan(times->ci95_low);
    return t->count > 0 && whole && left == 0;
}

/* The times whose turns are those of `time`; null: none, as of the phases of eager runs. */
static struct row_times *whole_of(struct row *row, struct row_times *time)
{
    bool phase = time == &row->step.backward.time || time == &row->step.optimizer.time ||
                 time == &row->step.recompute.time;
    return !phase ? time : row->step.eager.n == COUNT_ABSENT ? &row->step.time : NULL;
}

/* Of reported turns; of all samples where a row of another program has no turns. */
void row_derive_samples(struct row *row, struct row_times *time, bool drifts)
{
    struct row_times *whole = whole_of(row, time);
    struct turns t = {0};
    struct reported r = {0}, part = {0};
    size_t n = time->samples.count;
    bool in_turns = whole && read_reported(whole, &t, &r) && n == whole->samples.count;
    const double *all = t.samples = time->samples.reals;
    double *reported = NULL;
    if (in_turns) {
        part = reported_part(&t, &r);
        all = reported = reported_values(&t, &part, all, &n);
        if ((size_t)time->n != n || (!part.settled && !isnan(time->ci95_low)))
            row_report_times(time, &t, &part);
    }
    struct drift drift = drift_find(all, drifts ? n : 0);
    time->repetition_medians =
        part.turns > 0 ? row_keep_items(row, part.medians, part.turns, FIELD_REALS) : (struct items){0};
    time->outliers = n > 0 ? (int64_t)summarize(all, n).outliers : COUNT_ABSENT;
    time->slow_start = n > 0 ? (int64_t)slow_start_find(all, n).runs : COUNT_ABSENT;
    time->drift = drift.change;
    time->drift_p = drift.p;
    free(reported);
    reported_free(&part);
    free(r.is_reported);
    free((void *)t.list);
}

/* Older versions kept no turns: groups of consecutive samples stand for them. */
static struct range range_of_samples(struct items samples)
{
    double medians[ROW_GROUPS];
    size_t groups = samples.count < ROW_GROUPS ? samples.count : ROW_GROUPS;
    for (size_t i = 0; i < groups; i++) {
        size_t from = i * samples.count / groups, to = (i + 1) * samples.count / groups;
        medians[i] = summarize(samples.reals + from, to - from).median;
    }
    return range_of(medians, groups);
}

/* Says why the range is wide, or rests on few repetitions. */
static void describe_range(struct row *row, struct row_times *t)
{
    struct range r = times_range(row, t);
    char text[MESSAGE_SIZE] = "";
    double width = range_width(&r);
    bool few = r.turns<REPORTED_MIN, by_load = 2 * (r.low - range_floor(&r))> width * r.median;
    if (r.turns > 1 && width > RANGE_WIDE && by_load)
        snprintf(text, sizeof text, "up to %.1f %% of the time was lost to other programs", 100 * r.lost);
    else if (r.turns > 1 && width > RANGE_WIDE)
        snprintf(text, sizeof text, "a range of %.0f %% of the median, over %g %%%s", 100 * width,
                 100 * RANGE_WIDE,
                 r.extremes && !few ? ", of repetitions in several states of the machine" : "");
    else if (r.turns > 0 && few)
        snprintf(text, sizeof text, "%zu repetition%s, fewer than %d", r.turns, r.turns == 1 ? "" : "s",
                 REPORTED_MIN);
    t->noisy = row_keep(row, text);
}

void row_derive_times(struct row *row, struct row_times *t)
{
    const struct items *turns = &t->repetition_medians;
    row_derive_samples(row, t, false);
    struct range all = turns->count > 0 ? range_of(turns->reals, turns->count) : range_of_samples(t->samples);
    bool interval = turns->count > 0 && !isnan(t->ci95_low);
    t->range_low = interval ? t->ci95_low : all.low;
    t->range_high = interval ? t->ci95_high : all.high;
    t->lower_quartile = turns->count > 0 && whole_of(row, t)->lost <= DISTURBANCE_HEAVY
                            ? quantile_of(turns->reals, turns->count, 0.25)
                            : NAN;
    t->cv = ratio(t->std, fabs(t->mean));
    t->repetitions = turns->list ? (int64_t)turns->count : COUNT_ABSENT;
    t->other_repetitions = turns->list && t->blocks.list ? (int64_t)t->left_out.count : COUNT_ABSENT;
}

static void derive_program(struct row_program *p, struct row *row)
{
    double flops = count_real(p->flops.analytic), bytes = count_real(p->bytes), median = p->time.median;
    double planned = count_real(p->memory.planned);
    row_derive_times(row, &p->time);
    p->memory.per_graph = ratio(planned, count_real(row->batch));
    p->memory.per_node = ratio(planned, count_real(row->graph.nodes));
    p->memory.efficiency = ratio(count_real(p->memory.peak_live), planned);
    p->intensity = ratio(flops, bytes);
    p->gflops = ratio(1e-9 * flops, median);
    p->bandwidth = ratio(1e-9 * bytes, median);
    p->throughput = ratio(count_real(row->batch), median);
    p->nodes_per_second = ratio(count_real(row->graph.nodes), median);
    p->edges_per_second = ratio(count_real(row->graph.edges), median);
    p->launch.per_entry = ratio(p->launch.median, count_real(p->launch.entries));
    p->bound.ratio = ratio(median, p->bound.time);
    p->communication.error = ratio(p->communication.predicted, p->communication.time) - 1;
}

/* Without checkpoints nothing is recomputed. */
static void derive_step(struct row *row, struct row_program *step)
{
    double again = step->recompute.flops == COUNT_ABSENT ? 0 : (double)step->recompute.flops;
    step->model_gflops = ratio(1e-9 * (count_real(step->flops.analytic) - again), step->time.median);
    row_derive_times(row, &step->backward.time);
    row_derive_times(row, &step->optimizer.time);
    row_derive_times(row, &step->recompute.time);
}

/* Runs after which computing the encoding is less than 1 % of the total: once < 0.01 (once + runs each). */
static int64_t break_even(const struct row *row, const struct row_program *p)
{
    double runs = ratio(99 * row->encoding.time.median, p->time.median);
    return runs < 0x1p62 ? (int64_t)runs + 1 : COUNT_ABSENT;
}

void row_derive(struct row *row)
{
    int64_t padded = row->batch == 1 ? row->graph.pairs : row->graph.padded_pairs;
    for (size_t p = 0; p < TIMED - 1; p++)
        derive_program(row_program(row, p), row);
    derive_step(row, &row->step);
    row_derive_times(row, &row->encoding.time);
    row->graph.degree_mean = ratio(count_real(row->graph.edges), count_real(row->graph.nodes));
    row->graph.padding_waste = 1 - ratio(count_real(row->graph.pairs), count_real(padded));
    row->encoding.break_even_forward = break_even(row, &row->forward);
    row->encoding.break_even_step = break_even(row, &row->step);
    for (size_t kind = 0; kind < TIMED; kind++)
        describe_range(row, row_timed(row, kind));
}

/* --- what rows say */

bool row_is_ok(const struct row *row)
{
    return row && same_text(row->status, "ok");
}

const char *row_noisy(const struct row *row, size_t kind)
{
    const char *noisy = row_timed(row, kind)->noisy;
    return noisy && *noisy ? noisy : NULL;
}

const char *row_unchecked(const struct row *row)
{
    const char *reason = row_reason(row, "checked");
    bool none = row_is_ok(row) && same_text(row->checked, "none");
    bool ran = !isnan(row->forward.time.median) || !isnan(row->step.time.median) ||
               !isnan(row->kernel.time.median); /* encodings are checked as they are made */
    return none && ran ? reason ? reason : "not checked" : NULL;
}

/* Whether the status is known, and has a reason unless it is ok. */
static bool status_is_sound(const struct row *row, char *error)
{
    static const char *const allowed[] = {"ok", "skipped", "oom", "failed", "wrong", NULL};
    if (!row->status || !has_name(allowed, row->status))
        snprintf(error, MESSAGE_SIZE, "status: %.40s is none of ok, skipped, oom, failed, wrong",
                 row->status ? row->status : "");
    else if (!row_is_ok(row) && (!row->reason || !*row->reason))
        snprintf(error, MESSAGE_SIZE, "reason: a row that is %s needs one", row->status);
    else
        return true;
    return false;
}

bool row_validate(const struct row *row, char *error)
{
    if (!row->flaw)
        return status_is_sound(row, error);
    snprintf(error, MESSAGE_SIZE, "%s", row->flaw);
    return false;
}

bool row_solved_nothing(const struct row *row)
{
    return row->encoding.iterated == 0 && row->encoding.nullity > 0;
}

/* Whether both ran on one device with as many threads. */
static bool same_place(const struct row *a, const struct row *b)
{
    bool same_device = a->device && b->device ? strcmp(a->device, b->device) == 0 : a->device == b->device;
    return same_device && a->threads == b->threads;
}

/* The state that times report; parts that they lack are those of `other`. */
static struct probe reported_state(const struct row_times *times, const struct row_times *other)
{
    struct probe state;
    for (int part = 0; part < PROBE_PARTS; part++) {
        double seconds = *row_state((struct row_times *)times, part);
        state.seconds[part] = isnan(seconds) ? *row_state((struct row_times *)other, part) : seconds;
    }
    return state;
}

double row_state_ratio(const struct row *a, size_t of_a, const struct row *b, size_t of_b, int part)
{
    const struct row_times *x = row_timed(a, of_a), *y = row_timed(b, of_b);
    if (!same_place(a, b))
        return NAN;
    return reported_state(y, x).seconds[part] / reported_state(x, y).seconds[part];
}

/* The turns of a time, and those whose states its range is of: all, or of an interval the reported state
 * alone. */
struct stated {
    struct turn *turns, one;
    size_t count, in_range;
};

static struct stated states_of(const struct row_times *times, const struct row_times *other)
{
    struct probe state = reported_state(times, other);
    struct stated s = {.one = {1, state, state}, .in_range = 1};
    s.turns = row_turns(times, &s.count);
    if (isnan(times->ci95_low) && s.count > 0)
        s.in_range = s.count;
    return s;
}

static const struct turn *turn_of_range(const struct stated *s, size_t i)
{
    return s->in_range == s->count ? &s->turns[i] : &s->one; /* of one turn its state */
}

bool row_states_differ(const struct row *a, size_t of_a, const struct row *b, size_t of_b)
{
    const struct row_times *x = row_timed(a, of_a), *y = row_timed(b, of_b);
    if (!same_place(a, b))
        return false;
    struct stated in_a = states_of(x, y), in_b = states_of(y, x);
    struct turn *all = allocate(in_a.count + in_b.count, sizeof *all);
    bool any_a = false, any_b = false, shared = false;
    for (size_t i = 0; i < in_a.count + in_b.count; i++)
        all[i] = i < in_a.count ? in_a.turns[i] : in_b.turns[i - in_a.count];
    struct states s = states_find(all, in_a.count + in_b.count);
    for (size_t i = 0; i < in_a.in_range; i++)
        for (size_t k = 0; k < in_b.in_range; k++) {
            const struct turn *p = turn_of_range(&in_a, i), *q = turn_of_range(&in_b, k);
            bool holds_p = states_holds(&s, p, p), holds_q = states_holds(&s, q, q);
            any_a = any_a || holds_p;
            any_b = any_b || holds_q;
            shared = shared || (holds_p && holds_q && states_holds(&s, p, q));
        }
    free(all);
    free(in_a.turns);
    free(in_b.turns);
    return any_a && any_b && !shared;
}
