/*
 * A barrier for steps of a few microseconds in a parallel region. At OpenMP's own, threads may sleep at once
 * (OMP_WAIT_POLICY=passive), and waking one takes longer than such a step.
 */
#ifndef GTMARK_KERNELS_CPU_BARRIER_H
#define GTMARK_KERNELS_CPU_BARRIER_H

#include <sched.h>
#include <stdatomic.h>

/* Initially zero. */
struct barrier {
    atomic_int arrived, passed;
};

static inline void barrier_wait(struct barrier *b, int threads)
{
    enum { SPINS = 20000 };
    int passed = atomic_load(&b->passed);
    if (atomic_fetch_add(&b->arrived, 1) + 1 == threads) {
        atomic_store(&b->arrived, 0);
        atomic_store(&b->passed, passed + 1);
        return;
    }
    for (int spins = 0; atomic_load(&b->passed) == passed; spins++)
        if (spins >= SPINS)
            sched_yield(); /* more threads than cores */
}

#endif
