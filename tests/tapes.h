/* Small tapes for tests: record, run in double on the reference, compare gradients with central differences.
 */
#ifndef GTMARK_TESTS_TAPES_H
#define GTMARK_TESTS_TAPES_H

#include "models/tape/tape.h"

/* A training tape in double on the reference, for recording a forward pass. */
struct tape *tape_new_in_double(void);

/* Records the backward pass of the scalar `loss`, lays the tape out and initialises it. */
void tape_make_ready(struct tape *t, struct mat loss);

/* Records a forward pass and returns its loss, a scalar. */
typedef struct mat (*recorder)(struct tape *t);

/* All of the above steps. */
struct tape *tape_in_double(recorder record, struct mat *loss);

/* A scalar of a tape that has run, in any dtype. */
double tape_scalar(const struct tape *t, struct mat m);

/*
 * The relative error, in the 2-norm over all parameters, of the recorded gradients against central
 * differences of the loss, one parameter entry at a time. The tape must be in double, laid out and
 * initialised.
 */
double tape_gradient_error(struct tape *t, struct mat loss);

/* The same, for a tape created for this. */
double gradient_error(recorder record);

#endif
