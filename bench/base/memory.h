/*
 * Resident memory, measured in a separate pass: the pages of the arena are released, the high-water mark of
 * resident memory is reset, and the program runs once from its initial state.
 */
#ifndef GTMARK_BENCH_MEMORY_H
#define GTMARK_BENCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "models/tape/tape.h"

struct resident {
    int64_t program;   /* bytes by which the run raised the high-water mark; -1 on a device, with a reason */
    int64_t libraries; /* bytes resident before the run: code, libraries, allocator, threads; on a device what
                          is allocated beside the arena: contexts, library handles, other programs */
};

/* False with a reason if the kernel cannot measure it. The tape is in its initial state afterwards. */
bool memory_measure(struct tape *t, struct resident *r, const char **reason);

#endif
