/*
 * Each turn takes every kind and size once: after a barrier rank 0 times a few in a row, more of the small
 * ones, whose times are close to the clock's resolution. Small ones have warm caches, as in a program they
 * may not.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/statistics.h"
#include "bench/base/clock.h"
#include "bench/base/interrupt.h"
#include "bench/machine/link.h"
#include "kernels/ranks.h"

enum { REPEATS = 64, REPEATED_BYTES = 1 << 20 }; /* in a row: at most so many, and so many bytes */

struct trial {
    const struct ranks *ranks;
    char *to, *from;
    int64_t *to_at, *from_at; /* as of exchange_start */
};

/* Null without memory: then no rank measures. */
static void *mapped(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory)
        memset(memory, 0, count * size); /* maps its pages */
    return memory;
}

static bool all_ready(const struct ranks *r, bool ready)
{
    int32_t waits = !ready;
    int64_t request;
    r->reduce_start(r, REDUCE_MAX, &waits, 1, I32, &request);
    r->wait(r, &request);
    return !waits;
}

/* Offsets of so many bytes for each other rank, or only for one (-1: all). */
static void set_offsets(const struct ranks *r, int64_t *at, int only, int64_t bytes)
{
    for (int p = 0; p < r->count; p++)
        at[p + 1] = at[p] + (p != r->rank && (only < 0 || p == only) ? bytes : 0);
}

static void exchange(const struct trial *t)
{
    int64_t request;
    t->ranks->exchange_start(t->ranks, t->to, t->to_at, t->from, t->from_at, &request);
    t->ranks->wait(t->ranks, &request);
}

/* From one of ranks 0 and 1 to the other; nothing on other ranks. */
static void send(const struct trial *t, int from, int64_t bytes)
{
    const struct ranks *r = t->ranks;
    set_offsets(r, t->from_at, 1 - from, r->rank == from ? bytes : 0);
    set_offsets(r, t->to_at, from, r->rank == 1 - from ? bytes : 0);
    exchange(t);
}

/* What all other ranks get, and a rank sends, of about so many bytes. */
static int64_t share_of(const struct ranks *r, int64_t bytes)
{
    return (bytes + r->count - 1) / r->count;
}

static void run_one(const struct trial *t, enum link_kind kind, int64_t bytes)
{
    const struct ranks *r = t->ranks;
    int64_t request;
    switch (kind) {
    case LINK_MESSAGE:
        send(t, 0, bytes);
        send(t, 1, bytes);
        break;
    case LINK_EXCHANGE:
        set_offsets(r, t->from_at, -1, share_of(r, bytes));
        set_offsets(r, t->to_at, -1, share_of(r, bytes));
        exchange(t);
        break;
    default:
        r->reduce_start(r, REDUCE_SUM, t->to, bytes / (int64_t)sizeof(float), F32, &request);
        r->wait(r, &request);
    }
}

static double time_one(const struct trial *t, enum link_kind kind, int64_t bytes)
{
    int repeats = bytes * REPEATS <= REPEATED_BYTES ? REPEATS
                  : bytes <= REPEATED_BYTES         ? (int)(REPEATED_BYTES / bytes)
                                                    : 1;
    t->ranks->barrier(t->ranks);
    double start = clock_now();
    for (int i = 0; i < repeats; i++)
        run_one(t, kind, bytes);
    return (clock_now() - start) / repeats / (kind == LINK_MESSAGE ? 2 : 1);
}

static struct link_point point_of(const struct ranks *r, enum link_kind kind, int64_t bytes, double *seconds,
                                  size_t n)
{
    size_t rank = median_interval_rank(n);
    sort_doubles(seconds, n);
    return (struct link_point){.bytes = kind == LINK_EXCHANGE ? (r->count - 1) * share_of(r, bytes) : bytes,
                               .seconds = quantile(seconds, n, 0.5),
                               .low = rank ? seconds[rank - 1] : NAN,
                               .high = rank ? seconds[n - rank] : NAN};
}

/* Rank 0 decides, for all. */
static bool goes_on(const struct ranks *r, double until)
{
    bool on = clock_now() < until && !interrupt_signal();
    r->broadcast(r, &on, sizeof on);
    return on;
}

/* The times of each kind and size, `turns` or one less of each. */
struct times {
    double seconds[LINK_KINDS][LINK_SIZES][LINK_TURNS];
    int n[LINK_KINDS][LINK_SIZES];
};

static void take_turns(const struct trial *t, struct times *all, double until)
{
    for (int turn = 0; turn < LINK_TURNS; turn++)
        for (int size = 0; size < LINK_SIZES; size++)
            for (enum link_kind kind = 0; kind < LINK_KINDS; kind++) {
                if ((turn > 0 || size > 0) && !goes_on(t->ranks, until))
                    return;
                all->seconds[kind][size][all->n[kind][size]++] = time_one(t, kind, link_size(size));
            }
}

static struct link summarise(const struct ranks *r, struct times *all)
{
    struct link l = {.ranks = r->count, .hosts = r->hosts};
    utc_now(l.time);
    if (getloadavg(&l.load, 1) != 1)
        l.load = 0;
    snprintf(l.mpi, sizeof l.mpi, "%s", r->mpi);
    for (enum link_kind kind = 0; kind < LINK_KINDS; kind++) {
        for (int i = 0; i < LINK_SIZES && all->n[kind][i] > 0; i++)
            l.point[kind][l.points[kind]++] =
                point_of(r, kind, link_size(i), all->seconds[kind][i], (size_t)all->n[kind][i]);
        l.fit[kind] = link_fit(kind, r->count, l.point[kind], l.points[kind]);
    }
    return l;
}

struct link link_measure(const struct ranks *r, double seconds)
{
    struct link l = {0};
    size_t most = (size_t)link_size(LINK_SIZES - 1) + (size_t)r->count, bounds = (size_t)r->count + 1;
    struct trial t = {r, mapped(most, 1), mapped(most, 1), mapped(bounds, sizeof *t.to_at),
                      mapped(bounds, sizeof *t.from_at)};
    struct times *all = mapped(1, sizeof *all);
    void *copy = mapped(most, 1); /* as large as what MPI takes for a sum */
    bool ready = all_ready(r, t.to && t.from && t.to_at && t.from_at && all && copy);
    free(copy);
    if (ready) {
        take_turns(&t, all, clock_now() + seconds);
        l = summarise(r, all);
    }
    free(all);
    free(t.to);
    free(t.from);
    free(t.to_at);
    free(t.from_at);
    return l;
}
