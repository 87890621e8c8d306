/*
 * Is what a tape computed right? Two readings of a tape against double precision, with the same measure of
 * error.
 *
 * Error of a tensor a against the oracle's r: |a - r| / max(|r|, floor) in the 2-norm. For gradients the
 * floor is 1e-2 |g| sqrt(n / n_all), with g all gradients together, n the entries of this one and n_all of
 * all: some gradients are exactly zero (a key bias), and rounding is no error there. Beside it the worst
 * single row, over the larger of its own norm and the tensor's root-mean-square row norm. Outputs and the
 * loss that are small because large terms cancel have floors of their own (METRICS.md, "Error").
 */
#ifndef GTMARK_MODELS_CHECK_H
#define GTMARK_MODELS_CHECK_H

#include "models/layers/model.h"

/* Largest errors allowed in f32; a single row may have ten times as much, and kernel_allowance that often. */
#define CHECK_LIMIT_OUTPUT   1e-5 /* outputs and the loss */
#define CHECK_LIMIT_GRADIENT 1e-4

struct check {
    int tensors;            /* compared so far */
    double norm, worst_row; /* the largest of all */
    double excess;          /* the largest error over its limit: above 1 the result is wrong */
    char tensor[128];       /* which has the largest excess */
};

/*
 * Compares rows of a tensor (f32, f64 or whole numbers) with the oracle's (f64, or the same) and adds what it
 * finds to the check. `rows` null: all. A value that is not finite has an infinite error.
 */
void check_tensor(struct check *c, const char *name, struct mat ours, struct mat oracle, const int64_t *rows,
                  int64_t count, double floor, double limit);

/*
 * The whole program: gives the oracle the same parameters and inputs, runs both once and compares output,
 * loss and every gradient. Both recordings are of the same program, laid out and initialised;
 * `oracle` is in double.
 */
void check_whole(struct check *c, struct recording *ours, struct recording *oracle);

/*
 * Op by op: runs the program once and after each entry recomputes, in double, by ref and from the entry's
 * actual inputs, the first, the last and 64 seeded rows of each of its outputs. Needs memory for the operands
 * of one entry in double and in float. False if there is none.
 */
bool check_rows(struct check *c, struct tape *t, uint64_t seed);

#endif
