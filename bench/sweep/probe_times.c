#include "bench/sweep/search.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/statistics.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/show/profile.h"

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

double predicted_time(struct tape *t, const struct calibration *ceilings)
{
    tape_plan(t);
    struct profile p = profile_plan(t, ceilings);
    double seconds = profile_total(&p).least + p.launches;
    profile_free(&p);
    return seconds;
}

bool predicted_times(const struct options *o, const struct config *c, const struct calibration *ceilings,
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
        seconds[p] = predicted_time(r.tape, ceilings);
        tape_free(r.tape);
        known = !isnan(seconds[p]);
    }
    workload_close(&w);
    return known;
}
