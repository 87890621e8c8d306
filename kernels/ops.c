/* Metadata tables and FLOP functions generated from ops.def. */
#include "kernels/ops_check.h"
#include "kernels/wide.h"

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
#define FORMS_4(op, a, b, c, d) FORMS_3(op, a, b, c) FORMS_1(op, d) #op "+" #a "+" #d, #op "+" #b "+" #d, #op "+" #a "+" #b "+" #d, \
                                #op "+" #c "+" #d, #op "+" #a "+" #c "+" #d, #op "+" #b "+" #c "+" #d, #op "+" #a "+" #b "+" #c "+" #d,
#define FORMS_OF(op, a, b, c, d, forms, ...) forms
#define OP(name, doc)       static const char *const forms_##name[] = { #name,
#define OPTIONS(op, ...)    FORMS_OF(op, __VA_ARGS__, FORMS_4, FORMS_3, FORMS_2, FORMS_1, )(op, __VA_ARGS__)
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
#define SHAPE(kind, R, C)           .role = kind, .rows = DIM_##R, .cols = DIM_##C
#define MATRIX(id, kind, R, C, ...) {MEMBER(id), SHAPE(kind, R, C), __VA_ARGS__},
#define UP_TO(id, next)             .name = #id, .at = offsetof(args_type, id), .size = offsetof(args_type, next) - offsetof(args_type, id)
#define HALF(length, rows, cols, ...)                                                                           \
    {UP_TO(rows, cols), SHAPE(ROLE_ROW_PTR, length, 1), .dtype = I64, __VA_ARGS__},                              \
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

bool operand_saved(const struct operand *o, const void *args)
{
    return o->role == ROLE_SAVE && (!o->saved_if || int_at(args, o->saved_if) != 0);
}

const char *op_objection(enum op op, const void *args, const int64_t dims[DIMS])
{
    return entry(op)->check(args, dims);
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
