/*
 * A run that calls code of others is a child of a process that waits for it, and that says so, with exit
 * status 1, if it ends before its end, whatever its exit status. The child is a process group of its own and
 * gets the signals that its parent gets, so that each comes once.
 */
#ifndef GTMARK_BENCH_SUPERVISE_H
#define GTMARK_BENCH_SUPERVISE_H

#include <stdio.h>

#include "kernels/guest.h"

/*
 * Goes on in the child, with the note in which to store its exit status at its end. *out: what was its
 * stdout; all that others print goes to stderr. Null in the parent, after it, with the status.
 */
struct guest_note *supervise(const char *program, const char *library, FILE **out, int *status);

#endif
