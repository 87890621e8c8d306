/*
 * By default libgomp's threads spin 300000 times, some milliseconds, in which another program's thread, or
 * one of ours that has work, may want their processor. What 3000 times change is in docs/validation/time.md.
 */
#include "bench/base/waiting.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/affinity.h"

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

static bool under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "vgpreload");
}

void waiting_shorten(char *const *argv)
{
    char self[PATH_MAX] = ""; /* not /proc/self/exe itself: `ps` would show "exe" */
    if (!IS_LIBGOMP || getenv(own) || getenv(standard) || under_valgrind() ||
        readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return;
    cpu_set_t granted; /* a bound thread is on one processor, which the program would inherit */
    affinity_granted(&granted);
    sched_setaffinity(0, sizeof granted, &granted);
    setenv(own, "3000", 1);
    execv(self, argv);
    unsetenv(own);
}
