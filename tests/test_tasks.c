/*
 * Threads wait for one another where kernels/cpu/tasks.h and barrier.h say so, however late one of them is:
 * it stays away until another has passed where none may, or for a while.
 */
#include "kernels/cpu/barrier.h"
#include "kernels/cpu/tasks.h"
#include "tests/test.h"

#include <unistd.h>

enum { THREADS = 3, TASKS = 40 };

struct work {
    int late;                               /* this task, or nobody: -1 */
    atomic_int begun, strange, done[TASKS]; /* strange: numbers that are no task's */
    atomic_int passed;                      /* threads */
};

static void stay_away_until(atomic_int *passed)
{
    for (int ms = 0; ms < 50 && !atomic_load(passed); ms++)
        usleep(1000);
}

static void run(const void *unused, int64_t number, void *work)
{
    struct work *w = work;
    (void)unused;
    atomic_fetch_add(&w->begun, 1);
    if (number == w->late)
        stay_away_until(&w->passed);
    if (number >= 0 && number < TASKS)
        atomic_fetch_add(&w->done[number], 1);
    else
        atomic_fetch_add(&w->strange, 1);
}

/* Runs all tasks. Returns how many a thread has found undone, or done twice, when it has passed. */
static int run_all(struct work *w, int late_thread)
{
    static struct task_queue queues[THREADS];
    atomic_int wrong = 0;
    memset(queues, 0xff, sizeof queues);
#pragma omp parallel num_threads(THREADS)
    {
        if (omp_get_thread_num() == late_thread)
            stay_away_until(&w->begun);
        tasks_run(queues, TASKS, NULL, w, run);
        atomic_fetch_add(&w->passed, 1);
        for (int t = 0; t < TASKS; t++)
            atomic_fetch_add(&wrong, atomic_load(&w->done[t]) != 1);
    }
    return atomic_load(&wrong) + atomic_load(&w->strange);
}

TEST(test_tasks_of_a_late_thread)
{
    for (int thread = 0; thread < THREADS; thread++)
        assert_int_equal(run_all(&(struct work){.late = -1}, thread), 0);
}

TEST(test_a_late_task)
{
    for (int task = 0; task < TASKS; task += TASKS / THREADS)
        assert_int_equal(run_all(&(struct work){.late = task}, -1), 0);
}

/* In each round one thread is late; none passes before it has arrived. */
TEST(test_barrier)
{
    struct barrier barrier = {0};
    atomic_int arrived[THREADS] = {0}, passed[THREADS] = {0}, wrong = 0;
#pragma omp parallel num_threads(THREADS)
    {
        for (int round = 0; round < THREADS; round++) {
            if (omp_get_thread_num() == round)
                stay_away_until(&passed[round]);
            atomic_fetch_add(&arrived[round], 1);
            barrier_wait(&barrier, omp_get_num_threads());
            atomic_fetch_add(&passed[round], 1);
            atomic_fetch_add(&wrong, atomic_load(&arrived[round]) != omp_get_num_threads());
        }
    }
    assert_int_equal(atomic_load(&wrong), 0);
}
