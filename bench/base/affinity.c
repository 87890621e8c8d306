#include "bench/base/affinity.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "analysis/statistics/allocate.h"
#include "bench/base/kinds.h"

void affinity_granted(cpu_set_t *granted)
{
    CPU_ZERO(granted);
    for (int place = 0; place < omp_get_num_places(); place++) {
        int count = omp_get_place_num_procs(place), *cpus = allocate((size_t)count, sizeof *cpus);
        omp_get_place_proc_ids(place, cpus);
        for (int i = 0; i < count; i++)
            if (cpus[i] < CPU_SETSIZE)
                CPU_SET((size_t)cpus[i], granted);
        free(cpus);
    }
    if (CPU_COUNT(granted) == 0 && sched_getaffinity(0, sizeof *granted, granted) != 0)
        CPU_SET(0, granted);
    for (size_t cpu = CPU_SETSIZE - 1; CPU_COUNT(granted) > omp_get_num_procs(); cpu--)
        CPU_CLR(cpu, granted); /* GOMP_CPU_AFFINITY may name processors that there are not */
}

int affinity_first(const cpu_set_t *set)
{
    int first = 0;
    while (!CPU_ISSET((size_t)first, set))
        first++;
    return first;
}

struct team affinity_team(int threads)
{
    struct team team = {omp_get_thread_limit(), 1};
    cpu_set_t all;
    CPU_ZERO(&all);
    if (threads > team.threads) /* libomp would print lines of its own */
        return team;
#pragma omp parallel num_threads(threads)
#pragma omp critical
    {
        cpu_set_t own;
        team.threads = omp_get_num_threads();
        if (sched_getaffinity(0, sizeof own, &own) == 0)
            CPU_OR(&all, &all, &own);
    }
    team.processors = CPU_COUNT(&all);
    return team;
}

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

/*
 * By default libgomp's threads spin 300000 times, some milliseconds, in which another program's thread, or
 * one of ours that has work, may want their processor. What 3000 times change is in docs/validation/time.md.
 */

#ifdef __clang__
enum { IS_LIBGOMP = false };
static const char own[] = "KMP_BLOCKTIME", none[] = "default of libomp";
#else
enum { IS_LIBGOMP = true };
static const char own[] = "GOMP_SPINCOUNT", none[] = "default of libgomp";
#endif
static const char standard[] = "OMP_WAIT_POLICY";

void waiting_policy(char *text, size_t size)
{
    const char *name = getenv(own) ? own : standard, *value = getenv(name);
    snprintf(text, size, "%s%s%s", value ? name : none, value ? "=" : "", value ? value : "");
}

/* No call of OpenMP: libomp would take note of all processors. */
static void stay_on_fastest(void)
{
    cpu_set_t set;
    char kind[KIND_NAME];
    bool chosen = getenv("OMP_PROC_BIND") || getenv("OMP_PLACES") || getenv("GOMP_CPU_AFFINITY");
    if (!chosen && sched_getaffinity(0, sizeof set, &set) == 0 && !kinds_fastest("/sys", &set, kind))
        sched_setaffinity(0, sizeof set, &set);
}

void threads_prepare(char *const *argv)
{
    stay_on_fastest();
    const char *self = (const char *)getauxval(AT_EXECFN); /* not /proc/self/exe, which a sandbox may lack */
    const char *preloaded = getenv("LD_PRELOAD");
    if (!IS_LIBGOMP || getenv(own) || getenv(standard) || (preloaded && strstr(preloaded, "vgpreload")) ||
        !self)
        return;
    cpu_set_t granted; /* a bound thread is on one processor, which the program would inherit */
    affinity_granted(&granted);
    sched_setaffinity(0, sizeof granted, &granted);
    setenv(own, "3000", 1);
    execv(self, argv);
    unsetenv(own);
}
