/* The command line, as a shell takes it. */
#ifndef GTMARK_BENCH_COMMAND_H
#define GTMARK_BENCH_COMMAND_H

/* The words with a space between them, those that a shell would take apart or replace in single quotes
 * (POSIX, Shell Command Language, 2.2). To be freed. */
char *command_text(int argc, char *const *argv);

#endif
