/* The command line, the same for every benchmark, read with one table of flags. */
#ifndef GTMARK_BENCH_COMMAND_LINE_H
#define GTMARK_BENCH_COMMAND_LINE_H

#include "bench/cli/options.h"

/*
 * Sets the defaults and reads the arguments of main; false with a message. The caller frees with
 * options_free.
 */
bool options_parse(const struct bench *b, int argc, char **argv, struct options *o, struct message *error);

/* Prints --help. */
void options_help(const struct bench *b, FILE *out);

#endif
