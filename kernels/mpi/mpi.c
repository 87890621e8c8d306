/*
 * Ranks by MPI (kernels/ranks.h), in a library of its own.
 *
 * Bytes go as MPI_BYTE, and in pieces, since counts are ints in MPI before version 4. Both sides cut at the
 * same places, and MPI delivers messages of two ranks in the order of sending, so that one tag is enough,
 * however many requests are in flight. Empty ranges send nothing.
 *
 * A sum has the same bits on all ranks only if the MPI adds in one order for all, which the standard does not
 * demand of MPI_Allreduce. Open MPI and MPICH do: each element is added up on one rank, or by recursive
 * doubling, where both partners add the same two numbers. tests/test_ranks.c checks it.
 *
 * A rank is one process and may have many threads, of which only the first calls MPI (MPI_THREAD_FUNNELED).
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/ranks.h"

/* The messages of one request; none: it is free. */
struct messages {
    MPI_Request *all;
    int count;
};

struct world {
    struct ranks ranks; /* the first member, so that a pointer to it is one to the world */
    MPI_Comm comm;
    int64_t piece;           /* the longest message, in bytes */
    struct world **first;    /* [count]: its first 1, 2, ... ranks, null until asked for */
    struct messages *in_use; /* [requests] */
    int requests;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
};

static struct world *world_of(const struct ranks *r)
{
    return (struct world *)r;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "gtmark: out of memory for MPI's requests\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void must(const struct world *w, int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "gtmark: rank %d of %d: %s: %s\n", w->ranks.rank, w->ranks.count, what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define MUST(function, ...) must(w, function(__VA_ARGS__), #function)

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The pieces of a message of so many bytes. */
static int64_t pieces(const struct world *w, int64_t bytes)
{
    return (bytes + w->piece - 1) / w->piece;
}

/* A request of at most this many messages, which the caller adds. */
static struct messages *request_new(struct world *w, int64_t most, int64_t *request)
{
    int i = 0;
    while (i < w->requests && w->in_use[i].all)
        i++;
    if (i == w->requests) {
        struct messages *longer = allocate((size_t)i * 2 + 8, sizeof *longer);
        if (i)
            memcpy(longer, w->in_use, (size_t)i * sizeof *longer);
        free(w->in_use);
        w->in_use = longer, w->requests = i * 2 + 8;
    }
    w->in_use[i] = (struct messages){.all = allocate((size_t)most, sizeof(MPI_Request))};
    *request = i;
    return &w->in_use[i];
}

static void reduce_start(const struct ranks *r, enum reduction by, void *y, int64_t count, enum dtype dtype,
                         int64_t *request)
{
    struct world *w = world_of(r);
    MPI_Datatype type = dtype == F32   ? MPI_FLOAT
                        : dtype == F64 ? MPI_DOUBLE
                        : dtype == I32 ? MPI_INT32_T
                                       : MPI_INT64_T;
    int64_t size = (int64_t)dtype_size(dtype), step = w->piece / size;
    struct messages *m = request_new(w, (count + step - 1) / step, request);
    for (int64_t at = 0; at < count; at += step)
        MUST(MPI_Iallreduce, MPI_IN_PLACE, (char *)y + at * size, (int)smaller(step, count - at), type,
             by == REDUCE_SUM ? MPI_SUM : MPI_MAX, w->comm, &m->all[m->count++]);
}

static void exchange_start(const struct ranks *r, void *to, const int64_t *to_at, const void *from,
                           const int64_t *from_at, int64_t *request)
{
    struct world *w = world_of(r);
    int64_t most = 0;
    for (int p = 0; p < r->count; p++)
        most += pieces(w, to_at[p + 1] - to_at[p]) + pieces(w, from_at[p + 1] - from_at[p]);
    struct messages *m = request_new(w, most, request);
    /* Each begins with the rank after it, so that not all send to the same one first. */
    for (int k = 1; k < r->count; k++) {
        int p = (r->rank + r->count - k) % r->count;
        for (int64_t at = to_at[p]; at < to_at[p + 1]; at += w->piece)
            MUST(MPI_Irecv, (char *)to + at, (int)smaller(w->piece, to_at[p + 1] - at), MPI_BYTE, p, 0,
                 w->comm, &m->all[m->count++]);
    }
    for (int k = 1; k < r->count; k++) {
        int p = (r->rank + k) % r->count;
        for (int64_t at = from_at[p]; at < from_at[p + 1]; at += w->piece)
            MUST(MPI_Isend, (const char *)from + at, (int)smaller(w->piece, from_at[p + 1] - at), MPI_BYTE, p,
                 0, w->comm, &m->all[m->count++]);
    }
    int64_t own = from_at[r->rank + 1] - from_at[r->rank];
    if (own)
        memcpy((char *)to + to_at[r->rank], (const char *)from + from_at[r->rank], (size_t)own);
}

static void wait_for(const struct ranks *r, int64_t *request)
{
    struct world *w = world_of(r);
    struct messages *m = &w->in_use[*request];
    /* Not MPI_Waitall: gcc takes MPICH's MPI_STATUSES_IGNORE for an array that is too short. */
    for (int i = 0; i < m->count; i++)
        MUST(MPI_Wait, &m->all[i], MPI_STATUS_IGNORE);
    free(m->all);
    *m = (struct messages){0};
    *request = -1;
}

static void barrier(const struct ranks *r)
{
    struct world *w = world_of(r);
    MUST(MPI_Barrier, w->comm);
}

/* Spins for 100 us, and then sleeps for longer and longer, up to 1 ms. */
static void wait_asleep(struct world *w, MPI_Request *message)
{
    int done = 0;
    double start = MPI_Wtime();
    struct timespec pause = {.tv_nsec = 10000};
    for (;;) {
        MUST(MPI_Test, message, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        if (MPI_Wtime() - start < 100e-6)
            continue;
        nanosleep(&pause, NULL);
        pause.tv_nsec = (long)smaller(pause.tv_nsec * 2, 1000000);
    }
}

static void broadcast(const struct ranks *r, void *data, int64_t bytes)
{
    struct world *w = world_of(r);
    for (int64_t at = 0; at < bytes; at += w->piece) {
        MPI_Request message;
        MUST(MPI_Ibcast, (char *)data + at, (int)smaller(w->piece, bytes - at), MPI_BYTE, 0, w->comm,
             &message);
        if (r->rank == 0)
            MUST(MPI_Wait, &message, MPI_STATUS_IGNORE);
        else
            wait_asleep(w, &message);
    }
}

static void gather(const struct ranks *r, void *to, const void *from, int64_t bytes)
{
    struct world *w = world_of(r);
    must(w, bytes > INT_MAX ? MPI_ERR_COUNT : MPI_SUCCESS, "gather");
    MUST(MPI_Gather, from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, 0, w->comm);
}

/* The ranks that can share memory are on one machine; the first of them counts it. */
static int hosts(const struct world *w)
{
    MPI_Comm near;
    int place, sum = 0;
    MUST(MPI_Comm_split_type, w->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MUST(MPI_Comm_rank, near, &place);
    MUST(MPI_Comm_free, &near);
    int *places = allocate((size_t)w->ranks.count, sizeof *places);
    gather(&w->ranks, places, &place, sizeof place);
    for (int p = 0; p < w->ranks.count; p++)
        sum += places[p] == 0;
    free(places);
    broadcast(&w->ranks, &sum, sizeof sum);
    return sum;
}

static const struct ranks *first(const struct ranks *r, int count);
static void close_all(const struct ranks *r);

static struct world *world_new(MPI_Comm comm, int64_t piece)
{
    struct world *w = allocate(1, sizeof *w);
    int length;
    w->comm = comm, w->piece = piece;
    w->ranks = (struct ranks){.mpi = w->library,
                              .reduce_start = reduce_start,
                              .exchange_start = exchange_start,
                              .wait = wait_for,
                              .barrier = barrier,
                              .broadcast = broadcast,
                              .gather = gather,
                              .first = first,
                              .close = close_all};
    MUST(MPI_Comm_rank, comm, &w->ranks.rank);
    MUST(MPI_Comm_size, comm, &w->ranks.count);
    MUST(MPI_Comm_set_errhandler, comm, MPI_ERRORS_RETURN);
    MUST(MPI_Get_library_version, w->library, &length);
    w->library[strcspn(w->library, ",\n")] = 0; /* what follows is how it was built */
    for (char *tab = w->library; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    w->first = allocate((size_t)w->ranks.count, sizeof *w->first);
    w->ranks.hosts = hosts(w);
    return w;
}

static const struct ranks *first(const struct ranks *r, int count)
{
    struct world *w = world_of(r);
    if (count == r->count || r->rank >= count)
        return count == r->count ? r : NULL;
    struct world **made = &w->first[count - 1];
    if (!*made) {
        MPI_Group all, some;
        MPI_Comm comm;
        int range[1][3] = {{0, count - 1, 1}};
        MUST(MPI_Comm_group, w->comm, &all);
        MUST(MPI_Group_range_incl, all, 1, range, &some);
        MUST(MPI_Comm_create_group, w->comm, some, 1, &comm); /* of which the others need not know */
        MUST(MPI_Group_free, &some);
        MUST(MPI_Group_free, &all);
        *made = world_new(comm, w->piece);
    }
    return &(*made)->ranks;
}

static void world_free(struct world *w)
{
    for (int i = 0; i < w->ranks.count; i++) {
        if (w->first[i])
            world_free(w->first[i]);
    }
    if (w->comm != MPI_COMM_WORLD)
        MUST(MPI_Comm_free, &w->comm);
    free(w->first);
    free(w->in_use);
    free(w);
}

static void close_all(const struct ranks *r)
{
    world_free(world_of(r));
    MPI_Finalize();
}

/* What the library is made from: programs open no other (kernels/ranks.c). */
const char gtmark_mpi_id[] = MPI_ID;

const struct ranks *gtmark_mpi_open(int64_t piece);
const struct ranks *gtmark_mpi_open(int64_t piece)
{
    int provided;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return NULL;
    return &world_new(MPI_COMM_WORLD, piece)->ranks;
}
