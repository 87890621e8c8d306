/* What several ranks can run together. */
#ifndef GTMARK_BENCH_TOGETHER_H
#define GTMARK_BENCH_TOGETHER_H

#include "bench/cli/config.h"

/* Whether every configuration with --ranks above 1 is possible; otherwise a message with what is in the way.
 */
bool together_check(const struct options *o, struct message *error);

#endif
