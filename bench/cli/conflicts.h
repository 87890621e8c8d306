/* Conflicts between flags, and defaults that depend on other flags. */
#ifndef GTMARK_BENCH_CONFLICTS_H
#define GTMARK_BENCH_CONFLICTS_H

#include "bench/cli/options.h"

/* Checks the options after all flags are read, and sets such defaults; false with a message. */
bool conflicts_check(struct options *o, struct message *error);

#endif
