/* The command line for one program of one configuration. */
#ifndef GTMARK_BENCH_ARGUMENTS_H
#define GTMARK_BENCH_ARGUMENTS_H

#include "bench/cli/options.h"

/*
 * Flags that run only this program (as named by --phase) of the row at an index, once, on one thread. Without
 * the program's name; null-terminated.
 */
char **arguments_of(const struct options *o, int64_t row, const char *program);
void arguments_free(char **arguments);

#endif
