/*
 * Running ops at once, where how many there are depends on the data: encodings and their eigen-solvers. The
 * ops and kernels are those of the tape, and what each call costs is added up.
 *
 *     struct eager e;
 *     eager_start(&e, backend, threads, cancel);
 *     struct mat y = eager_matrix(&e, F32, n, 16);
 *     run_op(&e, spmm, .y = y, .x = x, .adj = g, .self = 0);
 *     eager_release(&e, &y);
 *     eager_end(&e);
 *
 * On the host only. Contract errors are programming errors: a message and abort. Where the system refuses
 * memory, a solver says why it failed, or the work is cancelled, the first reason stands in e.reason, and
 * from then on ops do nothing: whoever runs many of them asks eager_good once they are run, before it reads
 * what they wrote.
 */
#ifndef GTMARK_MODELS_EAGER_H
#define GTMARK_MODELS_EAGER_H

#include "models/tape/tape.h"

struct eager {
    const struct backend *backend;
    int threads;
    struct cancel cancel; /* asked before each op and after it */
    struct cost cost;     /* of all ops so far, and of what was charged */
    int64_t live, peak;   /* bytes taken now, and at most */
    void *scratch;        /* of the op that needed most */
    int64_t scratch_bytes;
    bool cancelled;   /* which is the first failure then */
    char reason[160]; /* of the first failure; empty while there is none */
};

void eager_start(struct eager *e, const struct backend *backend, int threads, struct cancel cancel);

/* Gives the scratch back. What was taken stays the caller's. */
void eager_end(struct eager *e);

/*
 * Runs an op on complete operands, by the backend's default kernel for their dtype, and charges it. No output
 * is made: every operand that is not optional must be there, and laid out.
 */
#define run_op(e, name, ...) eager_run(e, OP_##name, &(struct name##_args){__VA_ARGS__})
void eager_run(struct eager *e, enum op op, void *args);

/* Charges work that no op does, such as a decomposition by LAPACK: nominal FLOPs and minimum bytes. */
void eager_charge(struct eager *e, int64_t flops, int64_t bytes);

bool eager_good(const struct eager *e);

/* The same, once it was asked whether the work is cancelled: for what takes long between two ops. */
bool eager_goes_on(struct eager *e);

/* Remembers why, unless something failed before. Returns false. */
bool eager_fail(struct eager *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory, 64-byte aligned and not set to anything; null where the system refuses, which is a failure. */
void *eager_alloc(struct eager *e, int64_t bytes);
void eager_free(struct eager *e, void *memory, int64_t bytes);

/* A matrix of its own memory, rows one after the other; without data where that is refused. eager_release
 * leaves an absent matrix. */
struct mat eager_matrix(struct eager *e, enum dtype dtype, int64_t rows, int64_t cols);
void eager_release(struct eager *e, struct mat *m);

#endif
