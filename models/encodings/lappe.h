/* Laplacian positional encodings of a batch (models/encodings/encoding.h says what they are). */
#ifndef GTMARK_MODELS_LAPPE_H
#define GTMARK_MODELS_LAPPE_H

#include "models/encodings/encoding.h"

/*
 * Computes the encoding c->kind, lap or lap-pyg, of c->k pairs by c->solver. False with a line in error where
 * the batch is directed, the solver is not in this build or says that it failed, memory is refused, or it is
 * cancelled; then there is nothing to free. A solver that does not converge is no error: out->excess is above
 * 1 then.
 */
bool lappe_compute(const struct encoding_config *c, const struct batch *b,
                   const struct encoding_options *with, struct encoding *out, char *error, size_t error_size);

/*
 * Makes the vectors' norms 1 and their signs canonical, replaces eigenvalues other than 0 by the Rayleigh
 * quotients of the vectors as they are in e, and sets e's residual and excess. False without memory.
 */
bool lappe_finish(struct encoding *e, const struct encoding_config *c, const struct batch *b, int threads);

#endif
