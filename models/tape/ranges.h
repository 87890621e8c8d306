/*
 * Nested ranges of a replay for profilers of a device: the phase, and within it the words of the span, e.g.
 * backward > layer1 > attention > qkv.
 */
#ifndef GTMARK_MODELS_RANGES_H
#define GTMARK_MODELS_RANGES_H

#include "kernels/backend.h"

/* The current position in a replay. */
struct ranges {
    const struct device *device;
    void *context;
    const char *phase, *span; /* null: no range is open */
};

/*
 * Closes the ranges that the next entry is not in and opens its own. The names must stay valid until the next
 * call.
 */
void ranges_move(struct ranges *r, const char *phase, const char *span);

/* Closes all ranges. */
void ranges_leave(struct ranges *r);

#endif
