/* Doubling, then bisection. One disturbed measurement on the way sends the search to a wrong place, where the
 * neighbours, measured again, contradict it: then it goes on from there, a step that doubles at a time. */
#include "bench/sweep/search.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/statistics.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/show/profile.h"

enum { ROUNDS = 4 };

#define NEAR      1.25 /* times below or above the limit */
#define TOLERANCE 0.01

static double median_need(const struct limit_search *w, int64_t x, double first, int probes)
{
    double all[LIMIT_PROBES] = {first};
    for (int i = 1; i < probes && !interrupt_signal(); i++)
        all[i] = w->need(w->context, x);
    return interrupt_signal() ? INFINITY : summarize(all, (size_t)probes).median;
}

static double need_at(const struct limit_search *w, int64_t x, bool carefully)
{
    double once = w->need(w->context, x);
    bool near = once > w->limit / NEAR && once < w->limit * NEAR;
    return w->noisy && (near || carefully) ? median_need(w, x, once, LIMIT_PROBES) : once;
}

/* Measures x and moves the end of the bracket that it belongs to. */
static void look_at(const struct limit_search *w, struct limit_answer *a, int64_t x)
{
    double need = need_at(w, x, false);
    if (need * NEAR <= w->limit && x > a->clear)
        a->clear = x;
    if (need <= w->limit) {
        a->fits = x;
        a->at_fits = need;
    } else {
        a->fails = x;
        a->at_fails = need;
    }
}

/* How far apart the ends may be. What is allowed at most is tried itself. */
static int64_t least_gap(const struct limit_search *w, const struct limit_answer *a)
{
    double gap = w->noisy && a->fails <= w->most ? TOLERANCE * (double)a->fits : 1;
    return gap > 1 ? (int64_t)gap : 1;
}

static void bisect_between(const struct limit_search *w, struct limit_answer *a)
{
    while (a->fails - a->fits > least_gap(w, a) && !interrupt_signal())
        look_at(w, a, a->fits + (a->fails - a->fits) / 2);
}

/* From a place that fits upwards, or from one that fails down to the first that fits. */
static void walk(const struct limit_search *w, struct limit_answer *a, int64_t step, bool up)
{
    int64_t end = up ? w->most + 1 : 0;
    *(up ? &a->fails : &a->fits) = end;
    if (up)
        a->at_fails = INFINITY;
    while ((up ? a->fails : a->fits) == end && !interrupt_signal()) {
        int64_t from = up ? a->fits : a->fails, x = up ? from + step : from - step;
        if (up ? x >= end : x <= end)
            break;
        look_at(w, a, x);
        step *= 2;
    }
    bisect_between(w, a);
}

/* Measures both ends again. Whether they stand; if not, goes on from where they do not. */
static bool confirm(const struct limit_search *w, struct limit_answer *a)
{
    bool below = a->fits > 0, above = a->fails <= w->most;
    int64_t gap = least_gap(w, a);
    a->at_fits = below ? need_at(w, a->fits, true) : 0;
    a->at_fails = above ? need_at(w, a->fails, true) : INFINITY;
    if (below && a->at_fits > w->limit) {
        a->fails = a->fits;
        a->at_fails = a->at_fits;
        walk(w, a, gap, false);
        return false;
    }
    if (above && a->at_fails <= w->limit) {
        a->fits = a->fails;
        a->at_fits = a->at_fails;
        walk(w, a, gap, true);
        return false;
    }
    return true;
}

struct limit_answer limit_find(const struct limit_search *w)
{
    struct limit_answer a = {.fails = w->most + 1, .at_fails = INFINITY};
    int64_t first = w->first < w->most ? w->first : w->most;
    look_at(w, &a, first);
    if (a.fits > 0)
        walk(w, &a, first, true);
    else
        bisect_between(w, &a);
    a.unsure = w->noisy;
    for (int round = 0; a.unsure && round < ROUNDS && !interrupt_signal(); round++)
        a.unsure = !confirm(w, &a);
    return a;
}

static double middle_of(const struct bracket *b, bool whole)
{
    double middle = sqrt(b->low * b->high);
    if (!whole)
        return middle;
    return fmin(fmax(round(middle), b->low + 1), b->high - 1);
}

struct bracket bisect(function *f, void *context, double low, double high, double tolerance, bool whole)
{
    struct bracket b = {.low = low, .high = high};
    b.at_low = f(context, low);
    b.at_high = f(context, high);
    b.found = (b.at_low < 0 && b.at_high > 0) || (b.at_low > 0 && b.at_high < 0);
    while (b.found && b.high > b.low * (1 + tolerance) && !(whole && b.high - b.low <= 1)) {
        double x = middle_of(&b, whole), at = f(context, x);
        if (isnan(at) || interrupt_signal()) {
            b.found = false;
            b.at_high = NAN;
        } else if ((at < 0) == (b.at_low < 0)) {
            b.low = x;
            b.at_low = at;
        } else {
            b.high = x;
            b.at_high = at;
        }
    }
    return b;
}

enum { RUNS = 5 };

/* The median time of a program; INFINITY if it does not fit or does not finish by the deadline (late). */
static double time_program(const struct workload *w, enum program_kind kind, double deadline, bool *late)
{
    struct sampling rule = {.warmup = 1, .runs = RUNS, .deadline = deadline};
    device_recover(&w->options->device);
    struct recording r = workload_record(w, kind);
    struct outcome outcome;
    double median = INFINITY;
    if (workload_load(w, kind, &r, &outcome)) {
        tape_init(r.tape);
        struct samples s = sample_tape(r.tape, &rule);
        if (s.n == RUNS)
            median = summarize(s.seconds, RUNS).median;
        else
            *late = true;
        samples_free(&s);
    }
    workload_unload(&r);
    return median;
}

bool probe_times(const struct options *o, const struct config *c, double patience, double seconds[TIMED])
{
    struct encoded encoded = {0};
    struct sampling once = {.runs = 1, .deadline = clock_now() + PROGRAMS * patience};
    struct outcome outcome;
    struct workload w;
    bool fits = workload_open(&w, o, c, &outcome), opened = fits;
    fits = fits && workload_encode(&w, &encoded, &once, &outcome);
    bool late = opened && !fits && strcmp(outcome.status, "skipped") == 0;
    seconds[PROGRAMS] = !fits ? INFINITY : encoded.samples.n > 0 ? encoded.samples.seconds[0] : 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        seconds[p] = !c->runs[p]                   ? 0
                     : fits && !interrupt_signal() ? time_program(&w, p, clock_now() + patience, &late)
                                                   : INFINITY;
        fits = fits && seconds[p] < INFINITY;
    }
    if (opened)
        workload_close(&w);
    encoded_free(&encoded);
    return late;
}

double predicted_time(struct tape *t, const struct calibration *peaks)
{
    tape_plan(t);
    struct profile p = profile_plan(t, peaks);
    double seconds = profile_total(&p).least + p.launches;
    profile_free(&p);
    return seconds;
}

bool predicted_times(const struct options *o, const struct config *c, const struct calibration *peaks,
                     double seconds[PROGRAMS])
{
    struct workload w;
    struct message error;
    bool known = workload_plan(&w, o, c, &error);
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        seconds[p] = 0;
        if (!known || !c->runs[p])
            continue;
        struct recording r = workload_record(&w, p);
        seconds[p] = predicted_time(r.tape, peaks);
        tape_free(r.tape);
        known = !isnan(seconds[p]);
    }
    workload_close(&w);
    return known;
}
