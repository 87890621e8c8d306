/*
 * The comparison of a whole program with the same program in double.
 *
 * If it is beyond its limits, the error that float has is measured, for which the program is recorded with
 * ref's kernels in float: several times, since rounding errors may cancel by luck, with parameters and inputs
 * that differ in the last bit. Three times the largest error is allowed then. It is large where large terms
 * cancel and nothing averages the errors: in networks of width 1, with norms that leave a mean or a gradient
 * of exactly zero.
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
 * Copies parameters and inputs to another tape of the program, which is on the host; exactly, or changed in
 * the last bit of a float.
 */
static void hand_over(const struct tape *from, const struct tape *to, uint64_t jitter)
{
    for (int i = 1; i < from->storage_count; i++) {
        const struct storage *s = &from->storages[i];
        bool given = s->category == MEMORY_GRAPH || s->category == MEMORY_ENCODINGS;
        if ((s->category != MEMORY_PARAMETERS && !given) || s->alias || !dtype_is_real(s->dtype))
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

static double squares(struct mat m)
{
    double sum = 0;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += mat_get(m, i, k) * mat_get(m, i, k);
    return sum;
}

/* 1e-2 mean(y^2 + target^2) of the tape's mean squared error, 0 if there is none. */
static double loss_floor(const struct tape *t)
{
    for (int e = 0; e < tape_entry_count(t); e++)
        if (tape_entry(t, e)->op == OP_mse) {
            const struct mse_args *a = tape_entry(t, e)->args;
            return 1e-2 * (squares(a->y) + squares(a->target)) / (double)mat_size(a->y);
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
    struct subject s = {.in_program = tape_gradient(program, tape_parameter(program, parameter, &name)),
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
    return index == 1 ? (struct subject){"loss",
                                         p->program->loss,
                                         tape_view(t, loss),
                                         {.limit = CHECK_LIMIT_OUTPUT, .floor = loss_floor(t)}}
                      : (struct subject){"output",
                                         p->program->output,
                                         tape_view(t, output),
                                         {.limit = CHECK_LIMIT_OUTPUT, .floor = output_floor(t, output)}};
}

/* Runs both from our parameters and inputs, which are exact or changed in the last bit. */
static void run_pair(struct pair *p, const struct tape *ours, uint64_t jitter)
{
    if (p->program->tape != ours)
        hand_over(ours, p->program->tape, jitter);
    hand_over(ours, p->oracle->tape, jitter);
    tape_run(p->program->tape);
    tape_run(p->oracle->tape);
    p->gradients = gradient_norm(p);
}

static void compare_one(struct check *c, const struct pair *p, const struct subject *s)
{
    void *copy;
    check_tensor(c, s->name, tape_read(p->program->tape, s->in_program, &copy), s->in_oracle, NULL,
                 s->in_oracle.rows, s->rule);
    free(copy);
}

/* errors: of float, of each tensor; null: not measured. */
static void compare_whole(struct check *c, const struct pair *p, const double *errors)
{
    for (int i = 0; i < subject_count(p); i++) {
        struct subject s = subject_of(p, i);
        if (errors) {
            s.rule.wide.limit = s.rule.limit;
            s.rule.wide.floor = CHECK_FORGIVEN / s.rule.limit * errors[i];
            s.rule.wide.by = EXCEPTION_FLOAT;
        }
        compare_one(c, p, &s);
    }
}

void check_whole(struct check *c, struct recording *ours, struct recording *oracle)
{
    struct pair p = {.program = ours, .oracle = oracle};
    run_pair(&p, ours->tape, 0);
    compare_whole(c, &p, NULL);
}

/* |program - oracle| of a tensor. */
static double distance(const struct pair *p, const struct subject *s)
{
    double sum = 0;
    void *copy;
    struct mat m = tape_read(p->program->tape, s->in_program, &copy);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            sum += pow(mat_get(m, i, k) - mat_get(s->in_oracle, i, k), 2);
    free(copy);
    return sqrt(sum);
}

/* The distances of tensors that are beyond their limits; 0 of the others. */
static void note_beyond(double *beyond, const struct pair *p)
{
    for (int i = 0; i < subject_count(p); i++) {
        struct subject s = subject_of(p, i);
        struct check own = {0};
        compare_one(&own, p, &s);
        beyond[i] = own.excess > 1 ? distance(p, &s) : 0;
    }
}

/* Raises the errors of float to those of another run. False if that is in vain: they are far too small. */
static bool note_whole(double *errors, const double *beyond, const struct pair *rounded)
{
    bool in_vain = false;
    for (int i = 0; i < subject_count(rounded); i++) {
        struct subject s = subject_of(rounded, i);
        errors[i] = fmax(errors[i], distance(rounded, &s));
        in_vain = in_vain || !(beyond[i] <= IN_VAIN * CHECK_FORGIVEN * errors[i]);
    }
    return !in_vain;
}

bool check_whole_again(struct check *c, struct recording *ours, struct recording *oracle,
                       struct recording *rounded)
{
    struct pair exact = {.program = ours, .oracle = oracle}, inexact = {.program = rounded, .oracle = oracle};
    int count = subject_count(&exact);
    double *errors = calloc((size_t)(2 * count), sizeof *errors), *beyond = errors + count;
    bool going = true;
    if (!errors)
        return false;
    exact.gradients = gradient_norm(&exact);
    note_beyond(beyond, &exact);
    for (uint64_t n = 1; n <= ERRORS && going; n++) {
        tape_init(oracle->tape);
        tape_init(rounded->tape);
        run_pair(&inexact, ours->tape, n);
        going = note_whole(errors, beyond, &inexact) || n < FEW;
    }
    tape_init(ours->tape);
    tape_init(oracle->tape);
    run_pair(&exact, ours->tape, 0);
    compare_whole(c, &exact, errors);
    free(errors);
    return true;
}
