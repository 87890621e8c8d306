/* A directory for the files of a child process. */
#ifndef GTMARK_BENCH_SCRATCH_H
#define GTMARK_BENCH_SCRATCH_H

#include <limits.h>

#include "bench/base/message.h"

/* Makes an empty directory of our own in $TMPDIR or /tmp. False with a message. */
bool scratch_make(char path[PATH_MAX], struct message *error);

/* Removes it and its files. */
void scratch_remove(const char *path);

#endif
