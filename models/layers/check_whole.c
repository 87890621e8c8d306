/*
 * The comparison of a whole program with the same program in double.
 *
 * If it is beyond its limits, the error that float has is measured, for which the program is recorded with
 * the oracle's kernels in float: several times, since rounding errors may cancel by luck, with parameters and
 * inputs that differ in the last bit. Three times the largest error is allowed then. It is large where large
 * terms cancel and nothing averages the errors: in networks of width 1, with norms that leave a mean or a
 * gradient of exactly zero; and where errors grow from layer to layer: in inference with batch norm, which
 * does not norm anything before statistics have been gathered.
 *
 * The allowance only grows with the number of runs. So they end when it is enough, with the verdict that all
 * would have.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/rng.h"
#include "models/layers/check.h"
#include "models/tape/tape_internal.h"

enum {
    ERRORS = 16, /* measured */
    FEW = 3      /* after which it can be in vain */
};

static const double IN_VAIN = 10; /* times what would be allowed: no luck explains it */

/* The storage with the same name and category in another tape of the same program. */
static const struct storage *counterpart(const struct tape *t, const struct storage *s)
{
    for (int i = 1; i < t->storage_count; i++)
        if (t->storages[i].category == s->category && t->storages[i].name &&
            !strcmp(t->storages[i].name, s->name))
            return &t->storages[i];
    tape_contract("check: the oracle has no %s", s->name);
}

/*
 * Copies parameters and inputs to another tape of the program, or the same, which is on the host; exactly, or
 * changed in the last bit of a float.
 */
static void hand_over(const struct tape *from, const struct tape *to, uint64_t jitter)
{
    for (int i = 1; i < from->storage_count; i++) {
        const struct storage *s = &from->storages[i];
        bool given = s->category == MEMORY_GRAPH || s->category == MEMORY_ENCODINGS;
        if ((s->category != MEMORY_PARAMETERS && !given) || s->alias || !dtype_is_real(s->dtype))
            continue;
        if (given && from->config.ranks)
            continue;
        struct mat m = {.rows = s->rows, .cols = s->cols, .ld = s->cols, .dtype = s->dtype, .storage = i},
                   y = m;
        const struct storage *other = counterpart(to, s);
        uint64_t key = rng_key(jitter, s->name);
        void *copy;
        struct mat x = tape_read(from, m, &copy);
        y.dtype = other->dtype;
        y.data = (char *)to->arena + other->offset;
        for (int64_t n = 0; n < s->rows * s->cols; n++) {
            double value = mat_get(x, 0, n);
            if (jitter)
                value = (float)(value * (1 + rng_int24(key, (uint64_t)n) * 0x1p-46));
            mat_set(y, 0, n, value);
        }
        free(copy);
    }
}

/* Rounds the inputs of a program on the host to float, as programs in float draw them. */
static void round_inputs(const struct tape *t)
{
    for (int i = 0; i < tape_input_count(t); i++) {
        struct mat m = tape_input(t, i, NULL);
        for (int64_t n = 0; n < mat_size(m) && dtype_is_real(m.dtype); n++)
            mat_set(m, 0, n, (float)mat_get(m, 0, n));
    }
}

/*
 * Inference with batch norm. The running statistics begin as 0 and 1, with which nothing is normed: features
 * grow from layer to layer, and the scores of attention with them, until the last bit of a float decides
 * which key counts. So a program is compared with those that one step of training would leave.
 */
static const double MOMENTUM = 0.1;

/* Moves the running statistics of a column to those of the values that are normed, as floats. */
static void gather_column(const struct batch_norm_inference_args *a, int64_t k)
{
    double n = (double)a->x.rows, mean = 0, squares = 0;
    for (int64_t i = 0; i < a->x.rows; i++)
        mean += mat_get(a->x, i, k) / n;
    for (int64_t i = 0; i < a->x.rows; i++)
        squares += pow(mat_get(a->x, i, k) - mean, 2);
    mat_set(a->running_mean, 0, k, (float)(MOMENTUM * mean));
    mat_set(a->running_var, 0, k, (float)(1 - MOMENTUM + MOMENTUM * squares / fmax(1, n - 1)));
}

/* Called with the oracle's tape after each entry. */
static void gather_for_next(void *tape, int entry)
{
    const struct tape *t = tape;
    const struct entry *next = entry + 1 < tape_entry_count(t) ? tape_entry(t, entry + 1) : NULL;
    if (next && next->op == OP_batch_norm_inference)
        for (int64_t k = 0; k < ((const struct batch_norm_inference_args *)next->args)->x.cols; k++)
            gather_column(next->args, k);
}

/* The first batch_norm_inference from entry e on; null: there is none. */
static const struct batch_norm_inference_args *next_inference(const struct tape *t, int *e)
{
    while (*e < tape_entry_count(t) && tape_entry(t, *e)->op != OP_batch_norm_inference)
        ++*e;
    return *e < tape_entry_count(t) ? tape_entry(t, (*e)++)->args : NULL;
}

/* Gives the program the statistics of the oracle, which has the same norms. */
static void hand_back_statistics(const struct tape *oracle, const struct tape *program)
{
    const struct batch_norm_inference_args *from, *to;
    for (int e = 0, p = 0; (from = next_inference(oracle, &e)) && (to = next_inference(program, &p));) {
        tape_spread(program, to->running_mean, from->running_mean);
        tape_spread(program, to->running_var, from->running_var);
    }
}

static double squares(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += mat_get(m, i, k) * mat_get(m, i, k);
    return sum;
}

static double magnitudes(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += fabs(mat_get(m, i, k));
    return sum;
}

/*
 * 1e-2 mean(y^2 + target^2) of the tape's mean squared error, 1e-2 mean(|y| + |target|) of its mean absolute
 * error, 0 if there is neither.
 */
static double loss_floor(const struct tape *t)
{
    for (int e = 0; e < tape_entry_count(t); e++) {
        const void *args = tape_entry(t, e)->args;
        const struct mse_args *s = args;
        const struct mae_args *a = args;
        if (tape_entry(t, e)->op == OP_mse)
            return 1e-2 * (squares(s->y) + squares(s->target)) / (double)mat_size(s->y);
        if (tape_entry(t, e)->op == OP_mae)
            return 1e-2 * (magnitudes(a->y) + magnitudes(a->target)) / (double)mat_size(a->y);
    }
    return 0;
}

/*
 * 1e-2 (|x| |w| + |b|) over the outputs of a head whose input was kept, the size of the terms that an output
 * sums; otherwise 0.
 */
static double output_floor(const struct tape *t, struct mat output)
{
    for (int e = 0; e < tape_entry_count(t); e++) {
        const struct linear_args *a = tape_entry(t, e)->args;
        if (tape_entry(t, e)->op != OP_linear || a->y.storage != output.storage ||
            !t->storages[a->x.storage].keep)
            continue;
        double x = squares(a->x), w = squares(a->w), b = (double)a->y.rows * squares(a->b);
        return 1e-2 * (sqrt(x * w) + sqrt(b));
    }
    return 0;
}

/* A program and the oracle, both recorded and laid out. */
struct pair {
    const struct recording *program, *oracle;
    double gradients; /* the norm of all of the oracle's, after it has run */
};

/* A tensor to compare, and the plain rule. */
struct subject {
    enum { OUTPUT, LOSS, GRADIENT } kind;
    char name[TENSOR_NAME];
    struct mat in_program, in_oracle;
    struct rule rule;
};

static int subject_count(const struct pair *p)
{
    return mat_present(p->oracle->loss) ? 2 + tape_parameter_count(p->oracle->tape) : 1;
}

static struct subject gradient_subject(const struct pair *p, int parameter)
{
    const struct tape *t = p->oracle->tape, *program = p->program->tape;
    const char *name;
    struct subject s = {.kind = GRADIENT,
                        .in_program = tape_gradient(program, tape_parameter(program, parameter, &name)),
                        .in_oracle = tape_gradient(t, tape_parameter(t, parameter, NULL))};
    double share = (double)mat_size(s.in_oracle) / (double)tape_parameter_elements(t);
    s.rule = (struct rule){.limit = CHECK_LIMIT_GRADIENT, .floor = 1e-2 * p->gradients * sqrt(share)};
    snprintf(s.name, sizeof s.name, "gradient of %s", name);
    return s;
}

static double gradient_norm(const struct pair *p)
{
    double sum = 0;
    for (int i = 0; i + 2 < subject_count(p); i++)
        sum += squares(gradient_subject(p, i).in_oracle);
    return sqrt(sum);
}

/* The output, the loss, then the gradients of all parameters; after both have run. */
static struct subject subject_of(const struct pair *p, int index)
{
    const struct tape *t = p->oracle->tape;
    struct mat output = p->oracle->output, loss = p->oracle->loss;
    if (index > 1)
        return gradient_subject(p, index - 2);
    return index == 1 ? (struct subject){LOSS,
                                         "loss",
                                         p->program->loss,
                                         tape_view(t, loss),
                                         {.limit = CHECK_LIMIT_OUTPUT, .floor = loss_floor(t)}}
                      : (struct subject){OUTPUT,
                                         "output",
                                         p->program->output,
                                         tape_view(t, output),
                                         {.limit = CHECK_LIMIT_OUTPUT, .floor = output_floor(t, output)}};
}

/* Runs both from the parameters and inputs of the program. */
static void run_pair(struct pair *p)
{
    hand_over(p->program->tape, p->oracle->tape, 0);
    if (p->program->tape->config.ranks) /* it has only a part of the inputs */
        round_inputs(p->oracle->tape);
    tape_run_marked(p->oracle->tape, gather_for_next, p->oracle->tape);
    hand_back_statistics(p->oracle->tape, p->program->tape);
    tape_run(p->program->tape);
    p->gradients = gradient_norm(p);
}

/* What the program has, of all ranks, on the host; the caller frees the copy. */
static struct mat values_of(const struct pair *p, const struct subject *s, void **copy)
{
    const struct tape *t = p->program->tape;
    struct mat m = s->in_program;
    if (!t->config.ranks || s->kind == GRADIENT) /* which are summed over the ranks */
        return tape_read(t, m, copy);
    if (s->kind == OUTPUT) {
        m = tape_gather(t, m);
        *copy = m.data;
        return m;
    }
    double *loss = malloc(sizeof *loss);
    if (!loss)
        abort();
    *loss = tape_gather_loss(t, m);
    *copy = loss;
    return (struct mat){.data = loss, .rows = 1, .cols = 1, .ld = 1, .dtype = F64};
}

static void compare_one(struct check *c, const struct pair *p, const struct subject *s)
{
    void *copy;
    struct mat ours = values_of(p, s, &copy);
    check_tensor(c, s->name, ours, s->in_oracle, NULL, s->in_oracle.rows, s->rule);
    free(copy);
}

void check_whole(struct check *c, struct recording *ours, struct recording *oracle)
{
    struct pair p = {.program = ours, .oracle = oracle};
    run_pair(&p);
    for (int i = 0; i < subject_count(&p); i++) {
        struct subject s = subject_of(&p, i);
        compare_one(c, &p, &s);
    }
}

/* |program - oracle| of a tensor. */
static double distance(const struct pair *p, const struct subject *s)
{
    double sum = 0;
    void *copy;
    struct mat m = values_of(p, s, &copy);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += pow(mat_get(m, i, k) - mat_get(s->in_oracle, i, k), 2);
    free(copy);
    return sqrt(sum);
}

/* A tensor with a copy of what the oracle has for the exact inputs. */
struct kept {
    struct subject subject;
    double *values;
    double distance, error; /* |ours - oracle|, and the largest of float so far */
};

static void kept_free(struct kept *all, int count)
{
    for (int i = 0; all && i < count; i++)
        free(all[i].values);
    free(all);
}

/* Null without memory. */
static struct kept *keep_all(const struct pair *p)
{
    int count = subject_count(p);
    struct kept *all = calloc((size_t)count, sizeof *all);
    for (int i = 0; all && i < count; i++) {
        struct subject s = subject_of(p, i);
        struct mat from = s.in_oracle, to = from;
        all[i].distance = distance(p, &s);
        to.data = all[i].values = malloc((size_t)mat_size(from) * sizeof(double));
        to.ld = to.cols;
        if (!to.data) {
            kept_free(all, count);
            return NULL;
        }
        for (int64_t row = 0; row < from.rows; row++)
            for (int64_t k = 0; k < from.cols; k++)
                mat_set(to, row, k, mat_get(from, row, k));
        s.in_oracle = to;
        all[i].subject = s;
    }
    return all;
}

/* Runs both from parameters and inputs that are changed in the last bit, and raises the errors of float. */
static void raise_errors(struct kept *all, struct pair *rounded, uint64_t jitter)
{
    tape_init(rounded->oracle->tape);
    tape_init(rounded->program->tape);
    hand_over(rounded->program->tape, rounded->program->tape, jitter);
    run_pair(rounded);
    for (int i = 0; i < subject_count(rounded); i++) {
        struct subject s = subject_of(rounded, i);
        all[i].error = fmax(all[i].error, distance(rounded, &s));
    }
}

/* Compares with the errors of float so far. True if more of them cannot help: they are far too small. */
static bool compare_all(struct check *c, const struct pair *p, const struct kept *all)
{
    bool in_vain = false;
    *c = (struct check){0};
    for (int i = 0; i < subject_count(p); i++) {
        struct subject s = all[i].subject;
        struct check own = {0};
        s.rule.wide.limit = s.rule.limit;
        s.rule.wide.floor = CHECK_FORGIVEN / s.rule.limit * all[i].error;
        s.rule.wide.by = EXCEPTION_FLOAT;
        compare_one(&own, p, &s);
        in_vain |= own.excess > 1 && !(all[i].distance <= IN_VAIN * CHECK_FORGIVEN * all[i].error);
        check_add(c, &own);
    }
    return in_vain;
}

bool check_whole_again(struct check *c, struct recording *ours, struct recording *oracle,
                       struct recording *rounded)
{
    struct pair exact = {.program = ours, .oracle = oracle}, inexact = {.program = rounded, .oracle = oracle};
    exact.gradients = gradient_norm(&exact);
    struct kept *all = keep_all(&exact);
    bool going = true;
    for (uint64_t n = 1; all && n <= ERRORS && going; n++) {
        raise_errors(all, &inexact, n);
        bool in_vain = compare_all(c, &exact, all);
        going = c->excess > 1 && (!in_vain || n < FEW);
    }
    kept_free(all, subject_count(&exact));
    return all != NULL;
}
