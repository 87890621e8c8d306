/* Which core a thread runs on. The scheduler may leave two threads on one core for longer than a measurement
 * takes. */
#ifndef GTMARK_BENCH_AFFINITY_H
#define GTMARK_BENCH_AFFINITY_H

#include <sched.h>
#include <stdbool.h>

/*
 * Gives each of `threads` OpenMP threads a core of its own if exactly that many cores are granted; otherwise
 * returns false and changes nothing. `granted` is the argument of affinity_restore.
 */
bool affinity_spread(int threads, cpu_set_t *granted);

/* Lets the threads run on all granted cores again. */
void affinity_restore(int threads, const cpu_set_t *granted);

#endif
