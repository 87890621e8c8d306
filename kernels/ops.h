/*
 * The ops as data: argument structs, metadata, shape binding and costs, generated from ops.def.
 *
 * An op is pure: its outputs depend only on its operands and attributes. struct <op>_args contains a call
 * header, the operands (struct mat, struct offsets) and the attributes, in the order of ops.def. A kernel
 * takes a pointer to it.
 */
#ifndef GTMARK_KERNELS_OPS_H
#define GTMARK_KERNELS_OPS_H

#include "kernels/cancel.h"
#include "kernels/mat.h"

struct kernel;
struct ranks;

enum op {
#define OP(name, doc) OP_##name,
#include "kernels/ops_list.h"
    OPS
};

/* Exact activation functions; a variant never substitutes another one. */
enum activation { ACT_NONE, ACT_GELU, ACT_GELU_TANH, ACT_RELU, ACT_KINDS };

/* The random features of linear attention: those of the softmax, or a rectifier (kernels/ref/performer.c). */
enum features { FEATURES_EXP, FEATURES_RELU, FEATURES_KINDS };

const char *activation_name(int act);

/*
 * Arguments of every call: scratch memory (of the size declared by the kernel's row), the number of threads,
 * the rows [row0, row1) of each output to compute for spot checks by ref (row1 = 0: all rows), and the
 * cancellation callback, polled between blocks by kernels that may run for minutes.
 */
struct call {
    void *scratch;
    void *context;               /* of the device: stream and library handles; null on the host */
    const struct ranks *ranks;   /* that run this call together; null: one alone */
    const struct kernel *kernel; /* that is called; only those of plug-ins read it (plugin_rows.h) */
    int threads;
    bool eager; /* all threads take part, however little the work is: for tests */
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
#define OFFSETS(name, size, ...)             struct offsets name;
#define EDGES(name)                          struct edges name;
#define EDGES_OUT(name)                      struct edges name;
#define EDGES_BOTH(name)                     struct edges name;
#define EDGES_OUT_NUMBERED(name)             struct edges name;
#define EDGES_BOTH_NUMBERED(name)            struct edges name;
#define EDGES_BOTH_NUMBERED_WITH(name, opt)  struct edges name;
#define PART_EDGES(name)                     struct edges name;
#define PART_EDGES_OUT(name)                 struct edges name;
#define PART_EDGES_BOTH_NUMBERED(name)       struct edges name;
#define SIZE(name, size)                     int name;
#define ATTR(type, name, ...)                type name;
#define END(name, formula, ...)                                                                              \
    }                                                                                                        \
    ;
#include "kernels/ops_list.h"

/* Storage for the arguments of any op. */
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
    ROLE_ROW_PTR, /* of edges: one row more than the size */
    ROLE_INDEX,   /* of edges: may have no rows */
    ROLE_NUMBERS, /* the same: the number of each edge, by sender */
    ROLE_SIZE,
    ROLE_ATTR,
};

/* Symbolic sizes; DIM_1 and DIM_2 are constants. */
enum dim { DIM_1, DIM_2, DIM_N, DIM_M, DIM_D, DIM_H, DIM_B, DIM_E, DIM_P, DIM_C, DIM_F, DIM_S, DIMS };

const char *dim_name(enum dim d);

/* The most operands of an op. */
enum { OPERANDS_MAX = 24 };

/* Constraints on the entries of a matrix, or the meaning of an attribute. */
enum values {
    VALUES_ANY,
    VALUES_POSITIVE,
    VALUES_INDEX,      /* integers from 0 to `limit` - 1 */
    VALUES_SCHEDULE,   /* [step, learning rate], the step at least 1 */
    VALUES_ACTIVATION, /* enum activation */
    VALUES_DISTINCT,   /* no two rows alike */
    VALUES_FEATURES,   /* enum features */
};

struct operand {
    const char *name;
    enum role role;
    size_t at, size;     /* in the argument struct: offset and bytes, of offsets with their pairs, of a
                            ROW_PTR with the most edges */
    enum dim rows, cols; /* symbolic shape of a matrix; for OFFSETS and SIZE, rows is the size */
    enum dtype dtype;    /* if fixed; otherwise DTYPE_NONE: the dtype shared by the op's matrices */
    size_t saved_if;     /* offset of the int attribute of a SAVE_IF, otherwise 0 */
    const char *type;    /* of an attribute: "int", "double", "uint64_t" */
    bool gathered;       /* read through the edges: one row per edge */
    bool by_sender;      /* of edges: rows are senders, columns receivers */
    bool wide;           /* F32 where the dtype of the op is BF16 */
    bool factor;         /* of a product of matrices */
    bool carried;        /* not read, may be absent; passed on by the gradient rule */
    const char *option;  /* that it is a part of, absent without it; null: of none */
    enum values values;
    enum dim limit;           /* of VALUES_INDEX */
    double typical, moderate; /* sample values of an attribute: in models, in tests; 0: any */
};

struct op_info {
    const char *name, *doc, *flops_formula;
    const char *const *forms; /* names of the op with its options, "spmm+weights", by the set of them */
    int form_count;
    size_t args_size;
    const struct operand *operands;
    int operand_count;
    bool host;     /* runs only on the host */
    bool exchange; /* with other ranks */
    bool sums;     /* what it sends, over the ranks */
    bool shifts;   /* what it sends, to one other rank */
    bool moves;    /* rows: before it sends them, or after they came */
};

const struct op_info *op_info(enum op op);

/* The op with this name, or OPS. */
enum op op_named(const char *name);

/* The op whose gradients this op computes; the op that computes the gradients of this one; OPS: none. */
enum op op_forward_of(enum op op);
enum op op_backward_of(enum op op);

/*
 * An op has up to OPTIONS_MAX options; bit i of a set is the i-th in ops.def. An op with some of its options
 * is a form of it, named op_info(op)->forms[options].
 */
enum { OPTIONS_MAX = 4, FORMS_MAX = 1 << OPTIONS_MAX };

/* The options as sets: OPTION_attention_mask and so on. */
#define OPTION_BIT(op, a, bit)                 OPTION_##op##_##a = bit,
#define OPTION_BITS_1(op, a)                   OPTION_BIT(op, a, 1)
#define OPTION_BITS_2(op, a, b)                OPTION_BIT(op, a, 1) OPTION_BIT(op, b, 2)
#define OPTION_BITS_3(op, a, b, c)             OPTION_BITS_2(op, a, b) OPTION_BIT(op, c, 4)
#define OPTION_BITS_4(op, a, b, c, d)          OPTION_BITS_3(op, a, b, c) OPTION_BIT(op, d, 8)
#define OPTION_BITS(op, a, b, c, d, bits, ...) bits
#define OPTIONS(op, ...)                                                                                     \
    OPTION_BITS(op, __VA_ARGS__, OPTION_BITS_4, OPTION_BITS_3, OPTION_BITS_2, OPTION_BITS_1, )               \
    (op, __VA_ARGS__)
enum {
#include "kernels/ops_list.h"
};

/* The options of which these arguments have a matrix that is read. */
unsigned op_options(enum op op, const void *args);

/* The option that an operand is a part of, as a set; empty for none. */
unsigned operand_option(enum op op, const struct operand *o);

struct form {
    enum op op;
    unsigned options;
};

/* All forms, in the order of ops.def; past the last the op is OPS. */
struct form form_at(int index);

/* The name of a form, as in "spmm+weights"; null of op OPS. */
const char *form_name(struct form f);

enum { FORMS = OPS * FORMS_MAX }; /* at most */

/* Whether it has a FACTOR. */
bool op_has_factors(enum op op);

/* The operand with this name, or null. */
const struct operand *operand_named(enum op op, const char *name);

/*
 * The dtype shared by the op's matrices, of those that are WIDE if it has no others; DTYPE_NONE if all are
 * fixed. operand_dtype: that of one matrix in an op of such a dtype.
 */
enum dtype op_dtype(enum op op, const void *args);
enum dtype operand_dtype(const struct operand *o, enum dtype shared);

/* Whether the operand is a matrix (or one in offsets or edges), and that matrix in these arguments: it is the
 * first member of struct offsets, so one offset serves all kinds. */
static inline bool operand_is_mat(const struct operand *o)
{
    return o->role != ROLE_SIZE && o->role != ROLE_ATTR;
}

static inline struct mat *operand_mat(const struct operand *o, const void *args)
{
    return (struct mat *)((char *)(uintptr_t)args + o->at);
}

/* Whether it is one of the matrices in edges. */
static inline bool operand_of_edges(const struct operand *o)
{
    return o->role == ROLE_ROW_PTR || o->role == ROLE_INDEX || o->role == ROLE_NUMBERS;
}

static inline bool operand_writes(const struct operand *o)
{
    return o->role == ROLE_OUT || o->role == ROLE_GRAD || o->role == ROLE_SAVE || o->role == ROLE_INOUT;
}

static inline bool operand_reads(const struct operand *o, const struct mat *m)
{
    return operand_is_mat(o) && !o->carried && (!operand_writes(o) || o->role == ROLE_INOUT || m->acc);
}

/* Whether a SAVE or SAVE_IF operand is needed in training with these attributes. */
bool operand_saved(const struct operand *o, const void *args);

/*
 * Unifies the sizes of all present operands into dims (in elements; -1 if undetermined) and checks shapes,
 * dtypes, presence, attributes and that no two outputs overlap. The error names op, operand and sizes, e.g.
 * "linear: w has D = 16, but x has 12". Outputs may still be absent.
 */
bool op_bind(enum op op, const void *args, int64_t dims[DIMS], char *error, size_t error_size);

/* Binds, and requires all operands that are not optional, as needed for calling a kernel. */
bool op_complete(enum op op, const void *args, char *error, size_t error_size);

/* FLOPs of the mathematics (docs/methods.md) and minimum bytes; exact, or -1 if they exceed 63 bits. */
int64_t op_flops(enum op op, const void *args);
int64_t op_flops_bound(enum op op, const void *args, const int64_t dims[DIMS]); /* by op_bind */
int64_t op_bytes(enum op op, const void *args);

/* Payload bytes that it sends to other ranks; for a reduction those of the operand. -1 beyond 63 bits. */
int64_t op_sent(enum op op, const void *args, const int64_t dims[DIMS]);

/* How often it computes exp, tanh or erf of an element; -1 beyond 63 bits. */
int64_t op_exps(enum op op, const void *args, const int64_t dims[DIMS]);

/* Minimum bytes, each -1 beyond 63 bits. */
struct op_traffic {
    int64_t bytes;    /* as op_bytes */
    int64_t written;  /* those of them that are written */
    int64_t updated;  /* those of the written that are read as well, in place */
    int64_t no_reuse; /* without cache reuse of gathered rows: each counts once per edge that reads it */
};

struct op_traffic op_traffic(enum op op, const void *args, const int64_t dims[DIMS]); /* by op_bind */

#endif
