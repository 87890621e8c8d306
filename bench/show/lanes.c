/*
 * GOMP_parallel(fn, data, num_threads, flags) runs fn(data) in every thread of a team (libgomp, "The libgomp
 * ABI"). Ours passes on a function that reads the clock before and after fn.
 *
 * The pointers below are globals, since an interposed function is given no context.
 */
#include "bench/show/lanes.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/base/clock.h"

static struct lanes *kept_by; /* null: nothing is kept */

#if defined __GNUC__ && !defined __clang__
typedef void (*region_function)(void *data);
typedef void (*parallel_function)(region_function fn, void *data, unsigned threads, unsigned flags);

void GOMP_parallel(region_function fn, void *data, unsigned threads, unsigned flags);

/* The runtime's own. */
static parallel_function parallel;

__attribute__((constructor)) static void find_parallel(void)
{
    *(void **)&parallel = dlsym(RTLD_NEXT, "GOMP_parallel");
    if (!parallel) {
        fprintf(stderr, "no GOMP_parallel in the OpenMP runtime\n");
        abort();
    }
}

struct region {
    region_function fn;
    void *data;
};

static void keep(struct lanes *l, double begin, double end)
{
    int thread = omp_get_thread_num();
    struct lane *lane = thread < l->threads ? &l->lane[thread] : NULL;
    if (lane && lane->count < l->capacity)
        lane->spans[lane->count++] = (struct lane_span){begin, end};
    else if (lane)
        lane->lost++;
}

static void run_kept(void *data)
{
    const struct region *r = data;
    double begin = clock_now();
    r->fn(r->data);
    if (kept_by && omp_get_level() == 1)
        keep(kept_by, begin, clock_now());
}

void GOMP_parallel(region_function fn, void *data, unsigned threads, unsigned flags)
{
    if (!kept_by) {
        parallel(fn, data, threads, flags);
        return;
    }
    struct region region = {fn, data};
    parallel(run_kept, &region, threads, flags);
}

bool lanes_available(void)
{
    return true;
}
#else
bool lanes_available(void)
{
    return false;
}
#endif

struct lanes lanes_open(int threads, int capacity)
{
    struct lanes l = {.threads = threads, .capacity = capacity};
    l.lane = aligned_alloc(64, (size_t)threads * sizeof *l.lane);
    for (int t = 0; l.lane && t < threads; t++) {
        l.lane[t] = (struct lane){.spans = calloc((size_t)capacity, sizeof(struct lane_span))};
        if (!l.lane[t].spans)
            abort();
    }
    if (!l.lane)
        abort();
    return l;
}

void lanes_close(struct lanes *l)
{
    for (int t = 0; t < l->threads; t++)
        free(l->lane[t].spans);
    free(l->lane);
    *l = (struct lanes){0};
}

void lanes_start(struct lanes *l)
{
    kept_by = l;
}

void lanes_stop(void)
{
    kept_by = NULL;
}
