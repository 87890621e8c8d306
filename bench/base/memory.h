/*
 * Memory as the kernel gave it, in a pass of its own: the arena's pages are given back, the high-water mark
 * of resident memory is reset, and one run from the initial state follows.
 */
#ifndef GTMARK_BENCH_MEMORY_H
#define GTMARK_BENCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "models/tape/tape.h"

struct resident {
    int64_t program;   /* bytes by which the run raised the high-water mark; -1 on a device, with a reason */
    int64_t libraries; /* bytes resident before it: code, libraries, allocator, and their threads; on a device
                          what is taken beside the arena: contexts, library handles, other programs */
};

/* False with a reason where the kernel does not let itself be asked. The tape is in its initial state
 * afterwards. */
bool memory_measure(struct tape *t, struct resident *r, const char **reason);

#endif
