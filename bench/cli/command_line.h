/* The command line, the same for every benchmark, read by one table of flags. */
#ifndef GTMARK_BENCH_COMMAND_LINE_H
#define GTMARK_BENCH_COMMAND_LINE_H

#include "bench/cli/options.h"

/*
 * Fills in the defaults and reads the arguments, which are as main gets them, with a null after the last;
 * false with a message. Free with options_free.
 */
bool options_parse(const struct bench *b, int argc, char **argv, struct options *o, struct message *error);

/* What --help prints. */
void options_help(const struct bench *b, FILE *out);

#endif
