/* What is refused of a command line: a message that names flags, values and what is allowed. */
#ifndef GTMARK_BENCH_REFUSALS_H
#define GTMARK_BENCH_REFUSALS_H

#include "bench/cli/config.h"

/* Whether the flags, as they are given, agree. */
bool flags_are_possible(const struct options *o, struct message *error);

/* Whether the plan is possible: it as a whole, and each configuration. A sweep may have some that it skips
 * (config_is_skipped), unless it has no others; a sweep over presets may have none. */
bool plan_is_possible(const struct options *o, struct message *error);

/* Of the flags: whether tables have the one file that they belong to. */
bool tables_are_possible(const struct options *o, struct message *error);

/* Of the plan: whether files can be read, unless they are too large for the memory, which makes rows of its
 * own; and whether some model takes each table. */
bool files_are_readable(const struct options *o, struct message *error);

#endif
