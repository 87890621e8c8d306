/*
 * Checks a few rows of every entry. The operands of an entry are copied to double and to float, before it
 * runs since it may overwrite its inputs; then the entry runs, and ref recomputes the chosen rows from both
 * copies. The double result is the reference. The float result shows what error is inherent to float: where
 * large terms cancel (the mean after batch norm, the gradient of a preceding bias), three times its error is
 * allowed. Where products know fewer bits of their factors (TF32), both copies are rounded to these if we
 * round (kernels/converted.h); where a library does, the float copy is truncated to them.
 *
 * One float result says little: its own rounding errors may cancel by luck, or an entry may be as sensitive
 * as check_whole.c says of a program. So an entry that is beyond its limit is checked again, with the largest
 * distance from the reference of float results: that of all operations rounded up, of all rounded down (as
 * far as a long sum of equal terms may drift, whatever its order), and those for operands that are moved in
 * the last bit; as many as it takes, up to MOVES. It is the last bit in BF16 where the kernel rounds to BF16
 * what it computes between.
 *
 * A softmax's lse, the logarithm of its denominator, is that of the scores it was computed with: with scores
 * of 1e8 exp(score - lse) is anything, if another order of summation gave the scores. A gradient of large
 * scores that is checked again may therefore be that of the reference's own lse.
 */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "kernels/plugin_rows.h"
#include "kernels/rng.h"
#include "models/layers/check_choice.h"

enum { FLOAT_BITS = 24, ROUNDINGS = 3, MOVES = 16 };

/* An op's arguments copied to one dtype, in memory of their own. */
struct shadow {
    union any_args args;
    enum dtype dtype;
    int bits;        /* significant bits of factors that the kernel knows; FLOAT_BITS: all */
    bool by_library; /* that rounds them */
    uint64_t jitter; /* key of moves in the last bit of this type; 0: none */
    enum dtype moved;
    int rounding; /* of its operations */
    void *copies[OPERANDS_MAX + 2];
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

static double copied_value(const struct shadow *s, enum dtype dtype, bool factor, double value)
{
    if (s->jitter && dtype == F32)
        value = check_moved(value, s->moved, s->jitter);
    if (s->bits >= FLOAT_BITS)
        return value;
    if (s->by_library)
        return dtype == F32 ? truncated(value, s->bits) : value;
    return factor ? with_bits(value, s->bits) : value;
}

/* An operand of the program, or of a shadow, which is on the host. */
static struct mat readable(const struct tape *t, struct mat m, void **copy)
{
    *copy = NULL;
    return m.storage ? tape_read(t, m, copy) : m;
}

static void copy_values(const struct shadow *s, struct mat to, const struct tape *t, struct mat m,
                        bool factor)
{
    void *copy;
    struct mat from = readable(t, m, &copy);
    for (int64_t i = 0; i < from.rows; i++)
        for (int64_t k = 0; k < from.cols; k++)
            mat_set(to, i, k, copied_value(s, to.dtype, factor, mat_get(from, i, k)));
    free(copy);
}

static bool copied(struct shadow *s, const struct tape *t, const struct operand *o, enum dtype dtype)
{
    struct mat *m = operand_mat(o, &s->args);
    struct mat to = {.rows = m->rows, .cols = m->cols, .ld = m->cols, .dtype = dtype, .acc = m->acc};
    to.data = calloc((size_t)mat_size(to), dtype_size(dtype));
    if (!to.data)
        return false;
    s->copies[s->count++] = to.data;
    if (operand_reads(o, m))
        copy_values(s, to, t, *m, o->factor);
    *m = to;
    return true;
}

static bool shadow_open(struct shadow *s, const struct tape *t, const struct entry *e, enum dtype dtype,
                        uint64_t jitter)
{
    const struct op_info *info = op_info(e->op);
    *s = (struct shadow){.dtype = dtype,
                         .bits = e->kernel->bits,
                         .jitter = jitter,
                         .moved = kernel_rounding(e->kernel) > 0 ? BF16 : F32,
                         .by_library = kernel_allowance(e->kernel) > 1};
    memcpy(&s->args, e->args, info->args_size);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat *m = operand_is_mat(o) ? operand_mat(o, &s->args) : NULL;
        if (!m || !mat_present(*m))
            continue;
        bool shared = o->dtype == DTYPE_NONE; /* labels and schedules keep their own dtype */
        if ((shared || operand_writes(o)) && !copied(s, t, o, shared ? dtype : m->dtype))
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

/* Recomputes rows [row0, row1) of every output that has them. False without memory for scratch. */
static bool recompute_rows(const struct shadow *s, const struct kernel *ref, int64_t row0, int64_t row1)
{
    union any_args args = s->args;
    args.call = (struct call){.threads = 1, .row0 = row0, .row1 = row1};
    int64_t bytes = ref->scratch ? ref->scratch(&args) : 0;
    args.call.scratch = bytes > 0 ? malloc((size_t)bytes) : NULL;
    bool done = bytes == 0 || args.call.scratch;
    fesetround(s->rounding);
    if (done)
        ref->run(&args);
    fesetround(FE_TONEAREST);
    free(args.call.scratch);
    return done;
}

/* Whether a single row takes about as long as all: it needs statistics, or the hidden panel, of all rows. */
static bool needs_all_rows(enum op op)
{
    const struct operand *stats = operand_named(op, "stats");
    return (stats && stats->rows != DIM_N) || op == OP_mlp_backward;
}

/* Each row once: ops may add to what they write. `rows` null: all. */
static bool recompute(const struct shadow *s, enum op op, const int64_t *rows, int count)
{
    const struct kernel *ref = backend_kernel(&backend_ref, op, s->dtype, NULL);
    bool done = true;
    if (needs_all_rows(op))
        return recompute_rows(s, ref, 0, INT64_MAX);
#pragma omp parallel for schedule(dynamic) reduction(&& : done) num_threads(s->args.call.threads)
    for (int n = 0; n < count; n++)
        done = recompute_rows(s, ref, rows ? rows[n] : n, (rows ? rows[n] : n) + 1) && done;
    return done;
}

static double largest(struct mat m)
{
    double most = 0;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            most = fmax(most, fabs(mat_get(m, i, k)));
    return most;
}

/*
 * Whether the entry is a gradient of a softmax with large scores: a millionth of p is their rounding then,
 * and kernels may have their own y.
 */
static bool has_large_scores(const struct entry *e)
{
    enum { LARGE = 16 };
    const struct operand *lse = operand_named(e->op, "lse");
    return op_forward_of(e->op) != OPS && lse && lse->dtype == F64 &&
           largest(*operand_mat(lse, e->args)) > LARGE;
}

/*
 * Gives such a gradient the lse of the shadow's own scores, and its own y if wanted, by the op that saves
 * them; if that has its operands. False without memory.
 */
static bool own_softmax(struct shadow *s, enum op op, bool own_y)
{
    enum op forward = op_forward_of(op);
    const struct op_info *info = op_info(forward);
    struct shadow saved = {.dtype = s->dtype};
    char error[256];
    saved.args.call.threads = s->args.call.threads;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *to = &info->operands[i], *from = operand_named(op, to->name);
        if (from)
            memcpy((char *)&saved.args + to->at, (char *)&s->args + from->at, to->size);
        if (!from || !operand_writes(to))
            continue;
        struct mat *m = operand_mat(to, &saved.args);
        *m = (struct mat){
            .rows = m->rows, .cols = m->cols, .ld = m->cols, .dtype = operand_dtype(to, s->dtype)};
        m->data = s->copies[s->count++] = calloc((size_t)mat_size(*m), dtype_size(m->dtype));
        if (!m->data)
            return false;
    }
    if (!op_complete(forward, &saved.args, error, sizeof error))
        return true;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *from = &info->operands[i], *to = operand_named(op, from->name);
        if (to && operand_writes(from) && (own_y || from->dtype == F64))
            *operand_mat(to, &s->args) = *operand_mat(from, &saved.args);
    }
    return recompute(&saved, forward, NULL, (int)operand_mat(operand_named(op, "lse"), &s->args)->rows);
}

static double norm_of(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += pow(mat_get(m, i, k), 2);
    return sqrt(sum);
}

/* Root mean square over all gradients of the op: rounding may add errors of this size to a gradient that is
 * zero. */
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
        sum += pow(norm_of(m), 2);
        free(copy);
    }
    return entries > 0 ? sqrt(sum / entries) : 0;
}

/* How far results in float are from the reference, of each operand that an op writes: the largest measured.
 */
struct float_errors {
    double of[OPERANDS_MAX];
};

/* |float - double| over the given rows; an overflow is no measure. */
static double float_error(struct mat in_float, struct mat in_double, const int64_t *rows, int count)
{
    double sum = 0;
    for (int n = 0; n < count && in_float.dtype != in_double.dtype; n++)
        for (int64_t k = 0; k < in_float.cols; k++)
            sum += pow(mat_get(in_float, rows[n], k) - mat_get(in_double, rows[n], k), 2);
    return isfinite(sum) ? sqrt(sum) : 0;
}

/* The operand, if the entry writes it; absent otherwise. */
static struct mat written(const struct entry *e, const struct operand *o)
{
    return operand_is_mat(o) && operand_writes(o) ? *operand_mat(o, e->args) : (struct mat){0};
}

static void note_errors(struct float_errors *errors, const struct entry *e, const struct shadow *exact,
                        const struct shadow *rounded, const struct chosen *chosen)
{
    const struct op_info *info = op_info(e->op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat m = written(e, o);
        if (mat_present(m))
            errors->of[i] = fmax(errors->of[i],
                                 float_error(*operand_mat(o, &rounded->args), *operand_mat(o, &exact->args),
                                             chosen->rows, chosen_within(chosen, m.rows)));
    }
}

/*
 * Far from 0 an activation and its slope are 0 next to the rounding of its argument. So with an activation,
 * 1e-6 of the size of the terms is a floor: |x| |w| + |b| of outputs, |dy| |w| of dx, |dy| |x| of dw, |dy| of
 * db; of a share of the rows.
 */
static double activation_floor(enum op op, const struct operand *o, const struct shadow *exact, double share)
{
    const struct linear_args *a = &exact->args.linear;
    const struct linear_backward_args *b = &exact->args.linear_backward;
    double size = 0;
    if (op == OP_linear && a->act)
        size = norm_of(a->x) * norm_of(a->w) + sqrt((double)a->x.rows) * norm_of(a->b);
    if (op == OP_linear_backward && b->act)
        size = norm_of(b->dy) * (strcmp(o->name, "dx") == 0   ? norm_of(b->w)
                                 : strcmp(o->name, "dw") == 0 ? norm_of(b->x)
                                                              : sqrt((double)b->dy.rows));
    return 1e-6 * size * sqrt(share);
}

/*
 * What the norm of some rows of an output is taken for at least, beside what underflows. A gradient's share
 * of all; 1 for each logarithm of a sum, whose absolute error is the sum's relative one: beside a sum of 1,
 * log loses what is below its unit.
 */
static double floor_of(const struct entry *e, const struct operand *o, const struct shadow *exact,
                       double scale, int rows)
{
    struct mat m = *operand_mat(o, e->args);
    double entries = sqrt((double)rows * (double)m.cols);
    double small = o->role == ROLE_GRAD ? 1e-2 * scale * entries : strcmp(o->name, "lse") ? 0 : entries;
    return fmax(small, activation_floor(e->op, o, exact, (double)rows / (double)m.rows));
}

/* "sparse_attention y of layer1.attention"; of a kernel of others also which it is, and whose. */
static void name_result(const struct entry *e, const struct operand *o, char name[TENSOR_NAME])
{
    const char *path = plugin_path(e->kernel), *slash = path ? strrchr(path, '/') : NULL;
    int used = snprintf(name, TENSOR_NAME, "%s", op_info(e->op)->name);
    if (path)
        used += snprintf(name + used, TENSOR_NAME - (size_t)used, "=%.24s of %.40s,", e->kernel->variant,
                         slash ? slash + 1 : path);
    snprintf(name + used, TENSOR_NAME - (size_t)used, " %s of %s", o->name, e->span);
}

static void compare(struct check *c, const struct tape *t, const struct entry *e, const struct shadow *exact,
                    const struct float_errors *errors, const struct chosen *chosen)
{
    const struct op_info *info = op_info(e->op);
    double scale = gradient_scale(t, e);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat ours = written(e, o);
        if (!mat_present(ours))
            continue;
        int within = chosen_within(chosen, ours.rows);
        bool gradient = o->role == ROLE_GRAD;
        double rounding = (ours.dtype == BF16 ? BF16_ROUNDING : 0) + kernel_rounding(e->kernel);
        struct rule rule = {.limit = (gradient ? CHECK_LIMIT_GRADIENT : CHECK_LIMIT_OUTPUT) + rounding,
                            .floor = floor_of(e, o, exact, scale, within)};
        rule.floor = fmax(rule.floor, FLT_MIN / rule.limit * sqrt((double)within * (double)ours.cols));
        rule.wide.limit = rule.limit * kernel_allowance(e->kernel);
        rule.wide.floor = CHECK_FORGIVEN / rule.wide.limit * errors->of[i];
        rule.wide.by = kernel_allowance(e->kernel) > 1 ? EXCEPTION_CUT : EXCEPTION_FLOAT;
        char name[TENSOR_NAME];
        void *copy;
        name_result(e, o, name);
        check_tensor(c, name, tape_read(t, ours, &copy), *operand_mat(o, &exact->args), chosen->rows, within,
                     rule);
        free(copy);
    }
}

/*
 * The references of an entry that is checked again: with what the program has saved; with its own lse where
 * scores are large, since others are not those of the same softmax. With its own y too it shows how far the
 * rounding of y moves: kernels may have a y of their own there, in some rows.
 */
enum reference { OF_OPERANDS, OF_OWN_LSE, OF_OWN_SOFTMAX };

static bool open_reference(struct shadow *s, const struct tape *t, const struct entry *e, enum dtype dtype,
                           uint64_t jitter, enum reference reference)
{
    return shadow_open(s, t, e, dtype, jitter) &&
           (reference == OF_OPERANDS || own_softmax(s, e->op, reference == OF_OWN_SOFTMAX));
}

/* Measures how far the n-th results in float are: as they are, rounded up, rounded down, then moved. False
 * without memory. */
static bool measure_moved(struct float_errors *errors, const struct tape *t, const struct entry *e,
                          const struct shadow *exact, const struct chosen *chosen, uint64_t key, int n,
                          enum reference reference)
{
    static const int roundings[ROUNDINGS] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
    struct shadow rounded;
    uint64_t jitter = n < ROUNDINGS ? 0 : rng_bits(key, (uint64_t)(ROWS_MAX + n)) | 1;
    bool done = open_reference(&rounded, t, e, F32, jitter, reference);
    rounded.rounding = n < ROUNDINGS ? roundings[n] : FE_TONEAREST;
    done = done && recompute(&rounded, e->op, chosen->rows, chosen->count);
    if (done)
        note_errors(errors, e, exact, &rounded, chosen);
    shadow_close(&rounded);
    return done;
}

/* Recomputes as many rows in double as the clock, if there is one, allows, and says which. */
static bool recompute_exact(const struct shadow *exact, const struct entry *e, uint64_t key,
                            const struct rows_clock *clock, struct chosen *chosen)
{
    const struct heights heights = heights_of(e);
    int least = 1 + heights.count;
    double begin = omp_get_wtime();
    *chosen = choose_rows(&heights, key, clock && !needs_all_rows(e->op) ? least : ROWS_MAX);
    int first = chosen->count;
    bool done = recompute(exact, e->op, chosen->drawn, first);
    if (clock && !needs_all_rows(e->op)) {
        *chosen = choose_rows(&heights, key, rows_clock_afford(clock, least, omp_get_wtime() - begin));
        done = done && recompute(exact, e->op, chosen->drawn + first, chosen->count - first);
    }
    return done;
}

/* Runs an entry and checks it within the clock's time. */
static bool check_entry(struct check *c, const struct tape *t, const struct entry *e, uint64_t key,
                        const struct rows_clock *clock, struct chosen *chosen)
{
    struct shadow exact, rounded;
    struct float_errors errors = {{0}};
    bool done = shadow_open(&exact, t, e, F64, 0);
    done = shadow_open(&rounded, t, e, F32, 0) && done;
    e->kernel->run(e->args);
    done = done && recompute_exact(&exact, e, key, clock, chosen) &&
           recompute(&rounded, e->op, chosen->rows, chosen->count);
    if (done) {
        note_errors(&errors, e, &exact, &rounded, chosen);
        compare(c, t, e, &exact, &errors, chosen);
    }
    shadow_close(&exact);
    shadow_close(&rounded);
    return done;
}

/*
 * How many float results to measure. Operands in BF16 do not move, unless the kernel rounds to it in between:
 * sums of two are exact, and so whether one is 0, at which a rectifier would fall to the other side.
 */
static int most_results(const struct kernel *k)
{
    return k->dtype == BF16 && kernel_rounding(k) == 0 ? ROUNDINGS : ROUNDINGS + MOVES;
}

/* Compares an entry that has run with a reference, of operands as they were, until it is within its limits.
 */
static bool compare_carefully(struct check *c, const struct tape *t, const struct entry *e,
                              const struct entry *before, uint64_t key, enum reference reference)
{
    struct shadow exact;
    struct chosen chosen;
    struct float_errors errors = {{0}};
    bool done = open_reference(&exact, t, before, F64, 0, reference) &&
                recompute_exact(&exact, before, key, NULL, &chosen);
    for (int n = 0; done && n < most_results(e->kernel) && (n == 0 || c->excess > 1); n++) {
        *c = (struct check){0};
        done = measure_moved(&errors, t, before, &exact, &chosen, key, n, reference);
        if (reference == OF_OWN_LSE && n == 0)
            done = done && measure_moved(&errors, t, before, &exact, &chosen, key, n, OF_OWN_SOFTMAX);
        compare(c, t, e, &exact, &errors, &chosen);
    }
    shadow_close(&exact);
    return done;
}

/* Runs an entry and checks all its chosen rows, by any of its references. */
static bool check_carefully(struct check *c, const struct tape *t, const struct entry *e, uint64_t key)
{
    struct shadow copies;
    struct entry before = *e;
    bool done = shadow_open(&copies, t, e, F64, 0);
    before.args = &copies.args;
    enum reference last = done && has_large_scores(&before) ? OF_OWN_LSE : OF_OPERANDS;
    e->kernel->run(e->args);
    for (enum reference r = OF_OPERANDS; done && r <= last && (r == OF_OPERANDS || c->excess > 1); r++)
        done = compare_carefully(c, t, e, &before, key, r);
    shadow_close(&copies);
    return done;
}

static uint64_t row_key(uint64_t seed, int entry)
{
    return rng_bits(rng_key(seed, "check"), (uint64_t)entry);
}

/* Runs the program and checks each entry; those beyond their limits are noted in `beyond` instead. */
static bool check_once(struct check *c, struct tape *t, uint64_t seed, struct rows_limit *limit, bool *beyond)
{
    struct rows_clock clock;
    bool done = rows_clock_start(&clock, limit, c, t);
    for (int i = 0; i < tape_entry_count(t) && done; i++) {
        const struct entry *e = tape_entry(t, i);
        struct check own = {0};
        struct chosen chosen;
        done = !tape_is_cancelled(t);
        if (!rows_clock_enter(&clock)) {
            e->kernel->run(e->args);
            continue;
        }
        done = done && check_entry(&own, t, e, row_key(seed, i), &clock, &chosen);
        rows_clock_leave(&clock, chosen.draws);
        beyond[i] = own.excess > 1;
        if (!beyond[i])
            check_add(c, &own);
    }
    rows_clock_end(&clock);
    return done;
}

/* Initialises and runs the program once more, up to the first entry that is wrong, and checks these entries
 * carefully. */
static bool check_again(struct check *c, struct tape *t, uint64_t seed, const bool *beyond)
{
    bool done = true;
    tape_init(t);
    for (int i = 0; i < tape_entry_count(t) && done && c->excess <= 1; i++) {
        const struct entry *e = tape_entry(t, i);
        struct check own = {0};
        done = !tape_is_cancelled(t);
        if (!beyond[i])
            e->kernel->run(e->args);
        else
            done = done && check_carefully(&own, t, e, row_key(seed, i));
        check_add(c, &own);
    }
    return done;
}

bool check_rows(struct check *c, struct tape *t, uint64_t seed, struct rows_limit *limit)
{
    size_t count = (size_t)tape_entry_count(t);
    bool *beyond = calloc(count + 1, sizeof *beyond);
    struct rows_limit any = {.seconds = INFINITY};
    bool done = beyond && check_once(c, t, seed, limit ? limit : &any, beyond);
    if (done && memchr(beyond, true, count))
        done = check_again(c, t, seed, beyond);
    free(beyond);
    return done;
}
