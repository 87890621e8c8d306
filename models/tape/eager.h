/*
 * Eager execution of ops, for computations whose length depends on the data: encodings and their
 * eigensolvers. Ops and kernels are those of the tape, and the cost of each call is accumulated.
 *
 *     struct eager e;
 *     eager_start(&e, backend, threads, cancel);
 *     struct mat y = eager_matrix(&e, F32, n, 16);
 *     run_op(&e, spmm, .y = y, .x = x, .adj = g, .self = 0);
 *     eager_release(&e, &y);
 *     eager_end(&e);
 *
 * On the host only. Contract violations are programming errors: a message and abort. When memory runs out, a
 * solver fails, or the work is cancelled, the first reason is stored in e.reason and all later ops do
 * nothing. Callers that run many ops check eager_good afterwards, before they read the results.
 */
#ifndef GTMARK_MODELS_EAGER_H
#define GTMARK_MODELS_EAGER_H

#include "models/tape/tape.h"

struct eager {
    const struct backend *backend;
    int threads;
    struct cancel cancel; /* checked before and after each op */
    struct cost cost;     /* of all ops so far, and of charged work */
    int64_t live, peak;   /* bytes allocated now, and their peak */
    void *scratch;        /* sized for the largest request so far */
    int64_t scratch_bytes;
    bool cancelled;   /* the first failure was a cancellation */
    char reason[160]; /* of the first failure; empty if none */
};

void eager_start(struct eager *e, const struct backend *backend, int threads, struct cancel cancel);

/* Frees the scratch buffer. Memory from eager_alloc remains the caller's. */
void eager_end(struct eager *e);

/*
 * Runs an op with the backend's default kernel for its dtype and charges its cost. No outputs are created:
 * every operand that is not optional must be given and have data.
 */
#define run_op(e, name, ...) eager_run(e, OP_##name, &(struct name##_args){__VA_ARGS__})
void eager_run(struct eager *e, enum op op, void *args);

/* Charges work that no op does, such as a LAPACK decomposition: nominal FLOPs and minimum bytes. */
void eager_charge(struct eager *e, int64_t flops, int64_t bytes);

bool eager_good(const struct eager *e);

/* The same, after checking for cancellation: for long work between two ops. */
bool eager_goes_on(struct eager *e);

/* Stores the reason unless there is one already. Returns false. */
bool eager_fail(struct eager *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Uninitialised memory, 64-byte aligned; null, which counts as a failure, when out of memory. */
void *eager_alloc(struct eager *e, int64_t bytes);
void eager_free(struct eager *e, void *memory, int64_t bytes);

/*
 * A contiguous matrix with memory of its own; without data when out of memory. eager_release leaves an absent
 * matrix.
 */
struct mat eager_matrix(struct eager *e, enum dtype dtype, int64_t rows, int64_t cols);
void eager_release(struct eager *e, struct mat *m);

#endif
