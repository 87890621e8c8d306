/* Points in time while a tape runs: the clock of the host if the host computes; on a device events between
 * the launches, so that nothing waits until the run is over. */
#ifndef GTMARK_BENCH_STOPWATCH_H
#define GTMARK_BENCH_STOPWATCH_H

#include "models/tape/tape.h"

struct stopwatch {
    const struct device *device; /* null: the host */
    void *context;
    int marks;
    double *at;    /* seconds of mark i; on a device since mark 0 */
    void **events; /* of mark i; null on the host */
};

/* For `marks` marks in a run of the tape. */
struct stopwatch stopwatch_open(const struct tape *t, int marks);
void stopwatch_close(struct stopwatch *w);

/* Sets mark i: the time when everything launched before is complete. */
void stopwatch_mark(struct stopwatch *w, int i);

/* Waits for everything launched and fills in the times of marks 0 to count - 1. */
void stopwatch_resolve(struct stopwatch *w, int count);

#endif
