/* Computed from times: the least time that the ceilings allow, over the measured time. */
#include "bench/machine/roofline.h"

#include <math.h>

const char *bound_name(enum bound bound)
{
    return bound == BOUND_COMPUTE ? "compute" : "memory";
}

static enum memory_level level_of(const struct calibration *c, int64_t working_set)
{
    enum memory_level l = MEMORY_L2;
    while (l < MEMORY_DRAM && c->level[l].capacity < working_set)
        l++;
    return l;
}

struct roofline roofline_place(const struct calibration *c, int64_t flops, int64_t bytes, double seconds,
                               int64_t working_set)
{
    struct roofline r = {.level = level_of(c, working_set)};
    const struct bandwidth *b = &c->level[r.level];
    double compute = 1e-9 * (double)flops / c->peak;
    double memory = 1e-9 * (double)bytes / fmax(b->read, fmax(b->write, b->triad));
    double least = fmax(compute, memory);
    r.bound = memory > compute ? BOUND_MEMORY : BOUND_COMPUTE;
    r.attainable = flops ? 1e-9 * (double)flops / least : 0;
    r.percent = 100 * least / seconds;
    return r;
}

bool roofline_fault(const struct roofline *r, const struct calibration *c, struct message *text)
{
    text->text[0] = '\0';
    if (!(r->percent > 100))
        return false;
    complain(text,
             "calibration fault: %.0f %% of the %s ceiling (%s, %d threads, calibrated %s at load %.1f): "
             "calibrate again on a quiet machine (--calibrate)",
             r->percent, bound_name(r->bound), memory_level_name(r->level), c->threads, c->time, c->load);
    return true;
}
