/*
 * The counter (nvmlDeviceGetTotalEnergyConsumption) changes in ticks of 20 to 100 ms, depending on the
 * generation, as the averaging periods of the power do (Yang, Adamek and Armour, "Part-time power
 * measurements: nvidia-smi's lack of attention", SC 2024). Energy, runs and time are therefore taken between
 * two readings at which the counter had just changed.
 */

#include "bench/time/apart.h"

#include <math.h>

#include "bench/base/clock.h"

enum { TICKS_MIN = 20, BATCH_MAX = 1000 };

/* Of runs between two readings: well under a tick, but long enough that the GPU hardly waits for readings. */
static const double look_seconds = 5e-3;

/* A program that runs while the counter is read. */
struct meter {
    struct tape *tape;
    const struct nvml *nvml;
    int batch;     /* runs between two readings */
    double joules; /* at the last reading */
    double until;  /* by the clock */
};

static void run(struct tape *t, int runs)
{
    for (int i = 0; i < runs; i++)
        tape_run(t);
    tape_wait(t);
}

static struct meter meter_start(struct tape *t, const struct nvml *n, double seconds)
{
    double start = clock_now();
    struct meter m = {.tape = t, .nvml = n, .until = start + seconds};
    run(t, 1);
    m.batch = (int)fmin(BATCH_MAX, 1 + look_seconds / (clock_now() - start));
    m.joules = nvml_energy(n);
    return m;
}

/* Runs a batch; whether the counter has changed meanwhile. */
static bool ticked(struct meter *m)
{
    double before = m->joules;
    run(m->tape, m->batch);
    m->joules = nvml_energy(m->nvml);
    return m->joules > before;
}

/* Runs until the counter changes; false if it does not in time. */
static bool find_tick(struct meter *m)
{
    do {
        if (ticked(m))
            return true;
    } while (clock_now() < m->until);
    return false;
}

const char *energy_doubt(const struct ticks *t)
{
    return t->ticks == 0                                 ? "the energy counter does not change"
           : t->ticks < TICKS_MIN && t->ticks < t->looks ? "the energy counter changes too seldom"
                                                         : NULL;
}

bool energy_lacks_ticks(const struct ticks *t, double left)
{
    double each = t->ticks > 0 && t->ticks < t->looks ? t->seconds / t->ticks : 0;
    return t->ticks < TICKS_MIN && left > 0 && (TICKS_MIN - t->ticks) * each <= left;
}

/* Measures from a tick on. Returns why there is no energy; null: there is one. */
static const char *measure(struct meter *m, int64_t graphs, struct row_program *to)
{
    struct ticks t = {0};
    double from = m->joules, last = from, start = clock_now();
    int64_t runs = 0, runs_to = 0;
    do {
        bool tick = ticked(m);
        t.looks++;
        runs += m->batch;
        if (!tick)
            continue;
        t.ticks++;
        t.seconds = clock_now() - start;
        last = m->joules;
        runs_to = runs;
    } while (energy_lacks_ticks(&t, m->until - clock_now()));
    to->gpu.energy_per_graph = (last - from) / (double)runs_to / (double)graphs;
    to->gpu.power = (last - from) / t.seconds;
    to->gpu.energy_span = t.seconds;
    return energy_doubt(&t);
}

void energy_measure(struct tape *t, const struct nvml *n, double seconds, int64_t graphs, struct row *row,
                    struct row_program *to)
{
    struct meter m = meter_start(t, n, seconds);
    const char *reason =
        isnan(m.joules) ? "the GPU has no energy counter" : "the energy counter does not change";
    if (find_tick(&m))
        reason = measure(&m, graphs, to);
    if (nvml_divided(n))
        reason = "the GPU is divided (MIG), so its energy is not that of this program alone";
    if (reason) {
        row_put_reason(row, &to->gpu.energy_per_graph, reason);
        row_put_reason(row, &to->gpu.power, reason);
        row_put_reason(row, &to->gpu.energy_span, reason);
    }
    if (!nvml_busy(n, &to->gpu.busy, &to->gpu.memory_busy)) {
        row_put_reason(row, &to->gpu.busy, "unknown to NVML");
        row_put_reason(row, &to->gpu.memory_busy, "unknown to NVML");
    }
}
