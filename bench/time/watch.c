#include "bench/time/watch.h"

#include <math.h>
#include <time.h>

#include "bench/base/clock.h"
#include "bench/machine/nvml.h"

static const struct timespec recovery = {.tv_nsec = 100 * 1000 * 1000};

struct watch watch_start(const struct nvml *nvml, double interval)
{
    return (struct watch){.nvml = nvml,
                          .interval = interval,
                          .looked = clock_now(),
                          .seen = {.told = nvml != NULL, .temperature = NAN}};
}

static uint64_t look(struct watch *w, double *clock)
{
    uint64_t reasons = 0;
    w->seen.told = nvml_reasons(w->nvml, &reasons) && w->seen.told;
    w->seen.reasons |= reasons;
    w->seen.temperature = fmax(w->seen.temperature, nvml_temperature(w->nvml));
    *clock = nvml_clock(w->nvml);
    return reasons;
}

int watch_sample(struct watch *w, int n, bool last, bool time_left, double *clock)
{
    if (!w->nvml || (!last && clock_now() - w->looked < w->interval))
        return n;
    double now;
    enum fate fate = throttle_judge(look(w, &now), w->discards, time_left);
    if (fate == FATE_DISCARDED) {
        w->seen.discarded += n - w->standing;
        w->discards++;
        nanosleep(&recovery, NULL);
    } else {
        if (fate == FATE_KEPT_THROTTLED)
            w->seen.throttled += n - w->standing;
        while (w->standing < n)
            clock[w->standing++] = now;
    }
    w->looked = clock_now();
    return w->standing;
}

struct seen seen_join(const struct seen *a, const struct seen *b)
{
    return (struct seen){.discarded = a->discarded + b->discarded,
                         .throttled = a->throttled + b->throttled,
                         .told = a->told && b->told,
                         .reasons = a->reasons | b->reasons,
                         .temperature = fmax(a->temperature, b->temperature)};
}
