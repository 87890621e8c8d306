/* Flags that do not go together, and defaults that follow from other flags. */
#ifndef GTMARK_BENCH_CONFLICTS_H
#define GTMARK_BENCH_CONFLICTS_H

#include "bench/cli/options.h"

/* Checks options whose flags are all read, and fills in such defaults; false with a message. */
bool conflicts_check(struct options *o, struct message *error);

#endif
