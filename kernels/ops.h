/*
 * The ops as data: argument structs, metadata, shape binding and costs, generated from ops.def.
 *
 * An op is pure: its outputs depend only on its operands and attributes. struct <op>_args holds a call
 * header, the operands (struct mat, struct offsets) and the attributes, in the order of ops.def. A kernel
 * takes a pointer to it.
 */
#ifndef GTMARK_KERNELS_OPS_H
#define GTMARK_KERNELS_OPS_H

#include "kernels/mat.h"

enum op {
#define OP(name, doc) OP_##name,
#include "kernels/ops_list.h"
    OPS
};

/* Exact activation functions; a variant never replaces one by another. */
enum activation { ACT_NONE, ACT_GELU, ACT_GELU_TANH, ACT_RELU, ACT_KINDS };

const char *activation_name(int act);

/*
 * Asked in the course of long work whether it ends there; then it leaves nothing of use. Once it said so, it
 * does not change its mind, and several threads may ask at once. Null: never.
 */
struct cancel {
    bool (*asked)(const void *context);
    const void *context;
};

static inline bool is_cancelled(struct cancel h)
{
    return h.asked && h.asked(h.context);
}

/*
 * What every call carries: scratch memory (as many bytes as the kernel's row declared), the number of
 * threads, for spot checks by ref the rows [row0, row1) of each output to compute, where row1 = 0 means all
 * rows, and what kernels ask, between blocks of their work, that may run for minutes.
 */
struct call {
    void *scratch;
    void *context; /* of the device: stream and library handles; null on the host */
    int threads;
    int64_t row0, row1;
    struct cancel cancel;
};

#define OP(name, doc)                                                                                        \
    struct name##_args {                                                                                     \
        struct call call;
#define OUT(name, rows, cols, ...)           struct mat name;
#define GRAD(name, rows, cols, ...)          struct mat name;
#define SAVE(name, rows, cols, ...)          struct mat name;
#define SAVE_IF(name, rows, cols, attr, ...) struct mat name;
#define INOUT(name, rows, cols, ...)         struct mat name;
#define IN(name, rows, cols, ...)            struct mat name;
#define GATHER(name, rows, cols, ...)        struct mat name;
#define OPT(name, rows, cols, ...)           struct mat name;
#define OFFSETS(name, size)                  struct offsets name;
#define EDGES(name)                          struct edges name;
#define EDGES_OUT(name)                      struct edges name;
#define EDGES_BOTH(name)                     struct edges name;
#define SIZE(name, size)                     int name;
#define ATTR(type, name, ...)                type name;
#define END(name, formula)                                                                                   \
    }                                                                                                        \
    ;
#include "kernels/ops_list.h"

/* Room for the arguments of any op. */
union any_args {
    struct call call;
#define OP(name, doc) struct name##_args name;
#include "kernels/ops_list.h"
};

enum role {
    ROLE_OUT,
    ROLE_GRAD,
    ROLE_SAVE,
    ROLE_INOUT,
    ROLE_IN,
    ROLE_OPT,
    ROLE_OFFSETS,
    ROLE_ROW_PTR, /* of edges: one row more than its size */
    ROLE_INDEX,   /* of edges: may have no rows */
    ROLE_SIZE,
    ROLE_ATTR,
};

/* Symbolic sizes; DIM_1 and DIM_2 are constants. */
enum dim { DIM_1, DIM_2, DIM_N, DIM_M, DIM_D, DIM_H, DIM_B, DIM_E, DIM_P, DIMS };

const char *dim_name(enum dim d);

/* What the entries of a matrix must be, or what an attribute is. */
enum values {
    VALUES_ANY,
    VALUES_POSITIVE,
    VALUES_INDEX,      /* whole numbers from 0 to `limit` - 1 */
    VALUES_SCHEDULE,   /* [step, learning rate], the step at least 1 */
    VALUES_ACTIVATION, /* enum activation */
};

struct operand {
    const char *name;
    enum role role;
    size_t at;           /* offset in the argument struct */
    enum dim rows, cols; /* a matrix' symbolic shape; of OFFSETS and SIZE, rows is the size bound */
    enum dtype dtype;    /* where fixed, else DTYPE_NONE: the dtype shared by the op's matrices */
    size_t saved_if;     /* offset of the int attribute that a SAVE_IF depends on, else 0 */
    const char *type;    /* of an attribute: "int", "double", "uint64_t" */
    bool gathered;       /* read by edges: a row for each */
    bool by_sender;      /* of edges: rows are senders, columns receivers */
    bool carried;        /* of edges: not read here, may be absent; for the gradient rule to pass on */
    enum values values;
    enum dim limit;           /* of VALUES_INDEX */
    double typical, moderate; /* sample values of an attribute: in models, in tests; 0: any */
};

struct op_info {
    const char *name, *doc, *flops_formula;
    size_t args_size;
    const struct operand *operands;
    int operand_count;
    bool host; /* runs on the host only */
};

const struct op_info *op_info(enum op op);

/* The op of that name, or OPS. */
enum op op_named(const char *name);

/* The op whose gradients this computes, and the op that computes the gradients of this; OPS: none. */
enum op op_forward_of(enum op op);
enum op op_backward_of(enum op op);

/* The operand of that name, or null. */
const struct operand *operand_named(enum op op, const char *name);

/* The dtype that the op's matrices share; DTYPE_NONE where each has its own. */
enum dtype op_dtype(enum op op, const void *args);

/* Whether the operand is a matrix (or one inside offsets or edges), and which one it is in these arguments.
 */
bool operand_is_mat(const struct operand *o);
struct mat *operand_mat(const struct operand *o, const void *args);
bool operand_writes(const struct operand *o);
bool operand_reads(const struct operand *o, const struct mat *m);

/* Whether a SAVE or SAVE_IF operand is wanted in training under the attributes at hand. */
bool operand_saved(const struct operand *o, const void *args);

/*
 * Unifies the sizes of all present operands into dims (in elements; -1 where nothing says) and checks shapes,
 * dtypes, presence, attributes and that no two outputs overlap. The error names op, operand and sizes, as in
 * "linear: w has D = 16, but x has 12". Outputs may still be absent.
 */
bool op_bind(enum op op, const void *args, int64_t dims[DIMS], char *error, size_t error_size);

/* Binds and requires that nothing but optional operands is absent: what a call of a kernel must satisfy. */
bool op_complete(enum op op, const void *args, char *error, size_t error_size);

/* FLOPs of the mathematics (METRICS.md) and minimum bytes; exact, or -1 where they exceed 63 bits. */
int64_t op_flops(enum op op, const void *args);
int64_t op_bytes(enum op op, const void *args);

/* The same where no gathered row is ever found in a cache: each counts once for every edge that reads it. */
int64_t op_bytes_no_reuse(enum op op, const void *args);

#endif
