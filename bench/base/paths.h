/* Where results go when nobody says. */
#ifndef GTMARK_BENCH_PLACE_H
#define GTMARK_BENCH_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "bench/base/message.h"

/*
 * results/local/NAME.json in the checkout that the program stands in, or in the current directory where it
 * stands in none; makes the directories. False with a message if that cannot be.
 */
bool paths_default(const char *name, char path[PATH_MAX], struct message *error);

/* The same path; makes and says nothing. False if it is too long. */
bool place_name(const char *name, char path[PATH_MAX]);

/* Whether two paths are one file, which need not be there yet. */
bool paths_same(const char *a, const char *b);

/* The path without its ending ".json": what the names of charts begin with. */
void paths_prefix(const char *path, char prefix[PATH_MAX]);

#endif
