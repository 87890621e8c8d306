/*
 * The tape: a model is a function that records ops on it, once; everything else is a reading of it.
 *
 *     struct tape *t = tape_new(&config);
 *     struct mat loss = model(t, ...);          records; shapes are checked, missing outputs are made
 *     tape_backward(t, loss);                   records the backward pass (rules.c)
 *     tape_adamw(t, &adamw);                    records the optimizer
 *     tape_plan(t);                             lifetimes become offsets in one arena
 *     tape_layout(t);  tape_init(t);            memory, parameters and inputs
 *     tape_run(t);                              replays; again and again
 *
 * Recording needs no memory for matrices, so a tape that is never laid out is an estimator for any size.
 * Contract errors (shapes that do not fit, a missing rule) are programming errors: a message and abort.
 */
#ifndef GTMARK_MODELS_TAPE_H
#define GTMARK_MODELS_TAPE_H

#include "kernels/backend.h"

struct tape;

/* What memory is for. The first six live as long as the tape and are laid out densely, in order of
 * declaration. */
enum category {
    MEMORY_PARAMETERS,
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,
    MEMORY_GRAPH,
    MEMORY_ENCODINGS, /* of nodes: inputs, as the graph is */
    MEMORY_STATE,     /* running statistics */
    MEMORY_ACTIVATIONS,
    MEMORY_WORKSPACE,
    MEMORY_CATEGORIES
};

const char *category_name(enum category c);

enum phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASES };

const char *phase_name(enum phase p);

struct tape_config {
    const struct backend *backend;
    void *context;    /* of the backend's device; null: it has none, or the tape is only planned */
    enum dtype dtype; /* of parameters, inputs and all that follows from them */
    bool training;    /* write what the backward pass needs */
    bool no_reuse;    /* give every storage its own place in the arena */
    int threads;
    uint64_t seed;            /* of parameters and inputs, which are keyed by name */
    const char *variant[OPS]; /* kernel variant per op; null: the backend's default */
};

struct tape *tape_new(const struct tape_config *config);
void tape_free(struct tape *t);
const struct tape_config *tape_config(const struct tape *t);

/*
 * Records an op: `op(t, add, .a = x, .b = y)->y`. Binds shapes, makes the outputs that were left out (and
 * saved ones in training) and returns the completed arguments, which live as long as the tape.
 */
#define op(t, name, ...) ((struct name##_args *)tape_record(t, OP_##name, &(struct name##_args){__VA_ARGS__}))
void *tape_record(struct tape *t, enum op op, const void *args);

/* Spans nest and name what is recorded within: "layer1.attention.qkv". */
void span_enter(struct tape *t, const char *name);
void span_leave(struct tape *t);

/*
 * A parameter of the current span, uniform on +-1/sqrt(fan_in) or constant. Call it before the op that uses
 * it, not in its initialiser: C evaluates initialisers in any order.
 */
struct mat param(struct tape *t, const char *name, int64_t rows, int64_t cols, int64_t fan_in);
struct mat param_constant(struct tape *t, const char *name, int64_t rows, int64_t cols, double value);

/* What the program itself keeps from replay to replay, beside parameters; it starts at a value. */
struct mat state(struct tape *t, const char *name, int64_t rows, int64_t cols, double value);

/* Inputs, part of category GRAPH: uniform on [-1, 1) or among 0 .. limit - 1 under the name, or copied from
 * host memory by tape_init (`from` may be null where the tape is never laid out, and where there are no
 * rows). */
struct mat input_uniform(struct tape *t, const char *name, int64_t rows, int64_t cols);
struct mat input_index(struct tape *t, const char *name, int64_t rows, int64_t cols, int limit);
struct mat input_copy(struct tape *t, const char *name, enum dtype dtype, int64_t rows, int64_t cols,
                      const void *from);

/* Likewise inputs of category ENCODINGS: numbers, which become those of the tape's dtype, and the bounds of
 * `rows` ranges. */
struct mat input_encoding(struct tape *t, const char *name, int64_t rows, int64_t cols, const float *from);
struct mat input_encoding_bounds(struct tape *t, const char *name, int64_t rows, const int64_t *from);

/* A matrix that several ops fill, each some of its columns. */
struct mat tape_matrix(struct tape *t, int64_t rows, int64_t cols);

/* Keeps a matrix' storage intact to the end of the program: results that are read after a replay. */
void tape_keep(struct tape *t, struct mat m);

/*
 * Records the gradients of the scalar `loss` with respect to every parameter. The gradient of each parameter
 * is a storage of category GRADIENTS, in the order of the parameters. tape_gradient finds the gradient of a
 * matrix.
 */
void tape_backward(struct tape *t, struct mat loss);
struct mat tape_gradient(const struct tape *t, struct mat m);

/* AdamW over all parameters at once; schedule holds the step count and the learning rate. */
struct adamw {
    double lr, beta1, beta2, eps, decay;
};
void tape_adamw(struct tape *t, const struct adamw *c);

/* --- parameters */

int tape_parameter_count(const struct tape *t);
struct mat tape_parameter(const struct tape *t, int index, const char **name);
int64_t tape_parameter_elements(const struct tape *t);

/* Likewise what the program is given beside its parameters: features, targets, the offsets of graphs; after
 * them encodings. */
int tape_input_count(const struct tape *t);
struct mat tape_input(const struct tape *t, int index, const char **name);

/* --- the plan: see plan.c */

/* As many bytes, or more than 63 bits hold: a tape that is only planned may have any size. */
#define BYTES_MOST INT64_MAX

struct plan {
    int64_t arena;                      /* bytes; up to BYTES_MOST, as those below */
    int64_t peak;                       /* most bytes alive at once */
    int64_t at_peak[MEMORY_CATEGORIES]; /* by category, at that entry */
    int peak_entry; /* the first entry at which the peak is reached; -1 for an empty tape */
};

const struct plan *tape_plan(struct tape *t);

/* The plan made before. */
const struct plan *tape_planned(const struct tape *t);

/* Bytes alive while an entry runs. Needs a plan. */
int64_t tape_live_bytes(const struct tape *t, int entry);
int64_t tape_live_of(const struct tape *t, int entry, enum category c);

/* --- running */

/* Takes the arena from the system or the device and points every view into it; false if there is not enough
 * memory. */
bool tape_layout(struct tape *t);

/* A view of the tape with its data, which may be a device's; for matrices that were returned before the
 * layout. */
struct mat tape_view(const struct tape *t, struct mat m);

/*
 * The same where the host can read it, when all that was launched is done: on a device a copy, which *copy
 * points to, to be freed; else the view itself, and *copy is null.
 */
struct mat tape_read(const struct tape *t, struct mat m, void **copy);

/* The arena, for whoever measures it; null before the layout. */
void *tape_arena(const struct tape *t);

/* Fills parameters, inputs and optimizer state: the state before the first step. */
void tape_init(struct tape *t);

/* One replay of the program. On a device it is only launched; tape_wait and tape_read wait for it. */
void tape_run(struct tape *t);
void tape_wait(const struct tape *t);

/*
 * On a device: replays from now on launch the program as one graph. It must have run once: libraries load
 * their kernels at first use, which a capture does not allow.
 */
void tape_capture(struct tape *t);
bool tape_captured(const struct tape *t);

/* Is asked before each entry of a replay on the host. Returns what this takes the place of. */
struct cancel tape_cancel_when(struct tape *t, struct cancel h);

/* A replay entry by entry, calling mark(context, entry) after each: profiles and traces. */
void tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context);

/* --- entries and costs */

struct entry {
    enum op op;
    enum phase phase;
    const char *span;
    const struct kernel *kernel;
    void *args;
    struct mat scratch;
    int64_t flops, bytes, no_reuse; /* by op_flops, op_bytes and op_bytes_no_reuse; -1 beyond 63 bits */
};

int tape_entry_count(const struct tape *t);
const struct entry *tape_entry(const struct tape *t, int index);

struct cost {
    int64_t flops, bytes, no_reuse; /* -1 beyond 63 bits */
};

/*
 * Ops whose FLOPs depend on their data (kernels/ops.def: KNOWN) have a bound until they ran. After a run this
 * sets what they did; true if that changed any entry.
 */
bool tape_learn(struct tape *t);

struct cost entry_cost(const struct entry *e);
struct cost tape_cost(const struct tape *t, enum phase phase);
struct cost tape_total(const struct tape *t);
struct cost cost_add(struct cost a, struct cost b);

#endif
