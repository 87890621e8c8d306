/* FLOPs counted rather than computed: the reference's own loops over a type that only counts. */
#ifndef GTMARK_MODELS_COUNT_H
#define GTMARK_MODELS_COUNT_H

#include "models/tape/tape.h"

/*
 * The FLOPs that ref's loops do in one replay. Each distinct op and shape is counted once. The tape must be
 * laid out and initialised. Returns -1 if an entry has more than `limit` FLOPs, which would take too long.
 */
int64_t tape_count(const struct tape *t, int64_t limit);

#endif
