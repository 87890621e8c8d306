/* The command line of one program of one configuration. */
#ifndef GTMARK_BENCH_ARGUMENTS_H
#define GTMARK_BENCH_ARGUMENTS_H

#include "bench/cli/options.h"

/*
 * Flags for one run of a program (as --phase names it) of the row at an index, on one thread, and nothing
 * else: without the program's name, null-terminated.
 */
char **arguments_of(const struct options *o, int64_t row, const char *program);
void arguments_free(char **arguments);

#endif
