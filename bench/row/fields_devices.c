/* What passes measured of the GPU, and of exchange between ranks. */
#include "bench/row/fields.h"

#include <math.h>

#include "analysis/statistics/statistics.h"
#include "bench/machine/throttle.h"
#include "bench/row/put.h"
#include "bench/row/result.h"

/* Sets a value, or null if there is a reason or it is NAN. */
static void set_gpu(struct row *row, double *member, double value, const char *missing)
{
    if (missing || isnan(value))
        put_reason(row, member, missing ? missing : "not reported by the GPU");
    else
        put_real(row, member, value);
}

static void write_throttle(struct row *row, struct row_program *to, const struct seen *seen)
{
    static const char untold[] = "the GPU does not report throttle reasons";
    char text[THROTTLE_TEXT];
    if (!seen->told) {
        put_reason(row, &to->time.discarded, untold);
        put_reason(row, &to->gpu.throttled, untold);
        put_reason(row, &to->gpu.throttle, untold);
        return;
    }
    throttle_text(seen->reasons, text);
    put_count(row, &to->time.discarded, seen->discarded);
    put_count(row, &to->gpu.throttled, seen->throttled);
    to->gpu.throttle = row_keep(row, text);
}

/* Of the clock at each sample; NAN if any is unknown. */
static struct summary summarize_clocks(const struct samples *s)
{
    for (int i = 0; i < s->n; i++)
        if (isnan(s->clock[i]))
            return (struct summary){.median = NAN, .min = NAN};
    return summarize(s->clock, (size_t)s->n);
}

void fields_gpu(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    const struct energy *e = &p->energy;
    struct summary clock = summarize_clocks(p->samples);
    write_throttle(row, to, &p->samples->seen);
    set_gpu(row, &to->gpu.clock, clock.median, NULL);
    set_gpu(row, &to->gpu.clock_min, clock.min, NULL);
    set_gpu(row, &to->gpu.temperature, p->samples->seen.temperature, NULL);
    set_gpu(row, &to->gpu.energy_per_graph, e->joules, e->missing);
    set_gpu(row, &to->gpu.power, e->watts, e->missing);
    set_gpu(row, &to->gpu.energy_span, e->seconds, e->missing);
    set_gpu(row, &to->gpu.busy, e->busy, e->busy_missing);
    set_gpu(row, &to->gpu.memory_busy, e->memory_busy, e->busy_missing);
}

/* The value, or absent with the reason. */
static void set_exchange(struct row *row, double *member, double value, const char *missing)
{
    if (missing)
        put_reason(row, member, missing);
    else
        put_real(row, member, value);
}

static void set_predicted(struct row *row, struct row_program *to, const struct program_result *p)
{
    const struct forecast *f = &p->forecast;
    const char *missing = *f->missing.text ? f->missing.text : f->bytes == 0 ? "nothing is exchanged" : NULL;
    const char *no_run = !f->known       ? f->missing.text
                         : p->samples    ? "what runs has no ceilings of several ranks"
                         : isnan(f->run) ? "no ceilings (--ceilings)"
                                         : NULL;
    set_exchange(row, &to->communication.predicted, f->alone, missing);
    set_exchange(row, &to->communication.predicted_run, f->run, no_run);
    set_exchange(row, &to->communication.predicted_exposed, f->exposed, no_run);
    if (missing)
        put_reason(row, &to->communication.link, missing);
    else
        to->communication.link = row_keep(row, f->link.text);
}

void fields_exchange(struct row *row, enum program_kind kind, const struct program_result *p)
{
    struct row_program *to = row_program(row, kind);
    const struct exchange *e = &p->exchange;
    const char *missing = !p->samples    ? "planned only (--device meta)"
                          : e->sent == 0 ? "nothing is exchanged"
                                         : NULL;
    put_count(row, &to->communication.bytes, p->samples ? e->sent : p->forecast.bytes);
    set_exchange(row, &to->communication.time, e->alone, missing);
    set_exchange(row, &to->communication.exposed, e->exposed, missing);
    set_exchange(row, &to->communication.bandwidth, 1e-9 * e->bandwidth, missing);
    set_predicted(row, to, p);
}
