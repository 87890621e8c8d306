/* Configurations that a device has no kernels for: a backend without another one below it need not have every
 * op. */
#ifndef GTMARK_BENCH_MISSING_H
#define GTMARK_BENCH_MISSING_H

#include "bench/cli/config.h"

/*
 * Whether the device has a kernel for every op of the programs that are measured, in every possible
 * configuration. Otherwise a message that names the device, the axis whose value needs the op, and the values
 * of that axis that do not.
 */
bool missing_check(const struct options *o, struct message *error);

#endif
