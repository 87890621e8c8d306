#include "models/layers/check_statistics.h"

#include <math.h>

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

void gather_for_next(const struct tape *t, int entry)
{
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

void hand_back_statistics(const struct tape *oracle, const struct tape *program)
{
    const struct batch_norm_inference_args *from, *to;
    for (int e = 0, p = 0; (from = next_inference(oracle, &e)) && (to = next_inference(program, &p));) {
        tape_spread(program, to->running_mean, from->running_mean);
        tape_spread(program, to->running_var, from->running_var);
    }
}
