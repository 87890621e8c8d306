/* The GPU's clocks, temperature, throttling and energy during the samples of a program. */
#include "bench/row/fields.h"

#include <math.h>

#include "analysis/statistics/statistics.h"
#include "bench/machine/throttle.h"
#include "bench/row/program_fields.h"
#include "bench/row/result.h"

/* Sets a value, or null if there is a reason or it is NAN. */
static void set_gpu(struct row *row, enum program_kind kind, const char *field, double value,
                    const char *missing)
{
    if (missing || isnan(value))
        program_omit(row, kind, field, missing ? missing : "not reported by the GPU");
    else
        program_set_real(row, kind, field, value);
}

static void write_throttle(struct row *row, enum program_kind kind, const struct seen *seen)
{
    static const char untold[] = "the GPU does not report throttle reasons";
    char text[THROTTLE_TEXT];
    if (!seen->told) {
        program_omit(row, kind, "time.discarded", untold);
        program_omit(row, kind, "gpu.throttled", untold);
        program_omit(row, kind, "gpu.throttle", untold);
        return;
    }
    throttle_text(seen->reasons, text);
    program_set_count(row, kind, "time.discarded", seen->discarded);
    program_set_count(row, kind, "gpu.throttled", seen->throttled);
    program_set_text(row, kind, "gpu.throttle", text);
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
    const struct energy *e = &p->energy;
    struct summary clock = summarize_clocks(p->samples);
    write_throttle(row, kind, &p->samples->seen);
    set_gpu(row, kind, "gpu.clock", clock.median, NULL);
    set_gpu(row, kind, "gpu.clock_min", clock.min, NULL);
    set_gpu(row, kind, "gpu.temperature", p->samples->seen.temperature, NULL);
    set_gpu(row, kind, "gpu.energy_per_graph", e->joules, e->missing);
    set_gpu(row, kind, "gpu.power", e->watts, e->missing);
    set_gpu(row, kind, "gpu.energy_span", e->seconds, e->missing);
    set_gpu(row, kind, "gpu.busy", e->busy, e->busy_missing);
    set_gpu(row, kind, "gpu.memory_busy", e->memory_busy, e->busy_missing);
}
