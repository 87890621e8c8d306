#include "bench/row/timed.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/record/profile.h"
#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"
#include "bench/machine/nvml.h"
#include "bench/machine/roofline.h"
#include "bench/row/fields.h"

static bool all_known(const double *values, int n)
{
    int known = 0;
    while (known < n && !isnan(values[known]))
        known++;
    return known == n;
}

static const char *const phase_groups[PHASES] = {[PHASE_BACKWARD] = "step.backward.time",
                                                 [PHASE_OPTIMIZER] = "step.optimizer.time",
                                                 [PHASE_RECOMPUTE] = "step.recompute.time"};

/* Whether the program has a phase beside the forward pass. */
static bool has_phase(const struct row *row, enum program_kind kind, enum phase phase)
{
    return kind == PROGRAM_STEP && phase != PHASE_FORWARD &&
           (phase != PHASE_RECOMPUTE || row->step.recompute.bytes > 0);
}

/* The statistics of a phase in some turns; r: which of them are reported. */
static void set_phase(struct row *row, enum phase phase, const struct turns *t, const struct reported *r)
{
    struct reported part = reported_part(t, r);
    row_set_part_times(row, phase_groups[phase], t, &part);
    reported_free(&part);
}

void timed_write_eager(struct row *row, enum program_kind kind, double seconds[PHASES][EAGER_MAX])
{
    static const struct states none;
    struct turn turn = {(size_t)row_program(row, kind)->eager.n, {{NAN, NAN}}, {{NAN, NAN}}};
    for (enum phase p = 0; p < PHASES; p++) {
        if (!has_phase(row, kind, p))
            continue;
        struct turns turns = {1, &turn, seconds[p]};
        struct reported r = reported_choose(&turns, &none);
        set_phase(row, p, &turns, &r);
        reported_free(&r);
    }
}

/* Of the samples; if these are replays of a graph, those of the runs launched beside them are in the row. */
static void set_phases(struct row *row, enum program_kind kind, const struct samples *s,
                       const struct reported *r)
{
    for (enum phase p = 0; p < PHASES; p++) {
        if (!has_phase(row, kind, p))
            continue;
        struct turns turns = samples_turns(s);
        turns.samples = s->phase[p];
        if (all_known(s->phase[p], s->n))
            set_phase(row, p, &turns, r);
        else if (row->step.eager.n == COUNT_ABSENT)
            row_omit(row, phase_groups[p], "replayed as one graph (--no-cuda-graph)");
    }
}

/* The median of all turns, as the time is one of turns. */
static void set_lost(struct row *row, struct row_times *time, const struct samples *s)
{
    if (all_known(s->lost, s->turns))
        time->lost = summarize(s->lost, (size_t)s->turns).median;
    else
        row_put_reason(row, &time->lost,
                       "the kernel does not say how long threads wait (/proc/self/schedstat)");
}

static void set_times(struct row *row, enum program_kind kind, const struct samples *s,
                      const struct reported *r)
{
    static const char *const groups[PROGRAMS] = {"forward.time", "step.time", "kernel.time"};
    struct row_program *to = row_program(row, kind);
    struct turns turns = samples_turns(s);
    row_set_times(row, groups[kind], &turns, r);
    set_lost(row, &to->time, s);
    to->time.warmup = s->warmup;
    to->time.batch = s->batch;
    to->time.cpu = s->used.cpu / (double)samples_runs(s);
    to->noise.minor_faults = s->used.minor_faults;
    to->noise.major_faults = s->used.major_faults;
    to->noise.voluntary = s->used.voluntary;
    to->noise.involuntary = s->used.involuntary;
    set_phases(row, kind, s, r);
}

static void set_throttle(struct row *row, struct row_program *to, const struct seen *seen)
{
    static const char untold[] = "the GPU does not report throttle reasons";
    char text[THROTTLE_TEXT];
    if (!seen->told) {
        row_put_reason(row, &to->time.discarded, untold);
        row_put_reason(row, &to->gpu.throttled, untold);
        row_put_reason(row, &to->gpu.throttle, untold);
        return;
    }
    throttle_text(seen->reasons, text);
    to->time.discarded = seen->discarded;
    to->gpu.throttled = seen->throttled;
    to->gpu.throttle = row_keep(row, text);
}

/* Throttling, clocks and temperature at the looks between the samples. */
static void set_watched(struct row *row, struct row_program *to, const struct samples *s)
{
    static const char unknown[] = "not reported by the GPU";
    if (all_known(s->clock, s->n)) {
        struct summary clock = summarize(s->clock, (size_t)s->n);
        to->gpu.clock = clock.median;
        to->gpu.clock_min = clock.min;
    } else {
        row_put_reason(row, &to->gpu.clock, unknown);
        row_put_reason(row, &to->gpu.clock_min, unknown);
    }
    set_throttle(row, to, &s->seen);
    to->gpu.temperature = s->seen.temperature;
    if (isnan(s->seen.temperature))
        row_put_reason(row, &to->gpu.temperature, unknown);
}

/* The peak rates for the state in which a program is reported; null with the reason if there are none. */
static const struct calibration *peaks_of(const struct job *job, const struct timed *p,
                                          const struct reported *reported, const char **reason)
{
    struct turns turns = samples_turns(&p->samples);
    const struct calibration *c =
        peaks_in(job->peaks, job->config->threads, turns.list, turns.count, &reported->state, reason);
    if (job->config->ranks > 1)
        *reason = "not with several ranks";
    else if (c && reported->stateless)
        *reason = ROW_STATELESS;
    else if (c && (p->cost.flops < 0 || p->cost.bytes < 0 || p->operands == BYTES_MOST))
        *reason = "the work exceeds 63 bits";
    else if (c)
        *reason = NULL;
    return *reason ? NULL : c;
}

static void set_roofline(struct row *row, struct row_program *to, const struct timed *p,
                         const struct calibration *c)
{
    struct roofline r = roofline_place(c, &p->cost, to->time.median, p->operands);
    struct message fault;
    roofline_fault(&r, c, &fault);
    to->roofline.level = row_keep(row, memory_level_name(r.level));
    to->roofline.bound = row_keep(row, bound_name(r.bound));
    row_put_real(row, &to->roofline.attainable, r.attainable);
    row_put_real(row, &to->roofline.percent, r.percent);
    to->roofline.calibrated = row_keep(row, *c->time ? c->time : c->cpu);
    to->roofline.fault = row_keep(row, fault.text);
    /* With cold caches the working set is in the outermost level. */
    if (to->cold.n != COUNT_ABSENT)
        row_put_real(row, &to->cold.percent, roofline_place(c, &p->cost, to->cold.median, INT64_MAX).percent);
}

static void set_bound(struct row *row, struct row_program *to, const struct timed *p,
                      const struct calibration *c)
{
    double bound = 0;
    for (int i = 0; i < p->entries; i++)
        bound += roofline_bound(c, &p->entry[i]);
    row_put_real(row, &to->bound.time, bound);
}

static void set_peaks(struct row *row, const struct job *job, enum program_kind kind, const struct timed *p,
                      const struct reported *r)
{
    struct row_program *to = row_program(row, kind);
    const char *reason;
    const struct calibration *c = peaks_of(job, p, r, &reason);
    row_omit_of(row, kind, "roofline", reason);
    row_omit_of(row, kind, "bound", reason);
    if (to->cold.n != COUNT_ABSENT)
        row_omit_of(row, kind, "cold.percent", reason);
    if (!c)
        return;
    set_roofline(row, to, p, c);
    set_bound(row, to, p, c);
}

void timed_write(struct row *row, const struct job *job, enum program_kind kind, const struct timed *p)
{
    struct row_program *to = row_program(row, kind);
    const struct device_choice *d = &job->options->device;
    if (!p->planned || p->samples.n == 0)
        return;
    struct turns turns = samples_turns(&p->samples);
    struct reported reported = reported_choose(&turns, &job->states);
    set_times(row, kind, &p->samples, &reported);
    if (p->watched)
        set_watched(row, to, &p->samples);
    else if (d->context && !d->nvml)
        row_put_reason(row, &to->time.discarded, d->no_nvml);
    set_peaks(row, job, kind, p, &reported);
    profile_cover(to);
    if (kind == PROGRAM_STEP)
        row_put_real(row, &row->loss, p->samples.first);
    reported_free(&reported);
}

void timed_write_encoding(struct row *row, const struct job *job, const struct samples *s)
{
    struct turns turns = samples_turns(s);
    struct reported reported = reported_choose(&turns, &job->states);
    row_set_times(row, "encoding.time", &turns, &reported);
    set_lost(row, &row->encoding.time, s);
    reported_free(&reported);
}

/* The times of a phase in the samples; NAN if the row does not have them, or those of launched runs. */
static void load_phase(struct samples *s, enum phase phase, const struct row *from, size_t program)
{
    const struct row_program *p = program < TIMED - 1 ? row_program(from, program) : NULL;
    struct items seconds = {.count = 0};
    if (p && p->eager.n == COUNT_ABSENT)
        seconds = phase == PHASE_BACKWARD    ? p->backward.time.samples
                  : phase == PHASE_OPTIMIZER ? p->optimizer.time.samples
                  : phase == PHASE_RECOMPUTE ? p->recompute.time.samples
                                             : seconds;
    for (int i = 0; i < s->n; i++)
        s->phase[phase][i] = seconds.count == (size_t)s->n ? seconds.reals[i] : NAN;
}

/* Whether each turn has samples, and all together have n. */
static bool turns_hold(const struct turn *turns, size_t count, size_t n)
{
    size_t all = 0, filled = 0;
    for (size_t i = 0; i < count; i++) {
        all += turns[i].samples;
        filled += turns[i].samples > 0;
    }
    return n > 0 && all == n && filled == count;
}

void timed_load(struct samples *s, const struct row *from, size_t program)
{
    const struct row_times *times = row_timed(from, program);
    size_t n = times->samples.count, count;
    struct turn *turns = row_turns(times, &count);
    *s = (struct samples){0};
    if (!turns_hold(turns, count, n)) {
        free(turns);
        return;
    }
    samples_allocate(s, n);
    s->n = (int)n;
    s->turns = (int)count;
    s->turn = turns;
    for (size_t i = 0; i < n; i++) {
        s->seconds[i] = times->samples.reals[i];
        s->clock[i] = NAN;
    }
    s->batch = times->batch == COUNT_ABSENT ? 1 : (int)times->batch;
    s->used.cpu = times->cpu * (double)samples_runs(s);
    s->lost = allocate(count, sizeof *s->lost);
    for (size_t i = 0; i < count; i++)
        s->lost[i] = times->lost; /* the median of all of them */
    for (enum phase p = 0; p < PHASES; p++)
        load_phase(s, p, from, program);
    s->first = from->loss;
}
