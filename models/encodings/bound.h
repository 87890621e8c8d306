/* Upper bounds of what computing an encoding takes, and what is likely, from the shape of the batch alone. */
#ifndef GTMARK_MODELS_ENCODING_BOUND_H
#define GTMARK_MODELS_ENCODING_BOUND_H

#include "models/encodings/encoding.h"

struct encoding_bound {
    int64_t flops, bytes, peak; /* not less than cost and peak of struct encoding; -1 beyond 63 bits */
    const char *label;          /* what they assume: "every walk reaches every node" */
    bool iterates;              /* a solver: FLOPs and bytes have no bound, and are -1 */
};

/* For any graphs with these numbers of nodes and edges. */
struct encoding_bound encoding_bound(const struct encoding_config *c, const struct batch *b, int threads);

/* FLOPs, to divide work by. */
double encoding_likely_flops(const struct encoding_config *c, const struct batch *b);

#endif
