#include "tests/rank_threads.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING = 16 };

/* What a rank has begun: a reduction if count is above 0. */
struct pending {
    void *to;
    const void *from;
    int64_t to_at[RANKS_MOST + 1], from_at[RANKS_MOST + 1];
    int64_t count;
    enum dtype dtype;
    enum reduction by;
};

struct team {
    pthread_barrier_t barrier;
    struct seat *seats;
};

struct seat {
    struct ranks ranks; /* first: a struct ranks is its seat */
    struct team *team;
    struct pending pending[PENDING];
    int64_t begun;
    const void *shown; /* to the others, between two barriers */
    void (*body)(const struct ranks *r, void *context);
    void *context;
};

static struct seat *seat_of(const struct ranks *r)
{
    return (struct seat *)(uintptr_t)r;
}

static void meet(const struct ranks *r)
{
    pthread_barrier_wait(&seat_of(r)->team->barrier);
}

static const void *shown_by(const struct ranks *r, int rank)
{
    return seat_of(r)->team->seats[rank].shown;
}

/* Ends a reduction, also one that nobody waited for. */
static void drop(struct pending *p)
{
    if (p->count > 0)
        free((void *)(uintptr_t)p->from);
    *p = (struct pending){0};
}

static struct pending *begin(const struct ranks *r, int64_t *request)
{
    struct seat *s = seat_of(r);
    *request = s->begun++ % PENDING;
    drop(&s->pending[*request]);
    return &s->pending[*request];
}

static void reduce_start(const struct ranks *r, enum reduction by, void *y, int64_t count, enum dtype dtype,
                         int64_t *request)
{
    struct pending *p = begin(r, request);
    size_t bytes = (size_t)count * dtype_size(dtype);
    void *copy = malloc(bytes);
    if (!copy || dtype == BF16) /* which MPI does not have */
        abort();
    memcpy(copy, y, bytes);
    memset(y, 0xff, bytes);
    *p = (struct pending){.to = y, .from = copy, .count = count, .dtype = dtype, .by = by};
}

static void exchange_start(const struct ranks *r, void *to, const int64_t *to_at, const void *from,
                           const int64_t *from_at, int64_t *request)
{
    struct pending *p = begin(r, request);
    size_t bounds = (size_t)(r->count + 1) * sizeof *to_at;
    *p = (struct pending){.to = to, .from = from};
    memcpy(p->to_at, to_at, bounds);
    memcpy(p->from_at, from_at, bounds);
    if (to_at[r->count] > 0)
        memset(to, 0xff, (size_t)to_at[r->count]);
}

static void reduce(const struct ranks *r, const struct pending *own)
{
    struct mat y = {.data = own->to, .rows = 1, .cols = own->count, .ld = own->count, .dtype = own->dtype};
    for (int64_t k = 0; k < own->count; k++) {
        double total = own->by == REDUCE_SUM ? 0 : -INFINITY;
        for (int p = 0; p < r->count; p++) {
            struct mat x = y;
            x.data = (void *)(uintptr_t)((const struct pending *)shown_by(r, p))->from;
            total = own->by == REDUCE_SUM ? total + mat_get(x, 0, k) : fmax(total, mat_get(x, 0, k));
        }
        mat_set(y, 0, k, total);
    }
}

static void exchange(const struct ranks *r, const struct pending *own)
{
    for (int p = 0; p < r->count; p++) {
        const struct pending *other = shown_by(r, p);
        int64_t bytes = other->from_at[r->rank + 1] - other->from_at[r->rank];
        if (bytes != own->to_at[p + 1] - own->to_at[p])
            abort();
        if (bytes > 0)
            memcpy((char *)own->to + own->to_at[p], (const char *)other->from + other->from_at[r->rank],
                   (size_t)bytes);
    }
}

static void wait_for(const struct ranks *r, int64_t *request)
{
    struct pending *own = &seat_of(r)->pending[*request];
    seat_of(r)->shown = own;
    meet(r);
    (own->count > 0 ? reduce : exchange)(r, own);
    meet(r);
    drop(own);
}

static void broadcast(const struct ranks *r, void *data, int64_t bytes)
{
    seat_of(r)->shown = data;
    meet(r);
    if (r->rank > 0)
        memcpy(data, shown_by(r, 0), (size_t)bytes);
    meet(r);
}

static void gather(const struct ranks *r, void *to, const void *from, int64_t bytes)
{
    seat_of(r)->shown = from;
    meet(r);
    for (int p = 0; p < r->count && r->rank == 0; p++)
        memcpy((char *)to + p * bytes, shown_by(r, p), (size_t)bytes);
    meet(r);
}

static void *sit(void *seat)
{
    struct seat *s = seat;
    s->body(&s->ranks, s->context);
    return NULL;
}

void rank_threads_run(int count, void (*body)(const struct ranks *r, void *context), void *context)
{
    pthread_t thread[RANKS_MOST];
    struct seat *seats = calloc((size_t)count, sizeof *seats);
    struct team team = {.seats = seats};
    if (!seats || pthread_barrier_init(&team.barrier, NULL, (unsigned)count) != 0)
        abort();
    for (int p = 0; p < count; p++) {
        seats[p] = (struct seat){.ranks = {.mpi = "threads",
                                           .rank = p,
                                           .count = count,
                                           .hosts = 1,
                                           .reduce_start = reduce_start,
                                           .exchange_start = exchange_start,
                                           .wait = wait_for,
                                           .barrier = meet,
                                           .broadcast = broadcast,
                                           .gather = gather},
                                 .team = &team,
                                 .body = body,
                                 .context = context};
    }
    for (int p = 0; p < count; p++)
        if (pthread_create(&thread[p], NULL, sit, &seats[p]) != 0)
            abort();
    for (int p = 0; p < count; p++)
        pthread_join(thread[p], NULL);
    for (int p = 0; p < count; p++)
        for (int i = 0; i < PENDING; i++)
            drop(&seats[p].pending[i]);
    pthread_barrier_destroy(&team.barrier);
    free(seats);
}
