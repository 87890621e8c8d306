/*
 * Each replay is launched on an idle device and waited for afterwards. A device queues about a thousand
 * launches before it makes the host wait. For a program with more, whose kernels take longer than their
 * launches, the result includes time of the device.
 */
#include "bench/time/launching.h"

#include "analysis/statistics/statistics.h"
#include "bench/base/clock.h"

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
