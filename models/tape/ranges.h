/*
 * Nested ranges of a replay for a tool that shows what a device does: the phase, and within it the span's
 * parts, as in backward > layer1 > attention > qkv.
 */
#ifndef GTMARK_MODELS_RANGES_H
#define GTMARK_MODELS_RANGES_H

#include "kernels/backend.h"

/* Where a replay is. */
struct ranges {
    const struct device *device;
    void *context;
    const char *phase, *span; /* null: in no range */
};

/* Leaves the ranges that what comes next is not in, and enters its own. The names must live until the next
 * move. */
void ranges_move(struct ranges *r, const char *phase, const char *span);

/* Leaves all. */
void ranges_leave(struct ranges *r);

#endif
