/* The clock is read at the borders of the phases and nowhere else, so that the tape runs as it would
 * unobserved. */
#include "bench/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics.h"
#include "bench/clock.h"

/* One run, divided at the borders of its phases. */
struct run {
    const struct tape *tape;
    double last, phase[PHASES];
};

static void at_border(void *context, int entry)
{
    struct run *r = context;
    enum phase phase = tape_entry(r->tape, entry)->phase;
    if (entry + 1 < tape_entry_count(r->tape) && tape_entry(r->tape, entry + 1)->phase == phase)
        return;
    double now = clock_now();
    r->phase[phase] += now - r->last;
    r->last = now;
}

static double run_once(struct tape *t, struct run *r)
{
    double start = clock_now();
    *r = (struct run){.tape = t, .last = start};
    tape_run_marked(t, at_border, r);
    return r->last - start;
}

/* The value of a scalar on the host; NAN if there is none. */
static double scalar(struct mat m)
{
    if (!mat_present(m))
        return NAN;
    return m.dtype == F64 ? *(const double *)m.data : (double)*(const float *)m.data;
}

static double run_watched(struct tape *t, struct run *r, const struct sampling *rule, struct samples *s)
{
    double seconds = run_once(t, r);
    if (s->n + s->warmup == 0)
        s->first = scalar(tape_view(t, rule->watch));
    return seconds;
}

static void warm_up(struct tape *t, const struct sampling *rule, struct samples *s)
{
    struct run r;
    double start = clock_now();
    while (rule->warmup < 0 ? s->warmup < 1 || clock_now() - start < 0.1 : s->warmup < rule->warmup) {
        run_watched(t, &r, rule, s);
        s->warmup++;
    }
}

static bool quiet(const struct samples *s, double max_noise)
{
    struct summary m = summarize(s->seconds, (size_t)s->n);
    struct interval ranks = median_interval_ranks(s->seconds, (size_t)s->n);
    double width = s->n < AUTOCORRELATION_MIN ? m.ci95_high - m.ci95_low : ranks.high - ranks.low;
    return width / 2 <= max_noise * m.median;
}

static bool enough(const struct samples *s, const struct sampling *rule, double elapsed)
{
    if (rule->runs > 0)
        return s->n >= rule->runs;
    if (s->n >= SAMPLES_MAX)
        return true;
    if (s->n >= SAMPLES_MIN && elapsed >= rule->budget)
        return true;
    return s->n >= rule->min_samples && quiet(s, rule->max_noise);
}

/* Room for samples, which is a small thing: there is nothing to be done without it. */
static void allocate(struct samples *s, size_t capacity)
{
    double *all = calloc((PHASES + 1) * capacity, sizeof *all);
    if (!all)
        abort();
    s->seconds = all;
    for (int p = 0; p < PHASES; p++)
        s->phase[p] = all + (size_t)(p + 1) * capacity;
}

struct samples sample_tape(struct tape *t, const struct sampling *rule)
{
    struct samples s = {0};
    allocate(&s, (size_t)(rule->runs > 0 ? rule->runs : SAMPLES_MAX));
    warm_up(t, rule, &s);
    double start = clock_now();
    struct usage before = usage_now();
    while (!enough(&s, rule, clock_now() - start)) {
        struct run r;
        s.seconds[s.n] = run_watched(t, &r, rule, &s);
        for (int p = 0; p < PHASES; p++)
            s.phase[p][s.n] = r.phase[p];
        s.n++;
        if (rule->progress)
            rule->progress(rule->context, s.n, clock_now() - start);
    }
    s.used = usage_since(&before);
    s.elapsed = clock_now() - start;
    return s;
}

void samples_free(struct samples *s)
{
    free(s->seconds);
    *s = (struct samples){0};
}

static void append(double *to, int at, const double *from, int count)
{
    memcpy(to + at, from, (size_t)count * sizeof *to);
}

void samples_join(struct samples *into, struct samples *turn)
{
    struct samples both = *turn;
    if (into->n > 0) {
        both.n = into->n + turn->n;
        both.warmup = into->warmup + turn->warmup;
        both.first = into->first;
        both.elapsed = into->elapsed + turn->elapsed;
        both.used = usage_sum(&into->used, &turn->used);
        allocate(&both, (size_t)both.n);
        append(both.seconds, 0, into->seconds, into->n);
        append(both.seconds, into->n, turn->seconds, turn->n);
        for (int p = 0; p < PHASES; p++) {
            append(both.phase[p], 0, into->phase[p], into->n);
            append(both.phase[p], into->n, turn->phase[p], turn->n);
        }
        samples_free(into);
        samples_free(turn);
    }
    *into = both;
    *turn = (struct samples){0};
}
