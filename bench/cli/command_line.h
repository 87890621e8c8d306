/* The command line, the same for every benchmark, read with one table of flags. */
#ifndef GTMARK_BENCH_COMMAND_LINE_H
#define GTMARK_BENCH_COMMAND_LINE_H

#include "bench/cli/options.h"

/*
 * Sets the defaults, reads the arguments of main, and plans the run of an action that looks at rows; false
 * with a message. world: all ranks that were started; null: this process alone. The caller frees with
 * options_free.
 */
bool options_parse(const struct bench *b, const struct ranks *world, int argc, char **argv, struct options *o,
                   struct message *error);

/* Prints --help. */
void options_help(const struct bench *b, FILE *out);

#endif
