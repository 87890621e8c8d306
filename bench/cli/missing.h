/*
 * Configurations that a device has no kernels for: a backend without another one below it need not have every
 * op. A sweep skips their rows; it is refused if it has no others, unless it is over presets.
 */
#ifndef GTMARK_BENCH_MISSING_H
#define GTMARK_BENCH_MISSING_H

#include "bench/cli/config.h"

/*
 * Whether the device has a kernel for every op of the programs that are measured, in some configuration; in
 * every one where none can be left out. Otherwise a message that names the device, the axis whose value needs
 * the op, and the values of that axis that do not.
 */
bool missing_check(const struct options *o, struct message *error);

enum { MISSING_REASON = 256 };

/* Whether a sweep skips the row of the configuration, for want of a kernel or of work for all ranks
 * (together.h), and why. */
bool missing_is_skipped(const struct options *o, const struct config *c, char reason[MISSING_REASON]);

#endif
