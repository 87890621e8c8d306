/* Defaults that depend on other flags. */
#ifndef GTMARK_BENCH_DEFAULTS_H
#define GTMARK_BENCH_DEFAULTS_H

#include "bench/cli/options.h"

/* Sets them after all flags are read; false with a message. */
bool defaults_set(struct options *o, struct message *error);

#endif
