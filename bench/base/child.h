/* Other programs, found along PATH and run without a shell. They share our process group, so that an
 * interrupt from the terminal reaches them too. */
#ifndef GTMARK_BENCH_CHILD_H
#define GTMARK_BENCH_CHILD_H

#include <sys/types.h>

#include "bench/base/message.h"

/*
 * Starts a program; the first argument is its name. Its errors go to the file `log` (null: nowhere), its
 * output to a pipe that we read (`output`; null: nowhere). False with a message.
 */
bool child_start(pid_t *child, const char *const *arguments, const char *log, int *output,
                 struct message *error);

/* Whether it has ended, and how (as waitpid says). After that the child is gone. */
bool child_ended(pid_t child, int *status);

/* Waits for its end. */
int child_wait(pid_t child);

/* The same of a child that need not end by itself: a signal that we caught is handed on to it. */
int child_attend(pid_t child);

/* Ends it at once. */
void child_kill(pid_t child);

/* False unless the status says that all went well, with a message of how the named program ended. */
bool child_succeeded(const char *name, int status, struct message *error);

/* Adds the last line of its errors, from the file `log`, to the message. Always false. */
bool child_explain(const char *log, struct message *error);

/* The command line as a shell takes it: the words with a space between them, those that a shell would take
 * apart or replace in single quotes (POSIX, Shell Command Language, 2.2). To be freed. */
char *command_text(int argc, char *const *argv);

#endif
