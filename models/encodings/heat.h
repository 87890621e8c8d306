/*
 * The diagonal of the heat kernel, without what stays for ever (HKdiagSE in Rampasek et al., "Recipe for a
 * general, powerful, scalable graph transformer", 2022): with the eigenpairs (lambda, v) of L = D - A,
 *
 *     h_i(t) = sum over lambda > 0 of exp(-t lambda) v_i^2 = (exp(-t L))_ii - 1 / size of i's component
 *
 * at the times t = 1 .. K. Duplicate edges count as often as they occur, loops do not count.
 */
#ifndef GTMARK_MODELS_HEAT_H
#define GTMARK_MODELS_HEAT_H

#include "models/encodings/encoding.h"

/* Components of more nodes are never solved by LAPACK. */
enum { HEAT_DENSE_MOST = 4096 };

/* Chebyshev FLOPs that take as long as one of LAPACK's: 8 to 14 were measured, on a Zen 4 with OpenBLAS. */
enum { HEAT_FASTER = 8 };

/*
 * Computes c, of kind ENCODING_HEAT, for the batch: by the eigenpairs that LAPACK finds, or by a Chebyshev
 * expansion, whichever takes less work; SOLVER_LAPACK and SOLVER_ITERATIVE ask for one of them. The error is
 * below 3e-7. The expansion gives the same bits for any number of threads. When the batch is directed,
 * without memory, or cancelled: returns false, with a message in error and an empty `out`.
 */
bool heat_compute(const struct encoding_config *c, const struct batch *b, const struct encoding_options *with,
                  struct encoding *out, char *error, size_t error_size);

/*
 * The number of steps of the Chebyshev recurrence that K times need if no eigenvalue exceeds `largest`: half
 * of the degree of the expansion, rounded up.
 */
int64_t heat_steps(int64_t k, double largest);

/* FLOPs that LAPACK's way charges for a component of n nodes. */
double heat_dense_flops(double n, double k);

/* Doubles that it takes for each thread, for components of at most n nodes. */
int64_t heat_dense_work(int64_t n);

#endif
