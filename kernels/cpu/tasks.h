/*
 * Tasks 0 .. count - 1, shared out among the threads of a parallel region. Each thread has a range of its
 * own, the same in every call, so that it finds its operands in its own caches; when it has done these, it
 * takes those that other threads have not begun.
 */
#ifndef GTMARK_KERNELS_CPU_TASKS_H
#define GTMARK_KERNELS_CPU_TASKS_H

#include "kernels/cpu/cpu.h"

#include <omp.h>

/* The first task of a thread's range that nobody has begun; on lines of its own, which are fetched in pairs.
 */
struct task_queue {
    int64_t next;
    char unused[120];
};

/* Floats of scratch for the queues, one per thread. */
static inline int64_t task_queues_size(int threads)
{
    return threads * (int64_t)(sizeof(struct task_queue) / sizeof(float));
}

/* The state of a thread, at first zero: the task, and the ranges that it has found empty. */
struct task {
    int64_t number;
    int ranges;
};

/* Called by all threads; a barrier must follow before the first task. */
static inline void tasks_begin(struct task_queue *queues, int64_t count)
{
    queues[omp_get_thread_num()].next = count * omp_get_thread_num() / omp_get_num_threads();
}

/* Moves on to the next task; false: all have begun. */
static inline bool task_next(struct task_queue *queues, int64_t count, struct task *t)
{
    int threads = omp_get_num_threads();
    for (; t->ranges < threads; t->ranges++) {
        int owner = (omp_get_thread_num() + t->ranges) % threads;
#pragma omp atomic capture
        t->number = queues[owner].next++;
        if (t->number < count * (owner + 1) / threads)
            return true;
    }
    return false;
}

/*
 * Runs all tasks, by the threads of a parallel region, which then wait for one another; `thread` is what
 * `run` needs of the calling thread.
 */
INLINE void tasks_run(struct task_queue *queues, int64_t count, const void *all, void *thread,
                      void (*run)(const void *all, int64_t number, void *thread))
{
    tasks_begin(queues, count);
#pragma omp barrier
    for (struct task t = {0}; task_next(queues, count, &t);)
        run(all, t.number, thread);
#pragma omp barrier
}

#endif
