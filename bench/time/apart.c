#include "bench/time/apart.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analysis/statistics/statistics.h"
#include "bench/base/clock.h"
#include "bench/machine/machine.h"
#include "bench/time/stopwatch.h"
#include "kernels/ranks.h"

static double time_run(struct tape *t, struct stopwatch *w)
{
    stopwatch_mark(w, 0);
    tape_run(t);
    stopwatch_mark(w, 1);
    stopwatch_resolve(w, 2);
    return w->at[1] - w->at[0];
}

void cold_measure(struct tape *t, const struct flush *f, int runs, double seconds, struct row_program *to)
{
    double samples[COLD_MAX], start = clock_now();
    struct stopwatch watch = stopwatch_open(t, 2);
    int n = 0;
    while (n < runs && n < COLD_MAX && (n < COLD_MIN || clock_now() - start < seconds)) {
        flush_run(f);
        samples[n++] = time_run(t, &watch);
    }
    stopwatch_close(&watch);
    struct summary s = summarize(samples, (size_t)n);
    to->cold.n = n;
    to->cold.median = s.median;
    to->cold.min = s.min;
    to->cold.flushed = f->bytes;
}

/*
 * Each replay is launched on an idle device and waited for afterwards. A device queues about a thousand
 * launches before it makes the host wait. For a program with more, whose kernels take longer than their
 * launches, the result includes time of the device.
 */

enum { RUNS_MIN = 3, RUNS_MAX = 20 };

static const double patience = 0.2; /* seconds, runs of the device included */

void launching_measure(struct tape *t, struct row_program *to)
{
    double samples[RUNS_MAX], begin = clock_now();
    int n = 0;
    tape_wait(t);
    while (n < RUNS_MAX && (n < RUNS_MIN || clock_now() - begin < patience)) {
        double start = clock_now();
        tape_run(t);
        samples[n++] = clock_now() - start;
        tape_wait(t);
    }
    to->launch.n = n;
    to->launch.entries = tape_entry_count(t);
    to->launch.median = summarize(samples, (size_t)n).median;
}

struct laps {
    const struct tape *tape;
    double last, exposed;
};

static void add_lap(void *context, int entry)
{
    struct laps *l = context;
    double now = clock_now();
    if (op_info(tape_entry(l->tape, entry)->op)->exchange)
        l->exposed += now - l->last;
    l->last = now;
}

static double run_whole(struct tape *t)
{
    struct laps l = {.tape = t};
    tape_ready(t);
    l.last = clock_now();
    tape_run_marked(t, add_lap, &l);
    return l.exposed;
}

static double run_alone(struct tape *t)
{
    tape_ready_exchange(t);
    double start = clock_now();
    tape_run(t);
    return clock_now() - start;
}

/* Bytes through this rank's connection: of a reduction each moves 2 (n - 1) / n times. */
static double moved(const struct tape *t)
{
    double bytes = 0, ranks = tape_config(t)->part.ranks->count;
    for (int i = 0; i < tape_entry_count(t); i++) {
        const struct entry *e = tape_entry(t, i);
        bytes += (op_info(e->op)->sums ? 2 * (ranks - 1) / ranks : 1) * (double)e->sent;
    }
    return bytes;
}

void exchange_measure(struct tape *t, int runs, struct row_program *to)
{
    double alone[EXCHANGE_RUNS], exposed[EXCHANGE_RUNS], until = clock_now() + EXCHANGE_SECONDS;
    int n = 0;
    while (n == 0 || (n < EXCHANGE_RUNS && (runs ? n < runs : clock_now() < until))) {
        exposed[n] = run_whole(t);
        alone[n] = run_alone(t);
        n++;
    }
    to->communication.time = summarize(alone, n).median;
    to->communication.exposed = summarize(exposed, n).median;
    to->communication.bandwidth = 1e-9 * (moved(t) / to->communication.time);
}

/* Writing 5 resets the high-water mark (proc(5), clear_refs). */
static bool reset_peak(void)
{
    FILE *out = fopen("/proc/self/clear_refs", "w");
    if (!out)
        return false;
    bool written = fputs("5", out) >= 0;
    return fclose(out) == 0 && written;
}

const char *memory_measure(struct tape *t, struct row_program *to)
{
    const struct tape_config *c = tape_config(t);
    if (c->backend->device) {
        to->memory.libraries = c->backend->device->taken(c->context) - tape_planned(t)->arena;
        return "device memory has no high-water mark";
    }
#ifdef __GLIBC__
    malloc_trim(0); /* memory that kernels or libraries freed must not count */
#endif
    bool reset = madvise(tape_arena(t), (size_t)tape_planned(t)->arena, MADV_DONTNEED) == 0 && reset_peak();
    int64_t before = machine_bytes("/proc/self/status", "VmRSS");
    tape_init(t);
    if (reset)
        tape_run(t);
    int64_t peak = machine_bytes("/proc/self/status", "VmHWM");
    tape_init(t);
    if (reset && before >= 0 && peak >= before) {
        to->memory.resident = peak - before;
        to->memory.libraries = before;
    }
    return "the kernel does not say, or cannot reset its high-water mark (/proc/self)";
}
