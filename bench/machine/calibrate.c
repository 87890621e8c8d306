/*
 * The result is the best repetition, since disturbances can only slow it down (McCalpin's STREAM does the
 * same). Repetitions are short and spread over the whole time, so that some of them find all cores idle even
 * on a busy machine.
 *
 * Each thread passes over its own slice again and again: a repetition continues where the last one ended.
 * Total working sets: half of the second level; the second level and a quarter of the last-level cache; for
 * DRAM 8 times the last-level cache (STREAM asks for 4, but caches that do not evict the oldest line first
 * then still serve a sixth; 4 for a cache above 256 MiB, to save time), at least 64 MiB.
 */
#include "bench/machine/calibration.h"

#include "bench/base/affinity.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/base/clock.h"
#include "bench/machine/caches.h"
#include "bench/machine/machine.h"
#include "kernels/arithmetic.h"

enum { ROUNDS = 5, FIGURES = 1 + 3 * MEMORY_LEVELS };

/* A shorter repetition does not count, and the number of its passes is doubled. */
static const double repetition_seconds = 1e-3;

typedef void pass_function(const struct peak *peak, int64_t n, float *chunk, int64_t array);

/*
 * One measured rate: what each thread does. Its slice holds arrays of `chunks` chunks of n elements, `array`
 * elements apart. A pass goes over one chunk of each array; the next pass takes the next chunk, also across
 * repetitions.
 */
struct task {
    double *best; /* the result: GFLOP/s or GB/s */
    pass_function *pass;
    int64_t n, array, chunks;
    int64_t work;         /* of one thread in one pass: FLOPs or bytes */
    int64_t passes, next; /* passes of a repetition; the chunk that it begins with */
};

struct thread_team {
    const struct peak *peak;
    int threads;
    float *memory;
    int64_t stride; /* floats between the slices of two threads */
};

static void pass_arithmetic(const struct peak *peak, int64_t n, float *chunk, int64_t array)
{
    (void)chunk, (void)array;
    peak->multiply_add(n);
}

static void pass_read(const struct peak *peak, int64_t n, float *chunk, int64_t array)
{
    (void)array;
    peak->read(n, chunk);
}

static void pass_write(const struct peak *peak, int64_t n, float *chunk, int64_t array)
{
    (void)array;
    peak->write(n, chunk, 0.7f);
}

static void pass_triad(const struct peak *peak, int64_t n, float *chunk, int64_t array)
{
    peak->triad(n, chunk, chunk + array, chunk + 2 * array, 0.3f);
}

/* A barrier at which threads spin, since waking up takes longer than a repetition. */
static void meet(atomic_int *arrived, int threads)
{
    enum { PATIENCE = 100000 };
    atomic_fetch_add(arrived, 1);
    for (int64_t spins = 0; atomic_load(arrived) < threads; spins++)
        if (spins > PATIENCE)
            sched_yield(); /* more threads than cores */
}

/* Time and work of one repetition of all threads. */
struct repetition {
    double seconds;  /* from the first thread's start to the last thread's end */
    double shortest; /* of one thread */
    int64_t work;
};

static struct repetition repeat(const struct thread_team *team, const struct task *t)
{
    double first = INFINITY, last = 0, shortest = INFINITY;
    int64_t work = 0;
    atomic_int arrived = 0;
#pragma omp parallel num_threads(team->threads) \
    reduction(min : first, shortest) reduction(max : last) reduction(+ : work)
    {
        float *slice = team->memory + omp_get_thread_num() * team->stride;
        meet(&arrived, omp_get_num_threads());
        first = clock_now();
        for (int64_t i = 0; i < t->passes; i++)
            t->pass(team->peak, t->n, slice + (t->next + i) % t->chunks * t->n, t->array);
        last = clock_now();
        shortest = last - first;
        work = t->work * t->passes;
    }
    return (struct repetition){last - first, shortest, work};
}

/* Repeats for `seconds`, at least once, and keeps the best rate. */
static void improve(const struct thread_team *team, struct task *t, double seconds)
{
    double start = clock_now();
    for (int counted = 0; counted < 1 || clock_now() - start < seconds;) {
        struct repetition r = repeat(team, t);
        t->next += t->passes;
        if (r.shortest < repetition_seconds) {
            t->passes *= 2;
            continue;
        }
        *t->best = fmax(*t->best, 1e-9 * (double)r.work / r.seconds);
        counted++;
    }
}

/* Each thread touches the pages of its slice first. */
static void touch(const struct thread_team *team)
{
#pragma omp parallel num_threads(team->threads)
    team->peak->write(team->stride, team->memory + omp_get_thread_num() * team->stride, 0.7f);
}

/* A task over `arrays` arrays that share a slice of `bytes` bytes. */
static struct task over_slice(double *best, pass_function *pass, int arrays, int64_t bytes)
{
    enum { CHUNK = 1 << 16 /* floats, roughly */, LINE = 16, PAGE = 1024, SHIFT = 21 * LINE };
    int64_t array = bytes / (int64_t)sizeof(float) / arrays;
    /* Arrays at the same offset in a page conflict in the caches. */
    if (arrays > 1)
        array = (array - SHIFT) / PAGE * PAGE + SHIFT;
    int64_t chunks = blocks_of(array, CHUNK), n = array / chunks / LINE * LINE;
    return (struct task){best, pass, n, array, chunks, arrays * n * (int64_t)sizeof(float), 1, 0};
}

/* Adds the three tasks of a level; returns the end of the list of tasks. */
static struct task *add_level(struct task *t, struct bandwidth *b, int threads)
{
    int64_t bytes = b->working_set / threads;
    *t++ = over_slice(&b->write, pass_write, 1, bytes);
    *t++ = over_slice(&b->read, pass_read, 1, bytes);
    *t++ = over_slice(&b->triad, pass_triad, 3, bytes);
    return t;
}

/* In rounds over all tasks, so that a disturbance of half a second does not affect only one of them. */
static void measure_all(const struct thread_team *team, struct calibration *c, double seconds)
{
    enum { STEPS = 4096 };
    struct task tasks[FIGURES], *end = tasks;
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++)
        if (c->level[l].capacity)
            end = add_level(end, &c->level[l], team->threads);
    *end++ = (struct task){&c->peak, pass_arithmetic, STEPS, 0, 1, STEPS * team->peak->flops, 1, 0};
    touch(team);
    for (int round = 0; round < ROUNDS; round++)
        for (struct task *t = tasks; t < end; t++)
            improve(team, t, seconds / (ROUNDS * (double)(end - tasks)));
}

/*
 * With as many threads as processors, each thread is bound to one, since on a busy machine the scheduler may
 * keep two threads on one processor for long. With fewer threads, the scheduler knows better which processors
 * share a core.
 */
static void measure_bound(const struct thread_team *team, struct calibration *c, double seconds)
{
    cpu_set_t granted;
    bool bound = affinity_spread(team->threads, &granted);
    measure_all(team, c, seconds);
    if (bound)
        affinity_restore(team->threads, &granted);
}

/* Sets the capacity of each level and the working set to measure it with. */
static void choose_working_sets(struct calibration *c)
{
    enum { DRAM_LEAST = 64 << 20, LARGE = 256 << 20, GRAIN = 16384 /* granularity of a thread's slice */ };
    struct caches caches = caches_find(NULL, c->threads);
    int64_t beyond = caches.llc ? caches.llc : caches.l2;
    c->level[MEMORY_L2] = (struct bandwidth){caches.l2, caches.l2 / 2, 0, 0, 0};
    c->level[MEMORY_LLC] = (struct bandwidth){caches.llc, caches.l2 + caches.llc / 4, 0, 0, 0};
    int64_t dram = max_of(DRAM_LEAST, (beyond > LARGE ? 4 : 8) * beyond);
    c->level[MEMORY_DRAM] = (struct bandwidth){c->memory, dram, 0, 0, 0};
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++) {
        struct bandwidth *b = &c->level[l];
        int64_t unit = (int64_t)GRAIN * c->threads;
        b->working_set = b->working_set / unit * unit;
        if (!b->capacity || !b->working_set)
            *b = (struct bandwidth){0};
    }
}

bool calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
               struct message *error)
{
    *c = calibration_conditions(peak, threads);
    choose_working_sets(c);
    int64_t bytes = c->level[MEMORY_DRAM].working_set;
    if (bytes > machine_memory_free() / 2)
        return complain(error, "calibration: needs %lld MiB, more than half of the free memory",
                        (long long)(bytes >> 20));
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return complain(error, "calibration: %lld MiB: %s", (long long)(bytes >> 20), strerror(errno));
    /* So that caches are the limit and not address translation. */
    madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
    struct thread_team team = {peak, threads, memory, bytes / threads / (int64_t)sizeof(float)};
    measure_bound(&team, c, seconds);
    munmap(memory, (size_t)bytes);
    return true;
}
