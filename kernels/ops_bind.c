/*
 * The binder: each operand of a call defines the sizes in its symbolic shape, or contradicts an earlier
 * operand.
 */
#include "kernels/ops_check.h"

#include <stdio.h>

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
    const char *message = op_objection(op, args, dims);
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
