/*
 * The tape: a model is a function that records ops on it once; shapes, costs, memory plan, execution and
 * checks are derived from the recording.
 *
 *     struct tape *t = tape_new(&config);
 *     struct mat loss = model(t, ...);          records; checks shapes, creates missing outputs
 *     tape_backward(t, loss);                   records the backward pass (rules.c)
 *     tape_adamw(t, &adamw);                    records the optimizer
 *     tape_plan(t);                             lifetimes become offsets in one arena
 *     tape_layout(t);  tape_init(t);            memory, parameters and inputs
 *     tape_run(t);                              replays, any number of times
 *
 * Recording allocates no matrices, so a tape that is never laid out estimates any size. Contract violations
 * (shapes that do not match, a missing rule) are programming errors: a message and abort.
 */
#ifndef GTMARK_MODELS_TAPE_H
#define GTMARK_MODELS_TAPE_H

#include "kernels/backend.h"

struct tape;

/* Memory categories. The first six live as long as the tape and are laid out in order of declaration. */
enum category {
    MEMORY_PARAMETERS,
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,
    MEMORY_GRAPH,
    MEMORY_ENCODINGS, /* of nodes: inputs, like the graph */
    MEMORY_STATE,     /* running statistics */
    MEMORY_ACTIVATIONS,
    MEMORY_WORKSPACE,
    MEMORY_CATEGORIES
};

const char *category_name(enum category c);

enum phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_RECOMPUTE, PHASES };

const char *phase_name(enum phase p);

/* What a rank has of a program that several run together; nothing is set for one alone. */
struct tape_part {
    const struct ranks *ranks;
    double share; /* of this rank's loss in that of all, the sum of the shares */
    /* On rank 0: which row of all ranks' outputs each row of one rank's is; null: the same. */
    const int32_t *number;
};

struct tape_config {
    const struct backend *backend;
    void *context;    /* of the backend's device; null without a device or for a tape that is only planned */
    enum dtype dtype; /* of parameters and inputs; ops compute in that of their operands. In training in BF16
                         parameters are F32, and ops read copies of them, in BF16 */
    int bits;         /* of factors that products know (backend_bits_kernel); 0: all */
    bool training;    /* save what the backward pass needs */
    bool no_reuse;    /* no two storages share memory */
    int threads;
    uint64_t seed; /* of parameters and inputs; combined with their names */
    struct tape_part part;
    const char *variant[OPS][FORMS_MAX]; /* kernel variant per form; null: the backend's default */
};

struct tape *tape_new(const struct tape_config *config);
void tape_free(struct tape *t);
const struct tape_config *tape_config(const struct tape *t);

/*
 * Records an op: `op(t, add, .a = x, .b = y)->y`. Infers shapes, creates the outputs that were left out (and
 * saved ones in training) and returns the completed arguments, which live as long as the tape.
 */
#define op(t, name, ...) ((struct name##_args *)tape_record(t, OP_##name, &(struct name##_args){__VA_ARGS__}))
void *tape_record(struct tape *t, enum op op, const void *args);

/* Spans nest and name the ops and parameters recorded within them: "layer1.attention.qkv". */
void span_enter(struct tape *t, const char *name);
void span_leave(struct tape *t);

/*
 * A parameter of the current span, uniform on +-1/sqrt(fan_in) or constant. Call it before the op that uses
 * it, not within its initialiser: C leaves the order of evaluation of initialisers unspecified.
 */
struct mat param(struct tape *t, const char *name, int64_t rows, int64_t cols, int64_t fan_in);
struct mat param_constant(struct tape *t, const char *name, int64_t rows, int64_t cols, double value);

/* State that persists between replays, apart from parameters; `value` is its initial value. */
struct mat state(struct tape *t, const char *name, int64_t rows, int64_t cols, double value);

/* Rows of a matrix that several ranks have together: `count`, those that are listed, or from `first` on. */
struct row_range {
    int64_t first, count;
    const int32_t *list; /* null: none */
};

static inline struct row_range all_rows(int64_t count)
{
    return (struct row_range){0, count, NULL};
}

/*
 * Inputs, of category GRAPH: uniform on [-1, 1) or on 0 .. limit - 1, keyed by name, or copied from host
 * memory by tape_init (`from` may be null if the tape is never laid out or there are no rows).
 */
struct mat input_uniform(struct tape *t, const char *name, struct row_range rows, int64_t cols);
struct mat input_index(struct tape *t, const char *name, struct row_range rows, int64_t cols, int limit);
struct mat input_copy(struct tape *t, const char *name, enum dtype dtype, int64_t rows, int64_t cols,
                      const void *from);

/* The same category: the projection of linear attention (op orthogonal), a random constant of the layer. */
struct mat input_orthogonal(struct tape *t, const char *name, int64_t rows, int64_t cols,
                            enum features features);

/* Floats of the caller, in the tape's type; they must live until tape_init. */
struct mat input_reals(struct tape *t, const char *name, int64_t rows, int64_t cols, const float *from);

/*
 * Rows of several tables that are stacked in one: column n is uniform on the rows of table n, which has
 * sizes[n] of them and follows table n - 1. I64, of category GRAPH.
 */
struct mat input_types(struct tape *t, const char *name, struct row_range rows, const int *sizes, int tables);

/* The same values on the host, in the tape's metadata. */
const int64_t *drawn_types(struct tape *t, const char *name, struct row_range rows, const int *sizes,
                           int tables);

/*
 * The same of category ENCODINGS: values, converted to the tape's dtype, the bounds of `rows` ranges, and
 * indices.
 */
struct mat input_encoding(struct tape *t, const char *name, int64_t rows, int64_t cols, const float *from);
struct mat input_encoding_bounds(struct tape *t, const char *name, int64_t rows, const int64_t *from);
struct mat input_encoding_index(struct tape *t, const char *name, int64_t rows, int64_t cols,
                                const int64_t *from);

/*
 * A matrix that several ops fill, each some of the columns; in `stack` also the first rows or the rest, where
 * either may be none. Only such a matrix may be read by these rows (mat_rows), or as a whole.
 */
struct mat tape_matrix(struct tape *t, int64_t rows, int64_t cols);
struct mat tape_stack(struct tape *t, int64_t first, int64_t rest, int64_t cols);

/* Keeps a matrix' storage intact until the end of the program, for results that are read after a replay. */
void tape_keep(struct tape *t, struct mat m);

/*
 * Between these two calls lies a segment, whose activations tape_backward computes again right before it
 * needs them, in entries of PHASE_RECOMPUTE. So only what is read outside of the segment stays in memory in
 * between. Results are the same, bit by bit, and state is updated once. Segments do not nest; without
 * tape_backward they have no effect.
 */
void tape_segment_begin(struct tape *t);
void tape_segment_end(struct tape *t);

/*
 * Records the gradients of the scalar `loss` with respect to every parameter. Each is a storage of category
 * GRADIENTS, in the order of the parameters. tape_gradient returns the gradient of a matrix.
 */
void tape_backward(struct tape *t, struct mat loss);
struct mat tape_gradient(const struct tape *t, struct mat m);

/* AdamW over all parameters at once; schedule holds the step count and the learning rate. */
struct adamw {
    double lr, beta1, beta2, eps, decay;
};
void tape_adamw(struct tape *t, const struct adamw *c);

/*
 * The schedule [t, lr] of AdamW, for ops that differ from step to step: t counts the steps before this one
 * until AdamW advances it, at the end. Zero, and never advanced, on a tape without AdamW.
 */
struct mat tape_schedule(struct tape *t);

/* The random stream of a name in the current span. */
uint64_t tape_key(struct tape *t, const char *name);

/* --- parameters */

int tape_parameter_count(const struct tape *t);
struct mat tape_parameter(const struct tape *t, int index, const char **name);
int64_t tape_parameter_elements(const struct tape *t);

/* The program's inputs: features, targets and the offsets of graphs, followed by encodings. */
int tape_input_count(const struct tape *t);
struct mat tape_input(const struct tape *t, int index, const char **name);

/* --- the plan: see plan.c */

/* Saturation value for bytes beyond 63 bits: a tape that is only planned may have any size. */
#define BYTES_MOST INT64_MAX

struct plan {
    int64_t arena;                      /* bytes; this and those below saturate at BYTES_MOST */
    int64_t peak;                       /* largest number of live bytes */
    int64_t operands;                   /* the same without workspace */
    int64_t average;                    /* mean of the live bytes over the entries, each counted once */
    int64_t at_peak[MEMORY_CATEGORIES]; /* by category, at that entry */
    int peak_entry;                     /* the first entry with the peak; -1 for an empty tape */
};

const struct plan *tape_plan(struct tape *t);

/* The result of the last tape_plan. */
const struct plan *tape_planned(const struct tape *t);

/* Live bytes while an entry runs. Requires a plan. */
int64_t tape_live_bytes(const struct tape *t, int entry);
int64_t tape_live_of(const struct tape *t, int entry, enum category c);

/* --- running */

/* Loads the code of the program's kernels on a device, where it takes memory: before the layout. */
void tape_load(const struct tape *t);

/* Whether its device or a kernel of others has a fault, after which nothing was run and no result or time
 * means anything. */
bool tape_failed(const struct tape *t);

/*
 * Allocates the arena on the host or device and points every view into it. Returns false when out of memory,
 * or after a fault.
 */
bool tape_layout(struct tape *t);

/*
 * A view of the tape with its data, which may be in device memory; for matrices returned before the layout.
 */
struct mat tape_view(const struct tape *t, struct mat m);

/*
 * The same, readable on the host, after waiting for all launched work: a copy for a device, which *copy
 * points to and the caller frees; otherwise the view itself, with *copy null.
 */
struct mat tape_read(const struct tape *t, struct mat m, void **copy);

/* Writes the values of a matrix of reals on the host, in m's type; m has contiguous rows. */
void tape_write(const struct tape *t, struct mat m, struct mat from);

/* The arena, e.g. to measure its resident size; null before the layout. */
void *tape_arena(const struct tape *t);

/* Initialises parameters, inputs and optimizer state to the state before the first step. */
void tape_init(struct tape *t);

/*
 * --- several ranks
 *
 * All record the program with the same ops, each over its part of the batch, and lay it out. Then rank 0
 * leads: what it does with its tape, the others do with theirs in tape_follow, until it frees it.
 */
void tape_lead(struct tape *t);
void tape_follow(struct tape *t);

/* On rank 0, that leads: the rows of all ranks of a matrix that is kept, as one rank has them, in host memory
 * that the caller frees. */
struct mat tape_gather(const struct tape *t, struct mat m);

/* As tape_write, but of state, and on all ranks: on rank 0, that leads, or the only one. */
void tape_spread(const struct tape *t, struct mat m, struct mat from);

/* On rank 0, that leads: the loss of all ranks. */
double tape_gather_loss(const struct tape *t, struct mat loss);

/* The same: whether all ranks have the same parameters, bit by bit. */
bool tape_replicas_agree(const struct tape *t);

/*
 * With several ranks, before a replay that begins by a clock: the others are told, and all are ready. A
 * replay that none comes before begins with one.
 */
void tape_ready(struct tape *t);

/* The same before a replay of nothing but what the ranks exchange. */
void tape_ready_exchange(struct tape *t);

/* One replay of the program. On a device it is only launched; tape_wait and tape_read wait for completion. */
void tape_run(struct tape *t);
void tape_wait(const struct tape *t);

/*
 * On a device: further replays launch the program as one graph. It must have run once before, because
 * libraries load their kernels on first use, which is not allowed during capture.
 */
void tape_capture(struct tape *t);
bool tape_captured(const struct tape *t);

/* Sets the callback that is checked before each entry of a replay on the host. Returns the previous one. */
struct cancel tape_cancel_when(struct tape *t, struct cancel h);

/* Whether it asks to stop; never on a device, whose replays cannot stop. */
bool tape_is_cancelled(const struct tape *t);

/* A replay that calls mark(context, entry) after each entry, for profiles and traces. */
void tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context);

/* --- entries and costs */

struct entry {
    enum op op;
    const char *form; /* the op's name with its options */
    enum phase phase;
    const char *span;
    const struct kernel *kernel;
    void *args;
    int64_t dims[DIMS]; /* by op_bind */
    struct mat scratch;
    void (*rule)(struct tape *t, const void *args); /* of its gradient; null: that of the op (rules.c) */
    bool prepared;       /* the scratch is that of an earlier entry, which prepares it (kernels/backend.h) */
    int64_t flops, exps; /* by op_flops and op_exps; -1 beyond 63 bits; 0 of what fills inputs */
    int64_t bytes, written, updated, no_reuse; /* by op_traffic, likewise */
    int64_t sent;                              /* by op_sent */
};

int tape_entry_count(const struct tape *t);
const struct entry *tape_entry(const struct tape *t, int index);

struct cost {
    int64_t flops, bytes, no_reuse; /* -1 beyond 63 bits */
    int64_t exps;                   /* likewise */
    int64_t tf32, bf16;             /* of the FLOPs, those of products with factors of so many bits */
    int64_t written;                /* of the bytes */
    int64_t updated;                /* of the written, those read as well */
    int64_t sent;                   /* to other ranks, beside the bytes */
};

/*
 * Ops whose FLOPs depend on their data (kernels/ops.def: KNOWN) have an upper bound until they have run.
 * Afterwards this sets the FLOPs they did; true if that changed any entry.
 */
bool tape_learn(struct tape *t);

struct cost entry_cost(const struct entry *e);
struct cost tape_cost(const struct tape *t, enum phase phase);
struct cost tape_total(const struct tape *t);
struct cost cost_add(struct cost a, struct cost b);

#endif
