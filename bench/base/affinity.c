#include "bench/base/affinity.h"

#include <omp.h>
#include <stddef.h>

/* Restricts thread i to the i-th core of the set (`bind`), or lets it run on all of them. */
static void place_threads(int threads, const cpu_set_t *granted, bool bind)
{
#pragma omp parallel num_threads(threads)
    {
        cpu_set_t own = *granted;
        int before = omp_get_thread_num();
        for (size_t cpu = 0; bind && cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, granted) && before-- != 0)
                CPU_CLR(cpu, &own);
        sched_setaffinity(0, sizeof own, &own);
    }
}

bool affinity_spread(int threads, cpu_set_t *granted)
{
    if (sched_getaffinity(0, sizeof *granted, granted) != 0 || CPU_COUNT(granted) != threads)
        return false;
    place_threads(threads, granted, true);
    return true;
}

void affinity_restore(int threads, const cpu_set_t *granted)
{
    place_threads(threads, granted, false);
}
