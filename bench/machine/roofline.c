/* Computed from times: the least time that the peak rates allow, over the measured time. */
#include "bench/machine/roofline.h"

#include <math.h>

const char *bound_name(enum bound bound)
{
    return bound == BOUND_COMPUTE ? "compute" : "memory";
}

static struct traffic traffic_of(const struct cost *cost, double working_set)
{
    return (struct traffic){.read = (double)(cost->bytes - cost->written),
                            .written = (double)cost->written,
                            .updated = (double)cost->updated,
                            .working_set = working_set};
}

/* Seconds of so many FLOPs, at a rate or, if there is none, at the peak. */
static double flops_seconds(const struct calibration *c, double flops, double rate)
{
    return 1e-9 * flops / (rate > 0 ? rate : c->peak);
}

static double compute_seconds(const struct calibration *c, const struct cost *cost)
{
    return flops_seconds(c, (double)(cost->flops - cost->tf32 - cost->bf16), c->peak) +
           flops_seconds(c, (double)cost->tf32, c->tf32) + flops_seconds(c, (double)cost->bf16, c->bf16);
}

struct roofline roofline_place(const struct calibration *c, const struct cost *cost, double seconds,
                               int64_t working_set)
{
    struct roofline r;
    struct traffic traffic = traffic_of(cost, (double)working_set);
    double compute = compute_seconds(c, cost);
    double memory = levels_seconds(c->level, &traffic, &r.level);
    double least = fmax(compute, memory);
    r.bound = memory > compute ? BOUND_MEMORY : BOUND_COMPUTE;
    r.attainable = cost->flops ? 1e-9 * (double)cost->flops / least : 0;
    r.percent = 100 * least / seconds;
    return r;
}

double roofline_bound(const struct calibration *c, const struct cost *cost)
{
    struct traffic traffic = traffic_of(cost, (double)(cost->bytes - cost->updated));
    double memory = sweep_seconds(c->sweep, c->points, &traffic);
    return fmax(compute_seconds(c, cost) / BOUND_ARITHMETIC, memory / BOUND_BANDWIDTH) +
           flops_seconds(c, BOUND_EXP * (double)cost->exps, c->peak);
}

bool roofline_fault(const struct roofline *r, const struct calibration *c, struct message *text)
{
    static const char *const reasons[] = {
        [BOUND_COMPUTE] = "the processor was slower during the calibration; repeat it on a quiet machine "
                          "(--peaks measure)",
        [BOUND_MEMORY] = "either ops pass data to one another in a faster cache, or memory was slower during "
                         "the calibration; repeat it on a quiet machine (--peaks measure)",
    };
    bool memory = r->bound == BOUND_MEMORY;
    text->text[0] = '\0';
    if (!(r->percent > 100))
        return false;
    const char *what = memory ? "bandwidth of " : "peak of arithmetic";
    const char *level = memory ? memory_level_name(r->level) : "";
    if (*c->time)
        complain(text, "above the %s%s (%d threads, calibrated %s at load %.1f): %s", what, level, c->threads,
                 c->time, c->load, reasons[r->bound]);
    else
        complain(text, "above the %s%s (%s)", what, level, c->cpu);
    return true;
}
