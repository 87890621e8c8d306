/*
 * The result is the best repetition, since disturbances can only slow it down (McCalpin's STREAM does the
 * same). Repetitions are short and spread over the whole time, in rounds over all tasks, so that some of them
 * find all cores idle even on a busy machine. Only the rounds in one state of the machine count.
 *
 * Each thread passes over its own slice again and again: a repetition continues where the last one ended.
 * The largest working set is 8 times the largest cache that the system claims (STREAM asks for 4, but caches
 * that do not evict the oldest line first then still serve a sixth; 4 for a cache above 256 MiB, to save
 * time), at most a sixteenth of the memory.
 */
#include "bench/machine/calibration.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/base/affinity.h"
#include "bench/base/clock.h"
#include "bench/machine/caches.h"
#include "bench/machine/machine.h"
#include "bench/machine/probe.h"
#include "kernels/arithmetic.h"

/* In the order in which those of a working set are measured. */
enum pattern { WRITE, READ, UPDATE, TRIAD, PATTERNS, ARITHMETIC };

enum { FIGURES = 2 + PATTERNS * SWEEP_MOST, ROUNDS = CALIBRATION_TURNS / BURST, ROUNDS_MOST = 2 * ROUNDS };

/* A shorter repetition does not count, and the number of its passes is doubled. */
static const double repetition_seconds = 1e-3;

/*
 * One measured rate: what each thread does. Its slice holds arrays of `chunks` chunks of n elements, `array`
 * elements apart. A pass goes over one chunk of each array; the next pass takes the next chunk, also across
 * repetitions.
 */
struct task {
    enum pattern pattern;
    int64_t n, array, chunks;
    int64_t work;         /* of one thread in one pass: FLOPs or bytes */
    int64_t passes, next; /* passes of a repetition; the chunk that it begins with */
    float (*compute)(int64_t repetitions);
};

struct thread_team {
    const struct peak *peak;
    int threads;
    float *memory;
    int64_t stride; /* floats between the slices of two threads */
};

static void pass(const struct peak *peak, const struct task *t, float *chunk)
{
    switch (t->pattern) {
    case WRITE:
        peak->write(t->n, chunk, 0.7f);
        break;
    case READ:
        peak->read(t->n, chunk);
        break;
    case UPDATE:
        peak->update(t->n, chunk, 0.3f);
        break;
    case TRIAD:
        peak->triad(t->n, chunk, chunk + t->array, chunk + 2 * t->array, 0.3f);
        break;
    default:
        t->compute(t->n);
    }
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
            pass(team->peak, t, slice + (t->next + i) % t->chunks * t->n);
        last = clock_now();
        shortest = last - first;
        work = t->work * t->passes;
    }
    return (struct repetition){last - first, shortest, work};
}

/* Repeats for `seconds`, at least once; the best rate in GFLOP/s or GB/s. */
static double best_rate(const struct thread_team *team, struct task *t, double seconds)
{
    double start = clock_now(), best = 0;
    for (int counted = 0; counted < 1 || clock_now() - start < seconds;) {
        struct repetition r = repeat(team, t);
        t->next += t->passes;
        if (r.shortest < repetition_seconds) {
            t->passes *= 2;
            continue;
        }
        best = fmax(best, 1e-9 * (double)r.work / r.seconds);
        counted++;
    }
    return best;
}

/* A task over `arrays` arrays that share a slice of `bytes` bytes; a pass goes over each `times` times. */
static struct task over_slice(enum pattern pattern, int arrays, int times, int64_t bytes)
{
    enum { CHUNK = 1 << 16 /* floats, roughly */, LINE = 16, PAGE = 1024, SHIFT = 21 * LINE };
    int64_t array = bytes / (int64_t)sizeof(float) / arrays;
    /* Arrays at the same offset in a page conflict in the caches. */
    if (arrays > 1)
        array = (array - SHIFT) / PAGE * PAGE + SHIFT;
    int64_t chunks = blocks_of(array, CHUNK), n = array / chunks / LINE * LINE;
    return (struct task){pattern, n, array, chunks, times * arrays * n * (int64_t)sizeof(float), 1, 0, NULL};
}

/* The tasks: arithmetic, products if there are any, then the patterns of each working set. */
static int make_tasks(struct task tasks[FIGURES], const struct thread_team *team, const struct calibration *c)
{
    enum { STEPS = 4096 };
    const struct peak *peak = team->peak;
    struct task *t = tasks;
    *t++ = (struct task){ARITHMETIC, STEPS, 0, 1, STEPS * peak->flops, 1, 0, peak->multiply_add};
    if (peak->products)
        *t++ = (struct task){ARITHMETIC, STEPS, 0, 1, STEPS * peak->product_flops, 1, 0, peak->products};
    for (int i = 0; i < c->points; i++) {
        int64_t bytes = c->sweep[i].working_set / team->threads;
        *t++ = over_slice(WRITE, 1, 1, bytes);
        *t++ = over_slice(READ, 1, 1, bytes);
        *t++ = over_slice(UPDATE, 1, 2, bytes);
        *t++ = over_slice(TRIAD, 3, 1, bytes);
    }
    return (int)(t - tasks);
}

/* All tasks once, between probes of the machine's state. */
struct round {
    double rate[FIGURES];
    struct turn turn[BURST];
};

/*
 * With as many threads as processors, each thread is bound to one while rates are measured, since on a busy
 * machine the scheduler may keep two threads on one processor for long. With fewer threads, the scheduler
 * knows better which processors share a core. Probes are taken unbound, like those around a program.
 */
static void take_round(struct round *r, const struct thread_team *team, struct task *tasks, int count,
                       double seconds)
{
    cpu_set_t granted;
    for (int i = 0; i < BURST; i++)
        r->turn[i].before = probe_take(team->peak, team->threads);
    bool bound = affinity_spread(team->threads, &granted);
    for (int i = 0; i < count; i++)
        r->rate[i] = best_rate(team, &tasks[i], seconds / count);
    if (bound)
        affinity_restore(team->threads, &granted);
    for (int i = 0; i < BURST; i++)
        r->turn[i].after = probe_take(team->peak, team->threads);
}

/* Finds rounds in the state that most were in, at most ROUNDS; returns how many. A single disturbed probe
 * does not count. A later round can make one state of two, so that more than ROUNDS are in it. */
static int find_settled(const struct round *rounds, int n, bool settled[ROUNDS_MOST])
{
    struct turn turns[ROUNDS_MOST * BURST];
    for (int i = 0; i < n * BURST; i++)
        turns[i] = rounds[i / BURST].turn[i % BURST];
    size_t all = (size_t)n * BURST;
    struct states states = states_find(turns, all);
    const struct turn *best = states_best_filled(&states, turns, all);
    int count = 0;
    for (int i = 0; i < n; i++) {
        int inside = 0;
        for (int k = 0; k < BURST && best; k++)
            inside += states_holds(&states, &turns[i * BURST + k], best);
        settled[i] = inside > BURST / 2 && count < ROUNDS;
        count += settled[i];
    }
    return count;
}

static void add_round(struct calibration *c, const struct round *r, bool products)
{
    const double *rate = r->rate;
    c->peak = fmax(c->peak, *rate++);
    if (products)
        c->bf16 = fmax(c->bf16, *rate++);
    for (int i = 0; i < c->points; i++, rate += PATTERNS) {
        struct bandwidth measured = {
            .write = rate[WRITE], .read = rate[READ], .update = rate[UPDATE], .triad = rate[TRIAD]};
        bandwidth_raise(&c->sweep[i], &measured);
    }
    memcpy(c->turn + c->turns, r->turn, sizeof r->turn);
    c->turns += BURST;
}

/* Takes rounds until enough were in one state. False if none was. */
static bool measure_all(const struct thread_team *team, struct calibration *c, double seconds)
{
    struct task tasks[FIGURES];
    struct round rounds[ROUNDS_MOST];
    bool settled[ROUNDS_MOST];
    int tasks_count = make_tasks(tasks, team, c), count = 0;
    /* each thread touches the pages of its slice first */
#pragma omp parallel num_threads(team->threads)
    team->peak->write(team->stride, team->memory + omp_get_thread_num() * team->stride, 0.7f);
    for (int n = 1; n <= ROUNDS_MOST && count < ROUNDS; n++) {
        take_round(&rounds[n - 1], team, tasks, tasks_count, seconds / ROUNDS);
        if (n >= ROUNDS)
            count = find_settled(rounds, n, settled);
    }
    for (int i = 0, added = 0; added < count; added += settled[i++])
        if (settled[i])
            add_round(c, &rounds[i], team->peak->products);
    return count > 0;
}

/* Working sets from inside the second level to beyond every cache, each twice the one before. */
static void choose_working_sets(struct calibration *c, const struct caches *caches)
{
    enum { FIRST = 128 << 10 /* of a thread */, DRAM_LEAST = 64 << 20, LARGE = 256 << 20, SHARE = 16 };
    enum { GRAIN = 16384 /* granularity of a thread's slice */ };
    int64_t beyond = max_of(caches->llc, caches->l2), unit = (int64_t)GRAIN * c->threads;
    int64_t last = min_of((beyond > LARGE ? 4 : 8) * beyond, c->memory / SHARE);
    int64_t first = caches->l2 ? caches->l2 / 4 : FIRST * (int64_t)c->threads;
    last = max_of(last, DRAM_LEAST);
    for (int64_t bytes = max_of(first, unit); c->points < SWEEP_MOST; bytes *= 2) {
        c->sweep[c->points++].working_set = bytes / unit * unit;
        if (bytes >= last)
            break;
    }
}

bool calibrate(const struct peak *peak, int threads, double seconds, struct calibration *c,
               struct message *error)
{
    struct caches caches = caches_find(NULL, threads);
    *c = calibration_conditions(peak, threads);
    choose_working_sets(c, &caches);
    int64_t bytes = c->sweep[c->points - 1].working_set;
    if (bytes > machine_memory_free() / 2)
        return complain(error, "calibration: needs %lld MiB, more than half of the free memory",
                        (long long)(bytes >> 20));
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return complain(error, "calibration: %lld MiB: %s", (long long)(bytes >> 20), strerror(errno));
    /* So that caches are the limit and not address translation. */
    madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
    struct thread_team team = {peak, threads, memory, bytes / threads / (int64_t)sizeof(float)};
    bool settled = measure_all(&team, c, seconds);
    munmap(memory, (size_t)bytes);
    levels_find(c->level, c->sweep, c->points, caches.l2, c->memory);
    return settled || complain(error,
                               "calibration: the machine was disturbed, or its state changed, "
                               "in every one of %d rounds",
                               ROUNDS_MOST);
}
