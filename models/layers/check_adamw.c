/*
 * Checks AdamW, entry by entry, in double (kernels/ref/adamw.c has the mathematics).
 *
 * Entries of the update are not a small difference of anything that AdamW reads: with u = 2^-24, a float
 * result differs from the exact one by a few u times the size of its terms,
 *
 *   m   |b1 m| + |(1 - b1) g|
 *   v   b2 v + (1 - b2) g^2
 *   p   |p| + lr / (1 - b1^t) (|b1 m| + |(1 - b1) g|) / (sqrt(v / (1 - b2^t)) + eps)
 *
 * A factor of 32 covers the orders in which these can be rounded. No formula is compared with a matrix' norm,
 * in which a few wrong entries of many would not show.
 */
#include <math.h>
#include <stdlib.h>

#include "models/layers/check_choice.h"
#include "models/tape/tape_internal.h"

static const double ROUNDINGS = 32;  /* times u, relative to the size of the terms */
static const double TINY = 0x1p-120; /* absolute: squares of gradients below 1e-19 are denormal in float */

enum { P, M, V, MOVED };

/* The state before the run, MOVED arrays of n doubles. */
struct before {
    int64_t n;
    double *at[MOVED];
    double t, lr;
};

/* Factors of a step. */
struct factors {
    double beta1, beta2, keep, rate, unbias2, eps, unit;
};

/* The first entry of an op; -1: there is none. */
static int find(const struct tape *t, enum op op)
{
    int i = 0;
    while (i < tape_entry_count(t) && tape_entry(t, i)->op != op)
        i++;
    return i < tape_entry_count(t) ? i : -1;
}

static void copy_floats(double *to, const struct tape *t, struct mat m)
{
    void *copy;
    m = tape_read(t, m, &copy);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++)
            to[i * m.cols + k] = mat_get(m, i, k);
    free(copy);
}

static bool remember_state(struct before *b, const struct tape *t, const struct adamw_args *a)
{
    const struct mat moved[MOVED] = {a->p, a->m, a->v};
    double schedule[2];
    b->n = mat_size(a->p);
    b->at[P] = malloc((size_t)(MOVED * b->n) * sizeof **b->at);
    for (int i = 0; i < MOVED && b->at[P]; i++) {
        b->at[i] = b->at[P] + i * b->n;
        copy_floats(b->at[i], t, moved[i]);
    }
    copy_floats(schedule, t, a->schedule);
    b->t = schedule[0];
    b->lr = schedule[1];
    return b->at[P];
}

static struct factors factors_of(const struct adamw_args *a, double t, double lr)
{
    return (struct factors){.beta1 = a->beta1,
                            .beta2 = a->beta2,
                            .keep = 1 - lr * a->decay,
                            .rate = lr / (1 - pow(a->beta1, t)),
                            .unbias2 = 1 / (1 - pow(a->beta2, t)),
                            .eps = a->eps,
                            .unit = a->p.dtype == F64 ? 0x1p-53 : 0x1p-24};
}

/* What an entry becomes, and by how much it may differ. */
static void step(const struct factors *f, const double from[MOVED], double g, double to[MOVED],
                 double allowed[MOVED])
{
    double old = f->beta1 * from[M], add = (1 - f->beta1) * g, near = ROUNDINGS * f->unit;
    to[M] = old + add;
    to[V] = f->beta2 * from[V] + (1 - f->beta2) * g * g;
    double share = f->rate / (sqrt(f->unbias2 * to[V]) + f->eps);
    to[P] = f->keep * from[P] - share * to[M];
    allowed[M] = near * (fabs(old) + fabs(add)) + TINY;
    allowed[V] = near * to[V] + TINY;
    allowed[P] = near * fabs(from[P]) + share * allowed[M];
}

/* The parameter that entry i of the vector of all parameters belongs to; the position within it. */
static const char *parameter_at(const struct tape *t, int64_t i, int64_t *place)
{
    const char *name = "kernel";
    *place = i;
    for (int p = 0; p < tape_parameter_count(t); p++) {
        int64_t n = mat_size(tape_parameter(t, p, &name));
        if (*place < n)
            break;
        *place -= n;
    }
    return name;
}

/* The first entry that is off by more than is allowed. */
static void compare_update(struct check *c, const struct tape *t, const struct adamw_args *a,
                           const struct before *b, const struct factors *f)
{
    static const char *const names[MOVED] = {"p", "m", "v"};
    const struct mat moved[MOVED] = {a->p, a->m, a->v};
    struct mat ours[MOVED];
    void *copies[MOVED], *copy;
    struct mat g = tape_read(t, a->g, &copy);
    for (int k = 0; k < MOVED; k++)
        ours[k] = tape_read(t, moved[k], &copies[k]);
    for (int64_t i = 0; i < b->n && !*c->found; i++) {
        int64_t row = i / a->p.cols, col = i % a->p.cols, place;
        double from[MOVED] = {b->at[P][i], b->at[M][i], b->at[V][i]}, right[MOVED], allowed[MOVED];
        step(f, from, mat_get(g, row, col), right, allowed);
        for (int k = 0; k < MOVED; k++) {
            double is = mat_get(ours[k], row, col);
            if (!(fabs(is - right[k]) <= allowed[k])) {
                const char *name = parameter_at(t, i, &place);
                check_found(c, "adamw: %s of entry %lld of %s is %.9g, not %.9g (allowed: %.2g more or less)",
                            names[k], (long long)place, name, is, right[k], allowed[k]);
            }
        }
    }
    for (int k = 0; k < MOVED; k++)
        free(copies[k]);
    free(copy);
}

/* Whether what ops read of the parameters, in BF16, is what they have become, rounded. */
static void compare_copies(struct check *c, const struct tape *t)
{
    for (int i = 1; i < t->storage_count; i++) {
        const struct storage *s = &t->storages[i];
        if (!s->copy)
            continue;
        void *of_p, *of_y;
        struct mat p = tape_read(t, whole_view(s, i), &of_p);
        struct mat y = tape_read(t, whole_view(&t->storages[s->copy], s->copy), &of_y);
        for (int64_t n = 0; n < mat_size(p); n++) {
            double is = mat_get(y, 0, n), right = (double)float_of_bf16(bf16_of_double(mat_get(p, 0, n)));
            if (is != right && !(isnan(is) && isnan(right)))
                check_found(c, "cast: after the step entry %lld of the copy of %s is %.9g, not %.9g",
                            (long long)n, s->name, is, right);
        }
        free(of_p);
        free(of_y);
    }
}

bool check_adamw(struct check *c, struct tape *t)
{
    int entry = find(t, OP_adamw);
    struct before b;
    double schedule[2];
    if (entry < 0)
        return true;
    const struct adamw_args *a = tape_entry(t, entry)->args;
    check_tell(c, OP_adamw, entry, tape_entry_count(t));
    if (!remember_state(&b, t, a))
        return false;
    tape_run(t);
    bool done = !tape_is_cancelled(t);
    if (done) {
        copy_floats(schedule, t, a->schedule);
        struct factors f = factors_of(a, schedule[0], schedule[1]);
        if (schedule[0] != b.t + (find(t, OP_advance) >= 0) || schedule[1] != b.lr)
            check_found(c, "adamw: after step %g with rate %g come step %g and rate %g", b.t, b.lr,
                        schedule[0], schedule[1]);
        if (tape_parameter_count(t) > 0 && b.n != tape_parameter_elements(t))
            check_found(c, "adamw: it moves %lld of %lld parameters", (long long)b.n,
                        (long long)tape_parameter_elements(t));
        check_tell(c, OP_adamw, entry, tape_entry_count(t));
        compare_update(c, t, a, &b, &f);
        compare_copies(c, t);
    }
    free(b.at[P]);
    return done;
}
