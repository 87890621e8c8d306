/* Encodings of batches for tests. */
#ifndef GTMARK_TESTS_ENCODINGS_H
#define GTMARK_TESTS_ENCODINGS_H

#include "models/encoding.h"

/*
 * An encoding in its shapes alone: seeded numbers instead of walks or eigenvectors. Those of pairs that a
 * graph does not have are not numbers, so that whoever reads one shows. Free it with encoding_free.
 */
struct encoding encoding_sample(const struct encoding_config *c, const struct batch *b);

/* The same encoding of the batch with other labels: node i became node to[i]. */
struct encoding encoding_relabelled(const struct encoding *e, const int64_t *to);

#endif
