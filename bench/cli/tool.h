/* The main function of the programs that read result files: compare, plot, findings, query, report. */
#ifndef GTMARK_BENCH_TOOL_H
#define GTMARK_BENCH_TOOL_H

#include "analysis/record/record.h"
#include "bench/cli/syntax.h"

/* The first member of every tool's options. */
struct tool_options {
    bool help, version;
};

#define TOOL_FLAGS                                                                                           \
    {.name = "version",                                                                                      \
     .help = "version and how this was built",                                                               \
     .kind = FLAG_ON,                                                                                        \
     .field = offsetof(struct tool_options, version)},                                                       \
    {                                                                                                        \
        .name = "help", .help = "print this help", .kind = FLAG_ON,                                          \
        .field = offsetof(struct tool_options, help)                                                         \
    }

/* What a tool does with its files. Returns the exit status, with a message unless it is EXIT_GOOD. */
typedef int tool_run(void *options, int count, char **files, struct message *error);

/* The records of all files; null after a line for each that cannot be read, the last one as the message. */
struct record **tool_load(int count, char **files, struct message *error);
void tool_free(struct record **records, int count);

/* Reads the command line, and prints the help or version or runs the tool, under the name that it was called
 * by, since installed tools have other names. Returns the exit status. */
int tool_main(const struct syntax *unnamed, struct tool_options *o, tool_run *run, int argc, char **argv);

#endif
