/* Child processes: programs found in PATH and run without a shell. They share our process group, so that an
 * interrupt from the terminal reaches them too. */
#ifndef GTMARK_BENCH_CHILD_H
#define GTMARK_BENCH_CHILD_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#include "bench/base/message.h"
#include "kernels/guest.h"

/* Starts a program; the first argument is its name. Its stderr goes to the file `log` (null: discarded), its
 * stdout to a pipe of which `output` receives the reading end (null: discarded). False with a message. */
bool child_start(pid_t *child, const char *const *arguments, const char *log, int *output,
                 struct message *error);

/* Whether the child ends within 20 ms, and is reaped, with waitpid's status. Our signals end the wait. */
bool child_ended(pid_t child, int *status);

int child_wait(pid_t child);

/* Also passes on a signal that we caught, for a child that may not end by itself. */
int child_attend(pid_t child);

/* Reaps it too. */
void child_kill(pid_t child);

/* How a process ended that should not have: "ends by signal 11 (Segmentation fault)", "ends the process, with
 * exit status 0". Always false. */
bool child_say_end(int status, struct message *how);

/* Whether the status is success; if not, the message says how the named program ended. */
bool child_succeeded(const char *name, int status, struct message *error);

/* Appends the last line of the file `log` to the message. Always false. */
bool child_explain(const char *log, struct message *error);

/* The command line as a shell takes it: the words with a space between them, those that a shell would take
 * apart or replace in single quotes (POSIX, Shell Command Language, 2.2). To be freed. */
char *command_text(int argc, char *const *argv);

/* --- a temporary directory for the files of a child process */

/* Creates an empty directory in $TMPDIR or /tmp. False with a message. */
bool scratch_make(char path[PATH_MAX], struct message *error);

void scratch_remove(const char *path);

/*
 * A run that calls code of others is a child of a process that waits for it, and that says so, with exit
 * status 1, if it ends before its end, whatever its exit status. The child is a process group of its own and
 * gets the signals that its parent gets, so that each comes once.
 */

/* Goes on in the child, with the note in which to store its exit status at its end. *out: what was its
 * stdout; all that others print goes to stderr. Null in the parent, after it, with the status. */
struct guest_note *supervise(const char *program, const char *library, FILE **out, int *status);

#endif
