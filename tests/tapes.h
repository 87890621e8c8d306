/* Small tapes for tests: record, run in double on the reference, compare gradients with central differences.
 */
#ifndef GTMARK_TESTS_TAPES_H
#define GTMARK_TESTS_TAPES_H

#include "models/tape.h"

/* Records a forward pass and returns its loss, a scalar. */
typedef struct mat (*record_function)(struct tape *t);

/* A training tape in double on the reference, recorded with its backward pass, laid out and initialised. */
struct tape *tape_in_double(record_function record, struct mat *loss);

/* A scalar of a tape that has run, in either dtype. */
double tape_scalar(const struct tape *t, struct mat m);

/*
 * The relative error, in the 2-norm over all parameters, of the recorded gradients against central
 * differences of the loss, one parameter entry at a time.
 */
double gradient_error(record_function record);

#endif
