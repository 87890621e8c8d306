/* Stopping long computations. */
#ifndef GTMARK_KERNELS_CANCEL_H
#define GTMARK_KERNELS_CANCEL_H

#include <stdbool.h>

/*
 * A callback that long computations poll for cancellation; a cancelled computation leaves no usable result.
 * Once it returns true it must keep doing so, and it must be thread-safe. Null: never cancelled.
 */
struct cancel {
    bool (*asked)(const void *context);
    const void *context;
};

#define NEVER_CANCELLED ((struct cancel){0})

static inline bool is_cancelled(struct cancel h)
{
    return h.asked && h.asked(h.context);
}

#endif
