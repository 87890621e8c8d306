/* A configuration as JSON, written by --dump: what another framework needs to repeat the step. */
#ifndef GTMARK_BENCH_DESCRIBE_H
#define GTMARK_BENCH_DESCRIBE_H

#include "analysis/record/value.h"
#include "bench/cli/config.h"

/* The tape is the configuration's step on this batch, laid out and in its initial state. */
struct value *config_describe(const struct config *c, const struct options *o, const struct batch *b,
                              const struct tape *step);

#endif
