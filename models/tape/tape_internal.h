/*
 * Internals shared by the files of the tape: storages, programs and the state of the reverse pass. Not for
 * models.
 */
#ifndef GTMARK_MODELS_TAPE_INTERNAL_H
#define GTMARK_MODELS_TAPE_INTERNAL_H

#include "models/tape/arena.h"
#include "models/tape/runs.h"
#include "models/tape/tape.h"

/* Memory that views refer to. Dynamic storages live from their first to their last use. */
struct storage {
    const char *name; /* of parameters and inputs, otherwise null */
    enum category category;
    enum dtype dtype;
    int64_t rows, cols, bytes;
    int64_t split;    /* of tape_stack: where the other rows begin; 0: all are one part */
    int64_t offset;   /* in the arena; set by the plan */
    const void *from; /* host memory to copy from, or null */
    bool converted;   /* the source is F32, the storage of another type */
    bool alias;       /* a view of all storages of its category */
    bool is_copy;     /* of parameters: what ops read, in BF16 */
    int32_t copy;     /* of a parameter in F32: the storage of its copy; 0: ops read the parameter */
    bool keep;        /* live until the end of the program */
    bool whole;       /* and from its beginning */
    bool needs_grad;  /* depends on a parameter */
    int producer;     /* the forward entry that writes it, for the reverse pass */
    int32_t again;    /* the storage that its segment writes when it is recomputed; 0: none */
    struct mat grad;  /* its gradient, as a whole; absent without a contribution */
    struct runs
        written; /* columns of its gradient that have been written; after them those of a second part */
};

struct program {
    struct entry *entries;
    int count, capacity;
};

/* Entries first .. end - 1 of the main program; end -1: not known yet. */
struct segment {
    int first, end;
    const struct segment *before; /* the segment before it, or null */
};

/* Where a captured program has an entry, or a part of one (streams.c). */
struct stream_place {
    int entry;
    enum run_part part;
    int stream;
    int after[DEVICE_STREAMS]; /* the place on each other stream that it waits for; -1: none */
    int known[DEVICE_STREAMS]; /* the last place on each that is over when it begins; -1: none */
    bool awaited;              /* one on another stream waits for it */
};

enum { KEPT_MOST = 8 };

struct tape {
    struct tape_config config;
    struct arena *metadata;   /* names, arguments and lists; not matrices */
    struct storage *storages; /* storages[0] is unused */
    int storage_count, storage_capacity;
    struct program init, main;
    const struct kernel *kernels[OPS][FORMS_MAX]; /* of each form, the last one recorded */
    const char *span;
    enum phase phase;
    int reversing;            /* the forward entry whose gradient is being recorded */
    struct segment *segments; /* the last one, or null */
    struct plan plan;
    int64_t (*live)[MEMORY_CATEGORIES]; /* bytes per entry of main */
    const struct stream_place *turns;   /* of main's entries, in order; null: one after the other */
    int turn_count;
    void *arena;
    struct mat schedule;        /* of AdamW; absent until it is asked for */
    double *start;              /* its initial value */
    void *graph;                /* the captured program; null: not captured */
    bool traced;                /* a profiler is attached: replays report ranges */
    struct mat kept[KEPT_MOST]; /* what tape_keep was called with, in order */
    int kept_count;
    bool leads;     /* other ranks follow (follow.c) */
    bool ready;     /* for a replay that has been announced to them */
    bool exchanges; /* it is one of exchange alone */
    struct cancel cancel;
};

/* Prints a message to stderr and aborts: the caller violated the contract of this header. */
_Noreturn void tape_contract(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A new storage, and a view of all of it. */
struct mat tape_storage(struct tape *t, enum category category, enum dtype dtype, int64_t rows, int64_t cols,
                        const char *name);

/*
 * A 1 x n view of all storages of a persistent category, all of which must have been declared; of the copies
 * of parameters, or without them.
 */
struct mat tape_whole(struct tape *t, enum category category, bool copies);

/* A declared matrix that init fills: uniform on [-bound, bound), by its name, or constant. */
struct mat tape_uniform(struct tape *t, enum category category, const char *name, enum dtype dtype,
                        struct row_range rows, int64_t cols, double bound);
struct mat tape_constant(struct tape *t, enum category category, const char *name, enum dtype dtype,
                         int64_t rows, int64_t cols, double value);

/* What is F32 on a tape in BF16: parameters in training, their gradients, and what is neither. */
static inline enum dtype tape_wide(const struct tape *t)
{
    return t->config.dtype == BF16 ? F32 : t->config.dtype;
}

/* The name, in the tape's metadata, with the names of the spans around it: "layer1.attention.q". */
const char *span_path(struct tape *t, const char *name);

/* Whether a gradient must flow through an op: some operand it reads depends on a parameter. */
bool depends_on_parameter(const struct tape *t, const struct op_info *info, const void *args);

/* Records an op into the given program. */
void *tape_record_in(struct tape *t, struct program *program, enum op op, const void *args);

/*
 * Records the entries of a segment again, before their gradients, and replaces their arguments in args by
 * those of the new entries. tape_recomputed is the view of a matrix as its segment recomputes it, or the
 * matrix itself.
 */
void tape_recompute(struct tape *t, const struct segment *segment, void **args);
struct mat tape_recomputed(const struct tape *t, struct mat m);

/* What rank 0 tells the ranks that follow. Does nothing if none does. */
enum order_kind {
    ORDER_INIT,
    ORDER_RUN,
    ORDER_EXCHANGE,
    ORDER_GATHER,
    ORDER_LOSS,
    ORDER_COMPARE,
    ORDER_SPREAD,
    ORDER_FREE
};
void order(const struct tape *t, enum order_kind kind);

/* Sets the turns of main's entries, by their operands; null if one stream has all of them. */
void streams_plan(struct tape *t);

/* Whether a part of an entry touches an operand. */
bool stream_touches(const struct tape *t, enum run_part part, const struct operand *o, struct mat m);

/* Frees what tape_layout allocated. */
void tape_release(struct tape *t);

/* The sum, saturated at BYTES_MOST. */
static inline int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? BYTES_MOST : sum;
}

static inline bool category_persistent(enum category c)
{
    return c < MEMORY_ACTIVATIONS;
}

/*
 * Applies an op's gradient rule: records what the gradients of its outputs contribute to those of its
 * operands.
 */
void rule_apply(struct tape *t, const struct entry *e);

/* Gives the op that was recorded last a rule of its own. */
void tape_rule(struct tape *t, void (*rule)(struct tape *t, const void *args));

/*
 * The rule of an op NAME with a backward op NAME_backward: of its operands, those that NAME has too are the
 * same; dX as an output is the gradient of X to be written, else that to be read.
 */
void rule_by_names(struct tape *t, enum op op, const void *args);

/*
 * For rules: the gradient of an output, to be read, and that of an operand, to be written (absent if not
 * needed).
 */
struct mat grad_from(struct tape *t, struct mat output);
struct mat grad_into(struct tape *t, struct mat operand);

static inline struct mat whole_view(const struct storage *s, int id)
{
    return (struct mat){.rows = s->rows, .cols = s->cols, .ld = s->cols, .dtype = s->dtype, .storage = id};
}

/* For rules: adds dy to the gradient of an operand of the same shape; shares dy's storage where possible. */
void grad_pass(struct tape *t, struct mat operand, struct mat dy);

#endif
