/*
 * Resident memory, measured in a separate pass: the pages of the arena are released, the high-water mark of
 * resident memory is reset, and the program runs once from its initial state.
 */
#ifndef GTMARK_BENCH_MEMORY_H
#define GTMARK_BENCH_MEMORY_H

#include "analysis/record/row_struct.h"
#include "models/tape/tape.h"

/*
 * Sets to->memory.resident and libraries, on a device only libraries: what is allocated beside the arena
 * (contexts, library handles, other programs). Returns why one is absent. The tape is in its initial state
 * afterwards.
 */
const char *memory_measure(struct tape *t, struct row_program *to);

#endif
