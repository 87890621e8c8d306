/*
 * Checks a few rows of every entry. The operands of an entry are copied to double and to float, before it
 * runs since it may overwrite its inputs; then the entry runs, and ref recomputes the chosen rows from both
 * copies. The double result is the reference. The float result shows what error is inherent to float: where
 * large terms cancel (the mean after batch norm, the gradient of a preceding bias), three times its error is
 * allowed. For kernels whose products use fewer bits (TF32), the float copy is truncated to these.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "kernels/rng.h"
#include "models/layers/check.h"

enum { SEEDED = 64, ROWS_MAX = SEEDED + 2, FLOAT_BITS = 24 };

static const double forgiven = 3; /* times the error of the float reference */

/* An op's arguments copied to one dtype, in memory of their own. */
struct shadow {
    union any_args args;
    enum dtype dtype;
    int bits; /* significant bits that the kernel reads; below FLOAT_BITS, floats are truncated to them */
    void *copies[16];
    int count;
};

/* x as a float with its significand truncated to this many bits. */
static double truncated(double x, int significand)
{
    float value = (float)x;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= ~UINT32_C(0) << (FLOAT_BITS - significand);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static void copy_values(const struct shadow *s, struct mat to, const struct tape *t, struct mat m)
{
    void *copy;
    struct mat from = tape_read(t, m, &copy);
    for (int64_t i = 0; i < from.rows; i++)
        for (int64_t k = 0; k < from.cols; k++) {
            double value = mat_get(from, i, k);
            mat_set(to, i, k, to.dtype == F32 && s->bits < FLOAT_BITS ? truncated(value, s->bits) : value);
        }
    free(copy);
}

static bool copied(struct shadow *s, const struct tape *t, struct mat *m, enum dtype dtype, bool with_values)
{
    struct mat to = {.rows = m->rows, .cols = m->cols, .ld = m->cols, .dtype = dtype, .acc = m->acc};
    to.data = calloc((size_t)mat_size(to), dtype_size(dtype));
    if (!to.data)
        return false;
    s->copies[s->count++] = to.data;
    if (with_values)
        copy_values(s, to, t, *m);
    *m = to;
    return true;
}

static bool shadow_open(struct shadow *s, const struct tape *t, const struct entry *e, enum dtype dtype)
{
    const struct op_info *info = op_info(e->op);
    *s = (struct shadow){.dtype = dtype, .bits = e->kernel->bits};
    memcpy(&s->args, e->args, info->args_size);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat *m = operand_is_mat(o) ? operand_mat(o, &s->args) : NULL;
        if (!m || !mat_present(*m))
            continue;
        bool shared = o->dtype == DTYPE_NONE; /* labels and schedules keep their own dtype */
        if ((shared || operand_writes(o)) && !copied(s, t, m, shared ? dtype : m->dtype, operand_reads(o, m)))
            return false;
        if (m->storage) /* the remaining operands are read only, but must be accessible on the host */
            *m = tape_read(t, *m, &s->copies[s->count++]);
    }
    return true;
}

static void shadow_close(struct shadow *s)
{
    for (int i = 0; i < s->count; i++)
        free(s->copies[i]);
}

/* The first, the last and random rows, ascending and distinct. */
static int choose_rows(int64_t rows, uint64_t key, int64_t chosen[ROWS_MAX])
{
    int count = 0;
    for (int n = 0; n < ROWS_MAX; n++) {
        int64_t row = n == 0 ? 0 : n == 1 ? rows - 1 : (int64_t)(rng_bits(key, (uint64_t)n) % (uint64_t)rows);
        int at = count;
        while (at > 0 && chosen[at - 1] > row)
            at--;
        if (at > 0 && chosen[at - 1] == row)
            continue;
        memmove(chosen + at + 1, chosen + at, (size_t)(count - at) * sizeof *chosen);
        chosen[at] = row;
        count++;
    }
    return count;
}

/* Recomputes row `row` of every output that has it. Returns false when there is no memory for scratch. */
static bool recompute_row(const struct shadow *s, const struct kernel *ref, int64_t row)
{
    union any_args args = s->args;
    args.call = (struct call){.threads = 1, .row0 = row, .row1 = row + 1};
    int64_t bytes = ref->scratch ? ref->scratch(&args) : 0;
    args.call.scratch = bytes > 0 ? malloc((size_t)bytes) : NULL;
    bool done = bytes == 0 || args.call.scratch;
    if (done)
        ref->run(&args);
    free(args.call.scratch);
    return done;
}

static bool recompute(const struct shadow *s, enum op op, const int64_t *rows, int count)
{
    const struct kernel *ref = backend_kernel(&backend_ref, op, s->dtype, NULL);
    bool done = true;
#pragma omp parallel for schedule(dynamic) reduction(&& : done) num_threads(s->args.call.threads)
    for (int n = 0; n < count; n++)
        done = recompute_row(s, ref, rows[n]) && done;
    return done;
}

/* The largest number of rows among the outputs: one list of rows is used for all, truncated to each. */
static int64_t output_rows(const struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    int64_t rows = 0;
    for (int i = 0; i < info->operand_count; i++)
        if (operand_is_mat(&info->operands[i]) && operand_writes(&info->operands[i]))
            rows = max_of(rows, operand_mat(&info->operands[i], e->args)->rows);
    return rows;
}

/*
 * Root mean square over all gradients of the op: rounding may add errors of this size to a gradient that is
 * zero.
 */
static double gradient_scale(const struct tape *t, const struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    double sum = 0, entries = 0;
    for (int i = 0; i < info->operand_count; i++) {
        if (info->operands[i].role != ROLE_GRAD || !mat_present(*operand_mat(&info->operands[i], e->args)))
            continue;
        void *copy;
        struct mat m = tape_read(t, *operand_mat(&info->operands[i], e->args), &copy);
        entries += (double)mat_size(m);
        for (int64_t r = 0; r < m.rows; r++)
            for (int64_t k = 0; k < m.cols; k++)
                sum += pow(mat_get(m, r, k), 2);
        free(copy);
    }
    return entries > 0 ? sqrt(sum / entries) : 0;
}

/* |float - double| of the reference over the given rows. */
static double float_error(struct mat in_float, struct mat in_double, const int64_t *rows, int count)
{
    double sum = 0;
    for (int n = 0; n < count && in_float.dtype != in_double.dtype; n++)
        for (int64_t k = 0; k < in_float.cols; k++)
            sum += pow(mat_get(in_float, rows[n], k) - mat_get(in_double, rows[n], k), 2);
    return sqrt(sum);
}

static void compare(struct check *c, const struct tape *t, const struct entry *e, const struct shadow *exact,
                    const struct shadow *rounded, const int64_t *rows, int count)
{
    const struct op_info *info = op_info(e->op);
    double scale = gradient_scale(t, e);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        const struct mat *ours = operand_is_mat(o) ? operand_mat(o, e->args) : NULL;
        if (!ours || !operand_writes(o) || !mat_present(*ours))
            continue;
        int within = 0;
        while (within < count && rows[within] < ours->rows)
            within++;
        bool gradient = o->role == ROLE_GRAD;
        struct mat right = *operand_mat(o, &exact->args);
        struct rule rule = {.limit = gradient ? CHECK_LIMIT_GRADIENT : CHECK_LIMIT_OUTPUT,
                            .floor = gradient ? 1e-2 * scale * sqrt((double)within * (double)ours->cols) : 0};
        rule.wide.limit = rule.limit * kernel_allowance(e->kernel);
        rule.wide.floor =
            forgiven / rule.wide.limit * float_error(*operand_mat(o, &rounded->args), right, rows, within);
        rule.wide.by = e->kernel->bits < FLOAT_BITS ? EXCEPTION_CUT : EXCEPTION_FLOAT;
        char name[TENSOR_NAME];
        void *copy;
        snprintf(name, sizeof name, "%s %s of %s", info->name, o->name, e->span);
        check_tensor(c, name, tape_read(t, *ours, &copy), right, rows, within, rule);
        free(copy);
    }
}

static bool check_entry(struct check *c, const struct tape *t, const struct entry *e, uint64_t key)
{
    struct shadow exact, rounded;
    int64_t rows[ROWS_MAX];
    int count = choose_rows(output_rows(e), key, rows);
    bool room = shadow_open(&exact, t, e, F64);
    room = shadow_open(&rounded, t, e, F32) && room;
    e->kernel->run(e->args);
    bool done = room && recompute(&exact, e->op, rows, count) && recompute(&rounded, e->op, rows, count);
    if (done)
        compare(c, t, e, &exact, &rounded, rows, count);
    shadow_close(&exact);
    shadow_close(&rounded);
    return done;
}

bool check_rows(struct check *c, struct tape *t, uint64_t seed)
{
    for (int i = 0; i < tape_entry_count(t); i++) {
        const struct entry *e = tape_entry(t, i);
        if (tape_is_cancelled(t) || !check_entry(c, t, e, rng_bits(rng_key(seed, "check"), (uint64_t)i)))
            return false;
    }
    return true;
}
