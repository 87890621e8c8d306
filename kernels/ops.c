/* Metadata tables and FLOP functions generated from ops.def, and the binder that reads them. */
#include "kernels/ops.h"

#include "kernels/wide.h"

#include <stdio.h>

/*
 * FLOPs per element of act(x) and of dy * act'(x): every operation in the formulas of ref/activation.h
 * counts.
 */
static wide act_flops(int act)
{
    static const int cost[ACT_KINDS] = {[ACT_GELU] = 5, [ACT_GELU_TANH] = 9, [ACT_RELU] = 0};
    return cost[act];
}

static wide act_backward_flops(int act)
{
    static const int cost[ACT_KINDS] = {[ACT_GELU] = 11, [ACT_GELU_TANH] = 18, [ACT_RELU] = 0};
    return cost[act];
}

/* Exponentials per element: erf, and in the slope of GELU also the density; or tanh. */
static wide act_exps(int act)
{
    return act == ACT_GELU || act == ACT_GELU_TANH;
}

static wide act_backward_exps(int act)
{
    return act == ACT_GELU ? 2 : act_exps(act);
}

/* FLOPs per element of self x + sum, where the sum starts at zero. */
static wide self_flops(double self)
{
    return self == 0 ? 0 : self == 1 ? 1 : 2;
}

/* 1 for the features of the softmax, 0 for the others. */
static wide is_exp(int features)
{
    return features == FEATURES_EXP;
}

/* The FLOPs that an op reported; before it ran, the bound. */
static wide known(struct mat m, wide bound)
{
    wide sum = 0;
    for (int64_t i = 0; i < m.rows && m.data; i++)
        sum += ((const int64_t *)m.data)[i * m.ld];
    return m.data ? sum : bound;
}

/* Bytes of an element that ranks sum. */
static wide sum_size(enum dtype dtype)
{
    return (wide)dtype_size(dtype == BF16 ? F32 : dtype);
}

/* clang-format off */
#define SIZES                                                                                                   \
    const wide N = dims[DIM_N], M = dims[DIM_M], D = dims[DIM_D], H = dims[DIM_H], B = dims[DIM_B],             \
               E = dims[DIM_E], P = dims[DIM_P], C = dims[DIM_C], F = dims[DIM_F], S = dims[DIM_S];              \
    (void)a, (void)N, (void)M, (void)D, (void)H, (void)B, (void)E, (void)P, (void)C, (void)F, (void)S;

#define HAS(m) (mat_present(a->m) ? 1 : 0)
#define ACC(m) (a->m.acc ? 1 : 0)
#define KNOWN(m, bound) known(a->m, bound)

#define OP(name, doc)                                                                                           \
    static wide flops_##name(const void *args, const int64_t dims[DIMS])                                        \
    {                                                                                                           \
        const struct name##_args *a = args;                                                                     \
        SIZES
#define END(name, formula, ...) return formula; }
#include "kernels/ops_list.h"

#define OP(name, doc)                                                                                           \
    static wide exps_##name(const void *args, const int64_t dims[DIMS])                                         \
    {                                                                                                           \
        const struct name##_args *a = args;                                                                     \
        SIZES
#define END(name, formula, ...) return __VA_ARGS__ + 0; }
#include "kernels/ops_list.h"

#define OP(name, doc)                                                                                           \
    static wide sent_##name(const void *args, const int64_t dims[DIMS])                                         \
    {                                                                                                           \
        const struct name##_args *a = args;                                                                     \
        SIZES
#define SENDS(bytes) return bytes;
#define END(name, formula, ...) return 0; }
#include "kernels/ops_list.h"

#define OP(name, doc)                                                                                           \
    static const char *check_##name(const void *args, const int64_t dims[DIMS])                                 \
    {                                                                                                           \
        const struct name##_args *a = args;                                                                     \
        SIZES
#define CHECK(condition, message) if (!(condition)) return message;
#define END(name, formula, ...) return NULL; }
#include "kernels/ops_list.h"

#define OP(name, doc)       enum { host_##name = 0
#define HOST()              | 1
#define END(name, formula, ...)  };
#include "kernels/ops_list.h"

#define OP(name, doc)       enum { exchange_##name = 0
#define SENDS(bytes)        | 1
#define END(name, formula, ...)  };
#include "kernels/ops_list.h"

#define OP(name, doc)       enum { sums_##name = 0
#define SUMS()              | 1
#define END(name, formula, ...)  };
#include "kernels/ops_list.h"

#define OP(name, doc)       enum { shifts_##name = 0
#define SHIFTS()            | 1
#define END(name, formula, ...)  };
#include "kernels/ops_list.h"

#define OP(name, doc)       enum { moves_##name = 0
#define MOVES()             | 1
#define END(name, formula, ...)  };
#include "kernels/ops_list.h"

/* The names of forms, by the bits of their options. */
#define FORMS_1(op, a)       #op "+" #a,
#define FORMS_2(op, a, b)    FORMS_1(op, a) FORMS_1(op, b) #op "+" #a "+" #b,
#define FORMS_3(op, a, b, c) FORMS_2(op, a, b) FORMS_1(op, c) #op "+" #a "+" #c, #op "+" #b "+" #c, #op "+" #a "+" #b "+" #c,
#define FORMS_OF(op, a, b, c, forms, ...) forms
#define OP(name, doc)       static const char *const forms_##name[] = { #name,
#define OPTIONS(op, ...)    FORMS_OF(op, __VA_ARGS__, FORMS_3, FORMS_2, FORMS_1, )(op, __VA_ARGS__)
#define END(name, formula, ...)  };
#include "kernels/ops_list.h"

struct op_row {
    struct op_info info;
    wide (*flops)(const void *args, const int64_t dims[DIMS]);
    wide (*exps)(const void *args, const int64_t dims[DIMS]);
    wide (*sent)(const void *args, const int64_t dims[DIMS]);
    const char *(*check)(const void *args, const int64_t dims[DIMS]);
};

#define MEMBER(id) .name = #id, .at = offsetof(args_type, id), .size = sizeof ((args_type *)0)->id
#define MATRIX(id, kind, R, C, ...) {MEMBER(id), .role = kind, .rows = DIM_##R, .cols = DIM_##C, __VA_ARGS__},
#define HALF(size, rows, cols, ...)                                                                             \
    MATRIX(rows, ROLE_ROW_PTR, size, 1, .dtype = I64, __VA_ARGS__)                                               \
    MATRIX(cols, ROLE_INDEX, E, 1, .dtype = I32, __VA_ARGS__)

/* Properties of an operand. */
#define TYPE(t)                   .dtype = t
#define WIDE                      .wide = true
#define FACTOR                    .factor = true
#define CARRIED                   .carried = true
#define WITH(name)                .option = #name
#define GATHERED                  .gathered = true
#define POSITIVE                  .values = VALUES_POSITIVE
#define INDEX(size)               .values = VALUES_INDEX, .limit = DIM_##size
#define SCHEDULE                  .values = VALUES_SCHEDULE
#define ACTIVATION                .values = VALUES_ACTIVATION
#define DISTINCT                  .values = VALUES_DISTINCT
#define FEATURE_MAP               .values = VALUES_FEATURES
#define SAMPLE(model, test)       .typical = model, .moderate = test

#define OP(name, doc)                                                                                           \
    static const struct op_row *entry_##name(void)                                                               \
    {                                                                                                           \
        typedef struct name##_args args_type;                                                                   \
        static const char text[] = doc;                                                                         \
        static const struct operand operands[] = {
#define OUT(name, rows, cols, ...)           MATRIX(name, ROLE_OUT, rows, cols, __VA_ARGS__)
#define GRAD(name, rows, cols, ...)          MATRIX(name, ROLE_GRAD, rows, cols, __VA_ARGS__)
#define SAVE(name, rows, cols, ...)          MATRIX(name, ROLE_SAVE, rows, cols, __VA_ARGS__)
#define SAVE_IF(name, rows, cols, attr, ...) MATRIX(name, ROLE_SAVE, rows, cols, .saved_if = offsetof(args_type, attr), __VA_ARGS__)
#define INOUT(name, rows, cols, ...)         MATRIX(name, ROLE_INOUT, rows, cols, __VA_ARGS__)
#define IN(name, rows, cols, ...)            MATRIX(name, ROLE_IN, rows, cols, __VA_ARGS__)
#define GATHER(name, rows, cols, ...)        MATRIX(name, ROLE_IN, rows, cols, .gathered = true, __VA_ARGS__)
#define OPT(name, rows, cols, ...)           MATRIX(name, ROLE_OPT, rows, cols, __VA_ARGS__)
#define OFFSETS(name, size, ...)             MATRIX(name, ROLE_OFFSETS, size, 1, .dtype = I64, __VA_ARGS__)
#define RECEIVERS(name, ...)                 HALF(N, name.row, name.col, __VA_ARGS__)
#define SENDERS(name, size, ...)             HALF(size, name.out_row, name.out_col, .by_sender = true, __VA_ARGS__)
#define NUMBERS(name, ...)                   MATRIX(name.out_edge, ROLE_NUMBERS, E, 1, .dtype = I32, .by_sender = true, __VA_ARGS__)
#define EDGES(name)                          RECEIVERS(name) SENDERS(name, N, CARRIED) NUMBERS(name, CARRIED)
#define EDGES_OUT(name)                      RECEIVERS(name, CARRIED) SENDERS(name, N) NUMBERS(name, CARRIED)
#define EDGES_BOTH(name)                     RECEIVERS(name) SENDERS(name, N) NUMBERS(name, CARRIED)
#define EDGES_OUT_NUMBERED(name)             RECEIVERS(name, CARRIED) SENDERS(name, N) NUMBERS(name)
#define EDGES_BOTH_NUMBERED(name)            RECEIVERS(name) SENDERS(name, N) NUMBERS(name)
#define EDGES_BOTH_NUMBERED_WITH(name, option) RECEIVERS(name) SENDERS(name, N) NUMBERS(name, WITH(option))
#define PART_EDGES(name)                     RECEIVERS(name) SENDERS(name, S, CARRIED) NUMBERS(name, CARRIED)
#define PART_EDGES_OUT(name)                 RECEIVERS(name, CARRIED) SENDERS(name, S) NUMBERS(name, CARRIED)
#define PART_EDGES_BOTH_NUMBERED(name)       RECEIVERS(name) SENDERS(name, S) NUMBERS(name)
#define SIZE(id, size)                       {MEMBER(id), .role = ROLE_SIZE, .rows = DIM_##size, .type = "int"},
#define ATTR(kind, id, ...)                  {MEMBER(id), .role = ROLE_ATTR, .type = #kind, __VA_ARGS__},
#define END(name, formula, ...)                                                                                 \
        };                                                                                                      \
        static const struct op_row entry = {                                                                     \
            {#name, text, #formula, forms_##name, sizeof(forms_##name) / sizeof(*forms_##name), sizeof(args_type), operands, sizeof(operands) / sizeof(*operands),          \
             host_##name, exchange_##name, sums_##name, shifts_##name, moves_##name},                                         \
            flops_##name, exps_##name, sent_##name, check_##name};                                              \
        return &entry;                                                                                          \
    }
#include "kernels/ops_list.h"
/* clang-format on */

static const struct op_row *entry(enum op op)
{
    static const struct op_row *(*const entries[OPS])(void) = {
#define OP(name, doc) entry_##name,
#include "kernels/ops_list.h"
    };
    return entries[op]();
}

const struct op_info *op_info(enum op op)
{
    return &entry(op)->info;
}

const char *activation_name(int act)
{
    static const char *const names[ACT_KINDS] = {"none", "gelu", "gelu_tanh", "relu"};
    return names[act];
}

const char *dim_name(enum dim d)
{
    static const char *const names[DIMS] = {"1", "2", "N", "M", "D", "H", "B", "E", "P", "C", "F", "S"};
    return names[d];
}

enum dtype op_dtype(enum op op, const void *args)
{
    const struct op_info *info = op_info(op);
    enum dtype wide = DTYPE_NONE;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (!operand_is_mat(o) || o->dtype != DTYPE_NONE || !mat_present(*operand_mat(o, args)))
            continue;
        if (!o->wide)
            return operand_mat(o, args)->dtype;
        wide = operand_mat(o, args)->dtype;
    }
    return wide;
}

bool op_has_factors(enum op op)
{
    const struct op_info *info = op_info(op);
    int i = 0;
    while (i < info->operand_count && !info->operands[i].factor)
        i++;
    return i < info->operand_count;
}

enum dtype operand_dtype(const struct operand *o, enum dtype shared)
{
    return o->dtype != DTYPE_NONE ? o->dtype : o->wide && shared == BF16 ? F32 : shared;
}

static int int_at(const void *args, size_t at)
{
    return *(const int *)((const char *)args + at);
}

bool operand_saved(const struct operand *o, const void *args)
{
    return o->role == ROLE_SAVE && (!o->saved_if || int_at(args, o->saved_if) != 0);
}

/* Binding: each operand defines the sizes in its symbolic shape, or contradicts an earlier operand. */
struct binding {
    enum op op;
    const struct op_info *info;
    const void *args;
    int64_t *dims;
    enum dtype shared;
    const char *giver[DIMS]; /* the operand that fixed each symbol */
    char *error;
    size_t error_size;
};

static bool unify(struct binding *b, const struct operand *o, enum dim d, int64_t value)
{
    if (b->dims[d] < 0) {
        b->dims[d] = value;
        b->giver[d] = o->name;
        return true;
    }
    if (b->dims[d] == value)
        return true;
    if (b->giver[d])
        snprintf(b->error, b->error_size, "%s: %s has %s = %lld, but %s has %lld", b->info->name, o->name,
                 dim_name(d), (long long)value, b->giver[d], (long long)b->dims[d]);
    else
        snprintf(b->error, b->error_size, "%s: %s has %lld, but its shape requires %s", b->info->name,
                 o->name, (long long)value, dim_name(d));
    return false;
}

static bool bind_shape(struct binding *b, const struct operand *o, struct mat m)
{
    bool bounds = o->role == ROLE_OFFSETS || o->role == ROLE_ROW_PTR;
    return unify(b, o, o->rows, m.rows - bounds) && unify(b, o, o->cols, m.cols);
}

static bool bind_pairs(struct binding *b, const struct operand *o)
{
    return o->role != ROLE_OFFSETS ||
           unify(b, o, DIM_P, ((const struct offsets *)(const void *)operand_mat(o, b->args))->pairs);
}

static bool bind_dtype(struct binding *b, const struct operand *o, struct mat m)
{
    enum dtype want = operand_dtype(o, b->shared);
    if (m.dtype == want || (o->role == ROLE_GRAD && o->wide && m.dtype == b->shared))
        return true;
    snprintf(b->error, b->error_size, "%s: %s is %s, but must be %s", b->info->name, o->name,
             dtype_name(m.dtype), dtype_name(want));
    return false;
}

static bool fail(struct binding *b, const char *operand, const char *message)
{
    snprintf(b->error, b->error_size, "%s: %s%s%s", b->info->name, operand, *operand ? " " : "", message);
    return false;
}

static bool required(const struct operand *o)
{
    return (o->role == ROLE_IN || o->role == ROLE_INOUT || o->role == ROLE_OFFSETS ||
            o->role == ROLE_ROW_PTR) &&
           !o->carried && !o->option;
}

/* Whether an operand that is read has a row per edge: absent, it says that there are no edges. */
static bool of_no_edges(const struct operand *o)
{
    return o->rows == DIM_E && !o->option &&
           (o->role == ROLE_IN || o->role == ROLE_INDEX || o->role == ROLE_NUMBERS);
}

static bool bind_operand(struct binding *b, const struct operand *o)
{
    if (o->role == ROLE_ATTR)
        return true;
    if (o->role == ROLE_SIZE) {
        int value = int_at(b->args, o->at);
        return value > 0 ? unify(b, o, o->rows, value) : fail(b, o->name, "must be positive");
    }
    struct mat m = *operand_mat(o, b->args);
    if (!mat_present(m) && of_no_edges(o))
        return o->carried || unify(b, o, o->rows, 0);
    if (!mat_present(m))
        return !required(o) || fail(b, o->name, "is missing");
    if (m.cols < 1 || (m.rows > 1 && m.ld < m.cols))
        return fail(b, o->name, "is not a valid matrix");
    if (m.acc && o->role != ROLE_GRAD)
        return fail(b, o->name, "cannot be accumulated into");
    return bind_dtype(b, o, m) && bind_shape(b, o, m) && bind_pairs(b, o);
}

/* The same storage, or memory outside any storage. */
static bool same_memory(struct mat a, struct mat b)
{
    return a.storage == b.storage && (a.storage != 0 || (a.data && b.data));
}

static bool overlap(struct mat a, struct mat b)
{
    if (!mat_present(a) || !mat_present(b) || !same_memory(a, b))
        return false;
    int64_t distance = a.storage ? b.offset - a.offset : (int64_t)((intptr_t)b.data - (intptr_t)a.data);
    if (distance < 0) {
        struct mat swap = a;
        a = b, b = swap, distance = -distance;
    }
    int64_t size = (int64_t)dtype_size(a.dtype), span = ((a.rows - 1) * a.ld + a.cols) * size;
    if (distance >= span)
        return false;
    if (a.ld != b.ld || a.ld < a.cols || a.dtype != b.dtype)
        return true;
    int64_t column = distance / size % a.ld; /* start of b's columns relative to a's */
    return column < a.cols || column + b.cols > a.ld;
}

/* The rows of the features of all heads and graphs, if no operand has them. */
static void derive_features(int64_t dims[DIMS])
{
    if (dims[DIM_F] < 0 && dims[DIM_B] > 0 && dims[DIM_H] > 0 && dims[DIM_M] > 0)
        dims[DIM_F] = dims[DIM_B] * dims[DIM_H] * dims[DIM_M];
}

/* Of an option all matrices that are read are given, or none of any kind. */
static bool options_whole(struct binding *b)
{
    unsigned given = op_options(b->op, b->args);
    for (int i = 0; i < b->info->operand_count; i++) {
        const struct operand *o = &b->info->operands[i];
        if (!o->option)
            continue;
        bool present = mat_present(*operand_mat(o, b->args)), wanted = operand_option(b->op, o) & given;
        bool read = !operand_writes(o);
        if (present && !wanted)
            return fail(b, o->name, "is given, but not what it belongs to");
        if (!present && wanted && read && (o->rows != DIM_E || b->dims[DIM_E] != 0))
            return fail(b, o->name, "is missing");
    }
    return true;
}

static bool outputs_disjoint(struct binding *b)
{
    const struct operand *o = b->info->operands, *end = o + b->info->operand_count;
    for (; o < end; o++)
        for (const struct operand *p = o + 1; operand_writes(o) && p < end; p++)
            if (operand_writes(p) && overlap(*operand_mat(o, b->args), *operand_mat(p, b->args)))
                return fail(b, p->name, "overlaps another output");
    return true;
}

bool op_bind(enum op op, const void *args, int64_t dims[DIMS], char *error, size_t error_size)
{
    const struct op_info *info = op_info(op);
    struct binding b = {
        .op = op, .info = info, .args = args, .dims = dims, .error = error, .error_size = error_size};
    b.shared = op_dtype(op, args);
    for (int d = 0; d < DIMS; d++)
        dims[d] = d == DIM_1 ? 1 : d == DIM_2 ? 2 : -1;
    for (int i = 0; i < info->operand_count; i++)
        if (!bind_operand(&b, &info->operands[i]))
            return false;
    derive_features(dims);
    if (!options_whole(&b))
        return false;
    const char *message = entry(op)->check(args, dims);
    return message ? fail(&b, "", message) : outputs_disjoint(&b);
}

bool op_complete(enum op op, const void *args, char *error, size_t error_size)
{
    int64_t dims[DIMS];
    if (!op_bind(op, args, dims, error, error_size))
        return false;
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        bool empty = o->rows == DIM_E && dims[DIM_E] == 0;
        if (o->role == ROLE_OUT && !empty && !mat_present(*operand_mat(o, args))) {
            snprintf(error, error_size, "%s: %s is missing", info->name, o->name);
            return false;
        }
    }
    return true;
}

int64_t op_flops(enum op op, const void *args)
{
    int64_t dims[DIMS];
    char error[1];
    op_bind(op, args, dims, error, sizeof error);
    return op_flops_bound(op, args, dims);
}

int64_t op_flops_bound(enum op op, const void *args, const int64_t dims[DIMS])
{
    return wide_exact(entry(op)->flops(args, dims));
}

int64_t op_sent(enum op op, const void *args, const int64_t dims[DIMS])
{
    return wide_exact(entry(op)->sent(args, dims));
}

int64_t op_exps(enum op op, const void *args, const int64_t dims[DIMS])
{
    return wide_exact(entry(op)->exps(args, dims));
}
