/* What several ranks can run together. */
#ifndef GTMARK_BENCH_TOGETHER_H
#define GTMARK_BENCH_TOGETHER_H

#include "bench/cli/config.h"

/* Why a way to go parallel ends before so many ranks; null: it does not. */
const char *together_beyond(const struct config *c);

/*
 * Whether every configuration with --ranks above 1 is possible; otherwise a message with what is in the way.
 * Those beyond the ranks of their way are left to be skipped, if there are others.
 */
bool together_check(const struct options *o, struct message *error);

#endif
