/*
 * The processes that run one program together, each with a part of its data: ranks, as MPI calls them. Their
 * exchange is a library of its own, opened on demand, since no other program should pay for loading MPI.
 *
 * Calls are collective: every rank makes the same ones in the same order, with the same counts. Those that
 * start return at once; `wait` ends them, and until then nothing else may touch their memory. Errors print a
 * message and end all ranks.
 */
#ifndef GTMARK_KERNELS_RANKS_H
#define GTMARK_KERNELS_RANKS_H

#include "kernels/mat.h"

enum reduction { REDUCE_SUM, REDUCE_MAX };

struct ranks {
    const char *mpi; /* name and version */
    int rank, count; /* this one, and how many */
    int hosts;       /* how many different machines they are on */
    /*
     * y becomes the sum of all ranks' y, of `count` elements, in any order of addition, or the largest of
     * each element; the same bits on all.
     */
    void (*reduce_start)(const struct ranks *r, enum reduction by, void *y, int64_t count, enum dtype dtype,
                         int64_t *request);
    /*
     * Rank p gets the bytes from_at[p] .. from_at[p + 1] - 1 of `from`; what it sends comes to
     * to_at[p] .. to_at[p + 1] - 1 of `to`. Both have ranks + 1 entries.
     */
    void (*exchange_start)(const struct ranks *r, void *to, const int64_t *to_at, const void *from,
                           const int64_t *from_at, int64_t *request);
    void (*wait)(const struct ranks *r, int64_t *request);
    /* Ends when all have called it. */
    void (*barrier)(const struct ranks *r);
    /* All get the bytes of rank 0. Ranks that wait for long sleep, so that rank 0 has the processors. */
    void (*broadcast)(const struct ranks *r, void *data, int64_t bytes);
    /* Rank 0 gets the bytes of all, at most INT_MAX each, one after another; `to` is used nowhere else. */
    void (*gather)(const struct ranks *r, void *to, const void *from, int64_t bytes);
    /*
     * The first `count` ranks, 1 at least; null on the others, which need not call it. Lives until the close
     * of those that were opened, and is not closed itself.
     */
    const struct ranks *(*first)(const struct ranks *r, int count);
    /* The last call of every rank. */
    void (*close)(const struct ranks *r);
};

/* Of heads that ranks divide among them, the first of rank p; all for p = ranks. */
static inline int rank_first_head(int heads, int p, int ranks)
{
    return (int)((int64_t)heads * p / ranks);
}

/*
 * The ranks that this process was started with, or null: without a message ("") if it was started alone, with
 * one if they cannot be had. Once in a process; those that it starts later are none.
 */
const struct ranks *ranks_open(char *error, size_t error_size);

/* The same, for tests: in messages of at most so many bytes, a multiple of 8. */
const struct ranks *ranks_open_pieces(int64_t piece, char *error, size_t error_size);

#endif
