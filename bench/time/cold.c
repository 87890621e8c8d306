#include "bench/time/cold.h"

#include "analysis/statistics/statistics.h"
#include "bench/base/clock.h"
#include "bench/time/stopwatch.h"

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
