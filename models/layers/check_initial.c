/*
 * Checks the state that a program starts from, which a comparison with the oracle cannot do: the oracle
 * starts from the same one.
 *
 * What a matrix must hold follows from the ops that read it:
 *
 *   weight and bias of linear    uniform on +-1 / sqrt(D), with D the columns of the layer's whole weight
 *   gain and bias of norms       1 and 0; running mean and variance 0 and 1
 *   moments of AdamW             0
 *   features and targets         uniform on +-1
 *
 * The largest of n numbers that are uniform on +-bound is below (1 - s / n) bound with probability
 * (1 - s / n)^n < e^-s: 2e-9 for s = 20.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/layers/check.h"
#include "models/tape/tape_internal.h"

static const double SPREAD = 20;

/* By how much storing a value can change it. */
static double rounding_of(enum dtype dtype)
{
    return dtype == BF16 ? 0x1p-8 : 1e-6;
}

/* The smallest and the largest entry of a matrix. */
struct range {
    double least, most;
};

static struct range range_of(const struct tape *t, struct mat m)
{
    struct range r = {INFINITY, -INFINITY};
    void *copy;
    m = tape_read(t, m, &copy);
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t k = 0; k < m.cols; k++) {
            double value = mat_get(m, i, k);
            r.least = value < r.least ? value : r.least;
            r.most = value > r.most ? value : r.most;
        }
    free(copy);
    return r;
}

static void expect_uniform(struct check *c, const struct tape *t, const char *name, struct mat m,
                           double bound)
{
    struct range r = range_of(t, m);
    double most = fmax(r.most, -r.least), rounding = rounding_of(m.dtype);
    double least = fmax(0, 1 - SPREAD / (double)mat_size(m) - rounding) * bound;
    bound *= 1 + rounding;
    if (!(most >= least && most <= bound))
        check_found(c, "initialisation: the largest of the %lld values of %s is %.6g, not from %.6g to %.6g",
                    (long long)mat_size(m), name, most, least, bound);
}

static void expect_constant(struct check *c, const struct tape *t, const char *name, struct mat m,
                            double value)
{
    struct range r = range_of(t, m);
    if (r.least != value || r.most != value)
        check_found(c, "initialisation: the values of %s are from %.6g to %.6g, not %g", name, r.least,
                    r.most, value);
}

/* The initial value of an operand, by its name in ops.def and the category of its storage. */
static const struct constant {
    const char *operand;
    enum category category;
    double value;
} constants[] = {
    {"gain", MEMORY_PARAMETERS, 1},   {"bias", MEMORY_PARAMETERS, 0}, {"running_mean", MEMORY_STATE, 0},
    {"running_var", MEMORY_STATE, 1}, {"m", MEMORY_OPTIMIZER, 0},     {"v", MEMORY_OPTIMIZER, 0},
};

static void check_constants(struct check *c, const struct tape *t, const struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat m = operand_is_mat(o) ? *operand_mat(o, e->args) : (struct mat){0};
        const struct storage *s = &t->storages[m.storage];
        for (size_t n = 0; n < sizeof constants / sizeof *constants && mat_present(m); n++)
            if (s->category == constants[n].category && strcmp(o->name, constants[n].operand) == 0)
                expect_constant(c, t, s->name, m, constants[n].value);
    }
}

static void check_linear(struct check *c, const struct tape *t, const struct linear_args *a)
{
    const struct mat both[] = {a->w, a->b};
    int64_t inputs = t->storages[a->w.storage].cols; /* the weight may be some columns of one */
    for (int i = 0; i < 2; i++)
        if (mat_present(both[i]) && t->storages[both[i].storage].category == MEMORY_PARAMETERS)
            expect_uniform(c, t, t->storages[both[i].storage].name, both[i], 1 / sqrt((double)inputs));
}

void check_initial(struct check *c, const struct tape *t)
{
    for (int i = 0; i < tape_entry_count(t); i++) {
        const struct entry *e = tape_entry(t, i);
        if (e->op == OP_linear)
            check_linear(c, t, e->args);
        else if (e->phase != PHASE_BACKWARD)
            check_constants(c, t, e);
    }
    for (int i = 0; i < tape_input_count(t); i++) {
        const char *name;
        struct mat m = tape_input(t, i, &name);
        bool drawn = strcmp(name, "features") == 0 || strcmp(name, "targets") == 0;
        drawn = drawn && !t->storages[m.storage].from; /* not of the graph's files */
        if (drawn && dtype_is_real(m.dtype))           /* not types */
            expect_uniform(c, t, name, m, 1);
    }
}
