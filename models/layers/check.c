/* The error measure, and the comparison of a whole program with the same program in double. */
#include "models/layers/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/tape/tape_internal.h"

/* Squared norms of the difference of two rows and of the oracle's row. */
static void row_norms(struct mat ours, struct mat oracle, int64_t i, double *difference, double *size)
{
    *difference = *size = 0;
    for (int64_t k = 0; k < ours.cols; k++) {
        double a = mat_get(ours, i, k), r = mat_get(oracle, i, k);
        *difference += (a - r) * (a - r);
        *size += r * r;
    }
}

/* The relative error: 0 / 0 counts as none, NaN as infinite. */
static double ratio(double difference, double size)
{
    double q = difference == 0 ? 0 : sqrt(difference / size);
    return isnan(q) ? INFINITY : q;
}

/* The error of a tensor, and the squared norm of the oracle's. */
struct error {
    double norm, worst_row, size;
};

static struct error error_of(struct mat ours, struct mat oracle, const int64_t *rows, int64_t count,
                             double floor)
{
    struct error e = {0};
    double difference = 0, d, s;
    for (int64_t n = 0; n < count; n++) {
        row_norms(ours, oracle, rows ? rows[n] : n, &d, &s);
        difference += d;
        e.size += s;
    }
    double size = fmax(e.size, floor * floor);
    for (int64_t n = 0; n < count; n++) {
        row_norms(ours, oracle, rows ? rows[n] : n, &d, &s);
        e.worst_row = fmax(e.worst_row, ratio(d, fmax(s, size / (double)count)));
    }
    e.norm = ratio(difference, size);
    return e;
}

/* The ratio of an error to its limit. */
static double excess_of(struct error e, double limit)
{
    return fmax(e.norm / limit, e.worst_row / (10 * limit));
}

static void note_exception(struct check *c, enum exception by, const char *name)
{
    if (c->excepted[by].tensors++ == 0)
        snprintf(c->excepted[by].first, TENSOR_NAME, "%s", name);
}

void check_tensor(struct check *c, const char *name, struct mat ours, struct mat oracle, const int64_t *rows,
                  int64_t count, struct rule rule)
{
    double limit = fmax(rule.limit, rule.wide.limit), floor = fmax(rule.floor, rule.wide.floor);
    struct error e = error_of(ours, oracle, rows, count, floor);
    double excess = excess_of(e, limit);
    c->tensors++;
    c->norm = fmax(c->norm, e.norm);
    c->worst_row = fmax(c->worst_row, e.worst_row);
    if (excess > c->excess || c->tensors == 1) {
        c->excess = excess;
        snprintf(c->tensor, sizeof c->tensor, "%s", name);
    }
    bool plain = limit == rule.limit && floor * floor <= e.size;
    if (excess > 1 || plain || excess_of(error_of(ours, oracle, rows, count, 0), rule.limit) <= 1)
        return;
    bool by_floor = excess_of(error_of(ours, oracle, rows, count, rule.floor), rule.limit) <= 1;
    note_exception(c, by_floor ? EXCEPTION_FLOOR : rule.wide.by, name);
}

void check_exceptions(const struct check *c, char text[CHECK_EXCEPTIONS_TEXT])
{
    static const char *const names[EXCEPTIONS] = {"floor", "three times the error of float", "cut operands"};
    size_t used = 0;
    text[0] = '\0';
    for (int x = 0; x < EXCEPTIONS; x++)
        if (c->excepted[x].tensors > 0)
            used += (size_t)snprintf(text + used, CHECK_EXCEPTIONS_TEXT - used,
                                     "%s%s (%d tensor%s, first %.100s)", used ? "; " : "", names[x],
                                     c->excepted[x].tensors, c->excepted[x].tensors == 1 ? "" : "s",
                                     c->excepted[x].first);
}

/* The storage with the same name and category in another tape of the same program. */
static const struct storage *counterpart(const struct tape *t, const struct storage *s)
{
    for (int i = 1; i < t->storage_count; i++)
        if (t->storages[i].category == s->category && t->storages[i].name &&
            !strcmp(t->storages[i].name, s->name))
            return &t->storages[i];
    tape_contract("check: the oracle has no %s", s->name);
}

/* Copies parameters and inputs exactly to the oracle, which is on the host. */
static void hand_over(const struct tape *from, const struct tape *to)
{
    for (int i = 1; i < from->storage_count; i++) {
        const struct storage *s = &from->storages[i];
        bool given = s->category == MEMORY_GRAPH || s->category == MEMORY_ENCODINGS;
        if ((s->category != MEMORY_PARAMETERS && !given) || s->alias || !dtype_is_real(s->dtype))
            continue;
        struct mat m = {.rows = s->rows, .cols = s->cols, .ld = s->cols, .dtype = s->dtype, .storage = i};
        void *copy;
        struct mat x = tape_read(from, m, &copy);
        double *y = (double *)((char *)to->arena + counterpart(to, s)->offset);
        for (int64_t n = 0; n < s->rows * s->cols; n++)
            y[n] = mat_get(x, 0, n);
        free(copy);
    }
}

static void compare_result(struct check *c, const char *name, const struct tape *ours, struct mat a,
                           const struct tape *oracle, struct mat r, double floor)
{
    if (!mat_present(a))
        return;
    void *copy;
    check_tensor(c, name, tape_read(ours, a, &copy), tape_view(oracle, r), NULL, a.rows,
                 (struct rule){.limit = CHECK_LIMIT_OUTPUT, .floor = floor});
    free(copy);
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

static void compare_gradients(struct check *c, const struct tape *ours, const struct tape *oracle)
{
    double all = 0;
    for (int p = 0; p < tape_parameter_count(oracle); p++)
        all += squares(tape_gradient(oracle, tape_parameter(oracle, p, NULL)));
    for (int p = 0; p < tape_parameter_count(ours); p++) {
        const char *name;
        struct mat m = tape_parameter(ours, p, &name), g = tape_gradient(ours, m);
        struct mat r = tape_gradient(oracle, tape_parameter(oracle, p, NULL));
        double floor = 1e-2 * sqrt(all * (double)mat_size(g) / (double)tape_parameter_elements(ours));
        char label[TENSOR_NAME];
        void *copy;
        snprintf(label, sizeof label, "gradient of %s", name);
        check_tensor(c, label, tape_read(ours, g, &copy), r, NULL, g.rows,
                     (struct rule){.limit = CHECK_LIMIT_GRADIENT, .floor = floor});
        free(copy);
    }
}

void check_whole(struct check *c, struct recording *ours, struct recording *oracle)
{
    hand_over(ours->tape, oracle->tape);
    tape_run(ours->tape);
    tape_run(oracle->tape);
    compare_result(c, "output", ours->tape, ours->output, oracle->tape, oracle->output,
                   output_floor(oracle->tape, oracle->output));
    compare_result(c, "loss", ours->tape, ours->loss, oracle->tape, oracle->loss, loss_floor(oracle->tape));
    if (mat_present(ours->loss))
        compare_gradients(c, ours->tape, oracle->tape);
}
