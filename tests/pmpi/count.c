/*
 * Counts the payload that a rank sends to other ranks, by MPI's profiling interface (MPI 3.1, chapter 14):
 * preloaded (LD_PRELOAD), it stands between any program and its MPI, and knows nothing of either.
 *
 * At MPI_Finalize each rank writes to the file PMPI_BYTES.RANK, for each function that it called, the name,
 * the calls and the bytes. With n bytes from one rank and P ranks, a rank counts, of what goes to others:
 *
 *     point-to-point        n
 *     all-gather            n (P - 1)
 *     all-to-all            the parts for others
 *     reductions            n, the payload, once
 *     broadcast             n (P - 1) at the root, 0 elsewhere
 *     gather                n, but 0 at the root
 *
 * A function that is not here is not counted.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum function {
    SEND,
    ISEND,
    ALLTOALL,
    ALLTOALLV,
    IALLTOALLV,
    ALLGATHER,
    IALLGATHER,
    ALLGATHERV,
    REDUCE_SCATTER_BLOCK,
    REDUCE,
    ALLREDUCE,
    IALLREDUCE,
    BCAST,
    IBCAST,
    GATHER,
    FUNCTIONS
};

static const char *const names[FUNCTIONS] = {"MPI_Send",       "MPI_Isend",      "MPI_Alltoall",
                                             "MPI_Alltoallv",  "MPI_Ialltoallv", "MPI_Allgather",
                                             "MPI_Iallgather", "MPI_Allgatherv", "MPI_Reduce_scatter_block",
                                             "MPI_Reduce",     "MPI_Allreduce",  "MPI_Iallreduce",
                                             "MPI_Bcast",      "MPI_Ibcast",     "MPI_Gather"};

static struct {
    int64_t calls, bytes;
} counted[FUNCTIONS];

static int64_t size_of(int64_t count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return count * size;
}

static int rank_in(MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int ranks_of(MPI_Comm comm)
{
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

static void add(enum function f, int64_t bytes)
{
    counted[f].calls++;
    counted[f].bytes += bytes;
}

static int64_t to_other(int64_t bytes, int to, MPI_Comm comm)
{
    return to == MPI_PROC_NULL || to == rank_in(comm) ? 0 : bytes;
}

static int64_t to_others(int64_t bytes, MPI_Comm comm)
{
    return bytes * (ranks_of(comm) - 1);
}

static int64_t parts(const int *counts, MPI_Datatype type, MPI_Comm comm)
{
    int64_t sum = 0;
    for (int p = 0; p < ranks_of(comm); p++)
        sum += p == rank_in(comm) ? 0 : counts[p];
    return size_of(sum, type);
}

int MPI_Send(const void *from, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
{
    add(SEND, to_other(size_of(n, t), to, c));
    return PMPI_Send(from, n, t, to, tag, c);
}

int MPI_Isend(const void *from, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r)
{
    add(ISEND, to_other(size_of(n, t), to, c));
    return PMPI_Isend(from, n, t, to, tag, c, r);
}

/* In place, what is sent is described by what is received. */

int MPI_Alltoall(const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, MPI_Comm c)
{
    add(ALLTOALL, to_others(from == MPI_IN_PLACE ? size_of(m, u) : size_of(n, t), c));
    return PMPI_Alltoall(from, n, t, to, m, u, c);
}

int MPI_Alltoallv(const void *from, const int *n, const int *at, MPI_Datatype t, void *to, const int *m,
                  const int *to_at, MPI_Datatype u, MPI_Comm c)
{
    add(ALLTOALLV, from == MPI_IN_PLACE ? parts(m, u, c) : parts(n, t, c));
    return PMPI_Alltoallv(from, n, at, t, to, m, to_at, u, c);
}

int MPI_Ialltoallv(const void *from, const int *n, const int *at, MPI_Datatype t, void *to, const int *m,
                   const int *to_at, MPI_Datatype u, MPI_Comm c, MPI_Request *r)
{
    add(IALLTOALLV, from == MPI_IN_PLACE ? parts(m, u, c) : parts(n, t, c));
    return PMPI_Ialltoallv(from, n, at, t, to, m, to_at, u, c, r);
}

int MPI_Allgather(const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, MPI_Comm c)
{
    add(ALLGATHER, to_others(from == MPI_IN_PLACE ? size_of(m, u) : size_of(n, t), c));
    return PMPI_Allgather(from, n, t, to, m, u, c);
}

int MPI_Iallgather(const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, MPI_Comm c,
                   MPI_Request *r)
{
    add(IALLGATHER, to_others(from == MPI_IN_PLACE ? size_of(m, u) : size_of(n, t), c));
    return PMPI_Iallgather(from, n, t, to, m, u, c, r);
}

int MPI_Allgatherv(const void *from, int n, MPI_Datatype t, void *to, const int *m, const int *at,
                   MPI_Datatype u, MPI_Comm c)
{
    add(ALLGATHERV, to_others(from == MPI_IN_PLACE ? size_of(m[rank_in(c)], u) : size_of(n, t), c));
    return PMPI_Allgatherv(from, n, t, to, m, at, u, c);
}

int MPI_Reduce_scatter_block(const void *from, void *to, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    add(REDUCE_SCATTER_BLOCK, size_of(n, t) * ranks_of(c));
    return PMPI_Reduce_scatter_block(from, to, n, t, o, c);
}

int MPI_Reduce(const void *from, void *to, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c)
{
    add(REDUCE, size_of(n, t));
    return PMPI_Reduce(from, to, n, t, o, root, c);
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    add(ALLREDUCE, size_of(n, t));
    return PMPI_Allreduce(from, to, n, t, o, c);
}

int MPI_Iallreduce(const void *from, void *to, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *r)
{
    add(IALLREDUCE, size_of(n, t));
    return PMPI_Iallreduce(from, to, n, t, o, c, r);
}

int MPI_Bcast(void *data, int n, MPI_Datatype t, int root, MPI_Comm c)
{
    add(BCAST, rank_in(c) == root ? to_others(size_of(n, t), c) : 0);
    return PMPI_Bcast(data, n, t, root, c);
}

int MPI_Ibcast(void *data, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *r)
{
    add(IBCAST, rank_in(c) == root ? to_others(size_of(n, t), c) : 0);
    return PMPI_Ibcast(data, n, t, root, c, r);
}

int MPI_Gather(const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, int root, MPI_Comm c)
{
    add(GATHER, rank_in(c) == root ? 0 : size_of(n, t));
    return PMPI_Gather(from, n, t, to, m, u, root, c);
}

int MPI_Finalize(void)
{
    char path[4096];
    const char *prefix = getenv("PMPI_BYTES");
    snprintf(path, sizeof path, "%s.%d", prefix ? prefix : "pmpi", rank_in(MPI_COMM_WORLD));
    FILE *file = fopen(path, "w");
    for (int f = 0; file && f < FUNCTIONS; f++) {
        if (counted[f].calls)
            fprintf(file, "%s %lld %lld\n", names[f], (long long)counted[f].calls,
                    (long long)counted[f].bytes);
    }
    if (!file || fclose(file)) {
        perror(path);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return PMPI_Finalize();
}
