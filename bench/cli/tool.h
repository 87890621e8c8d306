/* The main of the programs that read result files: compare, plot, findings. */
#ifndef GTMARK_BENCH_TOOL_H
#define GTMARK_BENCH_TOOL_H

#include "bench/cli/syntax.h"

/* First in the options of every tool. */
struct tool_options {
    bool help, version;
};

/* The last flags of every tool, before the end of its table. */
#define TOOL_FLAGS                                                                                           \
    {.name = "version",                                                                                      \
     .help = "version and how this was built",                                                               \
     .kind = FLAG_ON,                                                                                        \
     .field = offsetof(struct tool_options, version)},                                                       \
    {                                                                                                        \
        .name = "help", .help = "this text", .kind = FLAG_ON, .field = offsetof(struct tool_options, help)   \
    }

/* Does the work on the files. Returns the exit status; unless it is EXIT_GOOD, with a message. */
typedef int tool_run(void *options, int count, char **files, struct message *error);

/* Reads the command line, and answers --help and --version or runs the tool. Returns the exit status. */
int tool_main(const struct syntax *s, struct tool_options *o, tool_run *run, int argc, char **argv);

#endif
