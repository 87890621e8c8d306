/* What the files of the tape share: storages, programs and the state of the reverse. Not for models. */
#ifndef GTMARK_MODELS_TAPE_INTERNAL_H
#define GTMARK_MODELS_TAPE_INTERNAL_H

#include "models/tape/arena.h"
#include "models/tape/runs.h"
#include "models/tape/tape.h"

/* A piece of memory that views look into. Dynamic ones live from their first to their last use. */
struct storage {
    const char *name; /* of parameters and inputs, else null */
    enum category category;
    enum dtype dtype;
    int64_t rows, cols, bytes;
    int64_t offset;      /* in the arena; set by the plan */
    const void *from;    /* host memory to copy from, or null */
    bool widened;        /* what is there is F32, and the storage F64 */
    bool alias;          /* stands for all of its category */
    bool keep;           /* alive to the end of the program */
    bool needs_grad;     /* depends on a parameter */
    int producer;        /* the forward entry that writes it; for the reverse */
    struct mat grad;     /* its gradient, as a whole; absent until something contributes to it */
    struct runs written; /* columns of its gradient that hold something yet */
};

struct program {
    struct entry *entries;
    int count, capacity;
};

struct tape {
    struct tape_config config;
    struct arena *metadata;
    struct storage *storages; /* storages[0] is none */
    int storage_count, storage_capacity;
    struct program init, main;
    const char *span;
    enum phase phase;
    int reversing; /* the forward entry whose gradient is being recorded */
    struct plan plan;
    int64_t (*live)[MEMORY_CATEGORIES]; /* bytes per entry of main */
    void *arena;
    void *graph; /* the program as the device's graph; null: it was not captured */
    bool traced; /* a tool listens: replays tell it their ranges */
    struct cancel cancel;
};

/* A message to stderr and abort: the caller broke the contract of this header. */
_Noreturn void tape_contract(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A new storage and a view of all of it. */
struct mat tape_storage(struct tape *t, enum category category, enum dtype dtype, int64_t rows, int64_t cols,
                        const char *name);

/* A 1 x n view of all storages of a persistent category, which must all be declared by now. */
struct mat tape_whole(struct tape *t, enum category category);

/* Whether a gradient must flow through an op: some operand that it reads depends on a parameter. */
bool depends_on_parameter(const struct tape *t, const struct op_info *info, const void *args);

/* Records into a given program. */
void *tape_record_in(struct tape *t, struct program *program, enum op op, const void *args);

/* Gives back what the layout took. */
void tape_release(struct tape *t);

/* Bytes of memory, or of more than 63 bits hold: then these stay what they are, BYTES_MOST. */
static inline int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? BYTES_MOST : sum;
}

static inline bool category_persistent(enum category c)
{
    return c < MEMORY_ACTIVATIONS;
}

/* The gradient rule of an op: records what its outputs' gradients add to those of its operands. */
void rule_apply(struct tape *t, enum op op, const void *args);

/* For rules: the gradient to read of an output, and the one to write of an operand (absent if nobody wants
 * it). */
struct mat grad_from(struct tape *t, struct mat output);
struct mat grad_into(struct tape *t, struct mat operand);

/* For rules: adds dy to the gradient of an operand of the same shape; shares dy's storage where it can. */
void grad_pass(struct tape *t, struct mat operand, struct mat dy);

#endif
