/*
 * Points in time while a tape runs: the host's clock where the host computes; on a device events among what
 * is launched, so that nothing waits before the run is over.
 */
#ifndef GTMARK_BENCH_STOPWATCH_H
#define GTMARK_BENCH_STOPWATCH_H

#include "models/tape/tape.h"

struct stopwatch {
    const struct device *device; /* null: the host */
    void *context;
    int marks;
    double *at;    /* seconds, of mark i; from mark 0 on a device */
    void **events; /* of mark i; null on the host */
};

/* For so many marks in a run of the tape. */
struct stopwatch stopwatch_open(const struct tape *t, int marks);
void stopwatch_close(struct stopwatch *w);

/* Sets mark i: what was launched before it is done at its time. */
void stopwatch_mark(struct stopwatch *w, int i);

/* Waits for all that was launched and fills in the times of marks 0 to count - 1. */
void stopwatch_resolve(struct stopwatch *w, int count);

#endif
