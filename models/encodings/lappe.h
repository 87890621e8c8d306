/* Laplacian positional encodings of a batch; models/encodings/encoding.h defines them. */
#ifndef GTMARK_MODELS_LAPPE_H
#define GTMARK_MODELS_LAPPE_H

#include "models/encodings/encoding.h"

/*
 * Computes the encoding c->kind, lap or lap-pyg, of c->k pairs with c->solver. Returns false, with a message
 * in error and nothing to free, when the batch is directed, when the solver is not in this build or fails,
 * when out of memory, or when cancelled. A solver that does not converge is not an error: out->excess is then
 * above 1.
 */
bool lappe_compute(const struct encoding_config *c, const struct batch *b,
                   const struct encoding_options *with, struct encoding *out, char *error, size_t error_size);

/*
 * Normalises the vectors, makes their signs canonical, replaces nonzero eigenvalues by the Rayleigh quotients
 * of the vectors as stored in e, and sets e's residual and excess. Returns false when out of memory.
 */
bool lappe_finish(struct encoding *e, const struct encoding_config *c, const struct batch *b, int threads);

#endif
