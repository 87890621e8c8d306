/* Which core a thread runs on: a scheduler may leave two threads on one core for longer than a measurement
 * takes. */
#ifndef GTMARK_BENCH_AFFINITY_H
#define GTMARK_BENCH_AFFINITY_H

#include <sched.h>
#include <stdbool.h>

/*
 * Gives each of so many OpenMP threads a core of its own, if exactly so many are granted; false, and nothing
 * changed, otherwise. `granted` is what affinity_restore takes.
 */
bool affinity_spread(int threads, cpu_set_t *granted);

/* Lets them run on all granted cores again. */
void affinity_restore(int threads, const cpu_set_t *granted);

#endif
