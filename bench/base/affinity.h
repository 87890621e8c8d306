/* Which core a thread runs on: the scheduler may leave two on one core for longer than a measurement. */
#ifndef GTMARK_BENCH_AFFINITY_H
#define GTMARK_BENCH_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* The processors that threads may run on. Bound threads (OMP_PROC_BIND, GOMP_CPU_AFFINITY) have OpenMP's
 * places, and the first is on its own before the program begins; else it is the affinity of the process. */
void affinity_granted(cpu_set_t *granted);

/* The first of a set, which is not empty. */
int affinity_first(const cpu_set_t *set);

/* Threads that OpenMP runs if asked for so many, and the processors on which they may run. */
struct team {
    int threads, processors;
};
struct team affinity_team(int threads);

/* Gives each of `threads` OpenMP threads a core of its own if exactly that many cores are granted; otherwise
 * returns false and changes nothing. `granted` is the argument of affinity_restore. */
bool affinity_spread(int threads, cpu_set_t *granted);

void affinity_restore(int threads, const cpu_set_t *granted);

/* --- before threads start, and how OpenMP's wait for work: they spin for a while, then sleep */

/*
 * For the beginning of main. Of processors of several kinds (kinds.h) the process keeps the fastest, unless
 * OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY is set.
 *
 * Then starts the program again with GOMP_SPINCOUNT=3000, since libgomp reads it before main. Returns where
 * that or OMP_WAIT_POLICY is set, so the second time too; if built with clang, whose OpenMP has
 * KMP_BLOCKTIME; under valgrind, which would not follow; and if the program cannot be started.
 */
void threads_prepare(char *const *argv);

/* What decides it: "GOMP_SPINCOUNT=3000", "OMP_WAIT_POLICY=passive", "default of libgomp". */
void waiting_policy(char *text, size_t size);

#endif
