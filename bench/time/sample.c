/* The clock is read only where a phase ends, so that the tape runs as it would unobserved. On a device a
 * sample lasts from an event before the first launch to one after the last, and is read when the run is over.
 */
#include "bench/time/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/time/noise.h"
#include "bench/time/stopwatch.h"

/* A run, divided where its phases end. */
struct run {
    const struct tape *tape;
    bool graph;             /* replays one graph, whose phases are not known */
    struct stopwatch watch; /* mark 0 is the start, mark n the end of the n-th phase */
    int borders, all;       /* ends of phases so far, and in a whole run */
    int batch;              /* runs of a sample */
    double enough;          /* seconds that a sample must take for the clock */
    double phase[PHASES];   /* seconds of a run in the last sample; NAN if it was one graph */
};

/* Whether a phase ends with this entry. */
static bool is_border(const struct tape *t, int entry)
{
    return entry + 1 == tape_entry_count(t) || tape_entry(t, entry + 1)->phase != tape_entry(t, entry)->phase;
}

static struct run run_open(const struct tape *t)
{
    int borders = 0;
    for (int e = 0; e < tape_entry_count(t); e++)
        borders += is_border(t, e);
    return (struct run){.tape = t,
                        .graph = tape_captured(t),
                        .watch = stopwatch_open(t, borders + 1),
                        .all = borders,
                        .batch = 1};
}

static void at_border(void *context, int entry)
{
    struct run *r = context;
    if (is_border(r->tape, entry))
        stopwatch_mark(&r->watch, ++r->borders);
}

static void divide(struct run *r)
{
    int border = 0;
    for (int e = 0; e < tape_entry_count(r->tape) && !r->graph; e++)
        if (is_border(r->tape, e)) {
            r->phase[tape_entry(r->tape, e)->phase] +=
                (r->watch.at[border + 1] - r->watch.at[border]) / r->batch;
            border++;
        }
}

/* `follows`: it begins when the one before ended, on the host. */
static void launch_run(struct tape *t, struct run *r, bool follows)
{
    r->borders = 0;
    tape_ready(t);
    if (follows)
        r->watch.at[0] = r->watch.at[r->all];
    else
        stopwatch_mark(&r->watch, 0);
    if (r->graph) {
        tape_run(t);
        stopwatch_mark(&r->watch, ++r->borders);
    } else {
        tape_run_marked(t, at_border, r);
    }
}

/* Waits for it. Seconds; NAN if the run was cancelled. */
static double resolve_run(struct run *r)
{
    if (!r->graph && r->borders < r->all)
        return NAN;
    stopwatch_resolve(&r->watch, r->borders + 1);
    divide(r);
    return r->watch.at[r->borders] - r->watch.at[0];
}

/* The value of a scalar of the tape; NAN if it is absent. */
static double scalar(const struct tape *t, struct mat m)
{
    if (!mat_present(m))
        return NAN;
    if (tape_config(t)->part.ranks)
        return tape_gather_loss(t, m);
    void *copy;
    m = tape_read(t, m, &copy);
    double value = mat_get(m, 0, 0);
    free(copy);
    return value;
}

/* Seconds of a run, the mean of a batch. */
static double run_watched(struct tape *t, struct run *r, const struct sampling *rule, struct samples *s)
{
    double seconds = 0;
    for (int p = 0; p < PHASES; p++)
        r->phase[p] = r->graph ? NAN : 0;
    for (int i = 0; i < r->batch; i++) {
        launch_run(t, r, i > 0);
        seconds += resolve_run(r) / r->batch;
    }
    if (s->n + s->warmup + s->seen.discarded == 0 && !isnan(seconds))
        s->first = scalar(t, rule->watch);
    return seconds;
}

bool sampling_cancelled(const void *context)
{
    const struct sampling *rule = context;
    bool ends = rule->deadline > 0 && isfinite(rule->deadline);
    return interrupt_signal() || (ends && clock_now() >= rule->deadline);
}

/* Whether no more runs are to be taken: after a fault none would be. */
static bool is_over(const struct tape *t, const struct sampling *rule)
{
    return sampling_cancelled(rule) || tape_failed(t);
}

static void warm_up(struct tape *t, struct run *r, const struct sampling *rule, struct samples *s)
{
    double start = clock_now();
    while (!is_over(t, rule) && (rule->warmup < 0 ? s->warmup < 1 || clock_now() - start < rule->warm_seconds
                                                  : s->warmup < rule->warmup)) {
        s->warmup += !isnan(run_watched(t, r, rule, s));
    }
}

bool block_complete(int n, const struct sampling *rule, double elapsed)
{
    return rule->runs > 0 ? n >= rule->runs : n >= rule->most || (n > 0 && elapsed >= rule->budget);
}

struct probe sampling_probe(const struct sampling *rule)
{
    struct probe none = {{NAN, NAN, NAN}}; /* of a device */
    return rule->probed ? probe_take(rule->peak, rule->threads) : none;
}

void samples_allocate(struct samples *s, size_t capacity)
{
    double *all = allocate((PHASES + 2) * capacity, sizeof *all);
    s->seconds = all;
    s->clock = all + capacity;
    for (int p = 0; p < PHASES; p++)
        s->phase[p] = all + (size_t)(p + 2) * capacity;
}

/*
 * The step of a clock that stands still between two looks. Another is finer than a look takes, which is then
 * what limits it: a tenth of that, so that of 1000 ticks a look is a hundredth.
 */
static double clock_tick(void)
{
    enum { STEPS = 200 };
    bool stands = false;
    double least = INFINITY, before = clock_now();
    for (int steps = 0; steps < STEPS;) {
        double now = clock_now();
        stands = stands || now == before;
        if (now > before) {
            least = fmin(least, now - before);
            steps++;
        }
        before = now;
    }
    return stands ? least : least / 10;
}

/* How long a sample must be, and the runs in it if that is known. Ranks would have to agree; a device has its
 * own clock. */
static void choose_batch(struct run *r, const struct sampling *rule)
{
    bool own = !r->watch.events && !tape_config(r->tape)->part.ranks;
    r->enough = own && !rule->batch ? SAMPLE_TICKS * clock_tick() : 0;
    r->batch = own && rule->batch ? rule->batch : 1;
}

/* Takes no sample if the run was cancelled, or too short. */
static void take_sample(struct tape *t, struct run *r, const struct sampling *rule, struct samples *s)
{
    double seconds = run_watched(t, r, rule, s);
    if (isnan(seconds))
        return;
    if (s->n == 0 && seconds * r->batch < r->enough) {
        s->warmup += r->batch;
        r->batch *= 2;
        return;
    }
    s->seconds[s->n] = seconds;
    for (int p = 0; p < PHASES; p++)
        s->phase[p][s->n] = r->phase[p];
    s->n++;
}

/* Whether the samples are enough, without those that a throttled GPU spoiled. */
static bool done(struct samples *s, const struct sampling *rule, struct watch *gpu, double elapsed)
{
    bool last = block_complete(s->n, rule, elapsed), time_left = rule->runs > 0 || elapsed < rule->budget;
    int taken = s->n;
    s->n = watch_sample(gpu, taken, last, time_left, s->clock);
    s->seen = gpu->seen;
    return last && s->n == taken;
}

void samples_close_turn(struct samples *s, const struct probe *before, const struct probe *after, double lost)
{
    if (s->n == 0)
        return;
    s->turn = allocate(1, sizeof *s->turn);
    s->lost = allocate(1, sizeof *s->lost);
    s->turns = 1;
    *s->lost = lost;
    *s->turn = (struct turn){(size_t)s->n, *before, *after};
}

/* Returns the share of its time that others took. */
static double take_block(struct tape *t, struct run *r, const struct sampling *rule, struct samples *s)
{
    struct lost first = lost_now(""), last;
    double start = clock_now();
    struct usage before = usage_now();
    struct watch gpu = watch_start(rule->nvml, rule->look);
    while (!is_over(t, rule)) {
        take_sample(t, r, rule, s);
        if (rule->progress)
            rule->progress(rule->context, s->n, clock_now() - start);
        if (done(s, rule, &gpu, clock_now() - start))
            break;
    }
    s->used = usage_since(&before);
    s->elapsed = clock_now() - start;
    last = lost_now("");
    return lost_share(&first, &last, s->elapsed);
}

struct samples sample_tape(struct tape *t, const struct sampling *rule)
{
    struct samples s = {0};
    samples_allocate(&s, (size_t)(rule->runs > 0 ? rule->runs : rule->most));
    struct run r = run_open(t);
    choose_batch(&r, rule);
    struct cancel signals = tape_cancel_when(t, (struct cancel){sampling_cancelled, rule});
    double start = clock_now();
    warm_up(t, &r, rule, &s);
    struct probe before = sampling_probe(rule);
    double lost = take_block(t, &r, rule, &s);
    struct probe after = sampling_probe(rule);
    samples_close_turn(&s, &before, &after, lost);
    s.batch = r.batch;
    s.spent = clock_now() - start;
    stopwatch_close(&r.watch);
    tape_cancel_when(t, signals);
    return s;
}

void eager_measure(struct tape *t, double seconds, struct row_program *to, double phase[PHASES][EAGER_MAX])
{
    double run[EAGER_MAX], host[EAGER_MAX], begin = clock_now();
    struct run r = run_open(t);
    int n = 0;
    r.graph = false;
    tape_wait(t);
    for (; n < EAGER_MAX && (n < EAGER_MIN || clock_now() - begin < seconds); n++) {
        double start = clock_now();
        memset(r.phase, 0, sizeof r.phase);
        launch_run(t, &r, false);
        host[n] = clock_now() - start;
        run[n] = resolve_run(&r);
        for (int p = 0; p < PHASES; p++)
            phase[p][n] = r.phase[p];
    }
    stopwatch_close(&r.watch);
    struct summary s = summarize(run, (size_t)n);
    to->eager.n = n;
    to->eager.median = s.median;
    to->eager.min = s.min;
    to->eager.host = summarize(host, (size_t)n).median;
}

int64_t samples_runs(const struct samples *s)
{
    return (int64_t)(s->n + s->seen.discarded + 1) * s->batch - 1;
}

struct turns samples_turns(const struct samples *s)
{
    return (struct turns){(size_t)s->turns, s->turn, s->seconds};
}

void samples_free(struct samples *s)
{
    free(s->seconds);
    free(s->turn);
    free(s->lost);
    *s = (struct samples){0};
}

static void join_values(double *to, const double *a, int of_a, const double *b, int of_b)
{
    for (int i = 0; i < of_a + of_b; i++)
        to[i] = i < of_a ? a[i] : b[i - of_a];
}

/* The turns of a, then those of b. */
static void join_turns(struct samples *both, const struct samples *a, const struct samples *b)
{
    both->turns = a->turns + b->turns;
    both->turn = allocate((size_t)both->turns, sizeof *both->turn);
    both->lost = allocate((size_t)both->turns, sizeof *both->lost);
    join_values(both->lost, a->lost, a->turns, b->lost, b->turns);
    for (int i = 0; i < both->turns; i++)
        both->turn[i] = i < a->turns ? a->turn[i] : b->turn[i - a->turns];
}

void samples_join(struct samples *into, struct samples *turn)
{
    struct samples both = *turn;
    if (into->n > 0) {
        both.n = into->n + turn->n;
        both.warmup = into->warmup + turn->warmup;
        both.first = into->first;
        both.elapsed = into->elapsed + turn->elapsed;
        both.spent = into->spent + turn->spent;
        both.used = usage_sum(&into->used, &turn->used);
        both.seen = seen_join(&into->seen, &turn->seen);
        join_turns(&both, into, turn);
        samples_allocate(&both, (size_t)both.n);
        join_values(both.seconds, into->seconds, into->n, turn->seconds, turn->n);
        join_values(both.clock, into->clock, into->n, turn->clock, turn->n);
        for (int p = 0; p < PHASES; p++)
            join_values(both.phase[p], into->phase[p], into->n, turn->phase[p], turn->n);
        samples_free(turn);
    }
    samples_free(into);
    *into = both;
    *turn = (struct samples){0};
}
