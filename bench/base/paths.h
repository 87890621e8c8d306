#ifndef GTMARK_BENCH_PLACE_H
#define GTMARK_BENCH_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "bench/base/message.h"

/* results/local/NAME in the checkout that contains the program, links to it resolved, or in the current
 * directory if no checkout does; creates the directories. False with a message on failure. */
bool paths_default(const char *name, char path[PATH_MAX], struct message *error);

/* The same path, without creating anything or a message. False if it is too long. */
bool place_name(const char *name, char path[PATH_MAX]);

/* Whether two paths name one file, which need not exist yet. */
bool paths_same(const char *a, const char *b);

/* The path without ".jsonl": the prefix of the names of charts. */
void paths_prefix(const char *path, char prefix[PATH_MAX]);

#endif
