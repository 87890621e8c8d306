/* A temporary directory for the files of a child process. */
#ifndef GTMARK_BENCH_SCRATCH_H
#define GTMARK_BENCH_SCRATCH_H

#include <limits.h>

#include "bench/base/message.h"

/* Creates an empty directory in $TMPDIR or /tmp. False with a message. */
bool scratch_make(char path[PATH_MAX], struct message *error);

/* Removes the directory and its files. */
void scratch_remove(const char *path);

#endif
