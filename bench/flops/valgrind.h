/* Runs this program again under callgrind and reads what one call of a function executed. */
#ifndef GTMARK_BENCH_VALGRIND_H
#define GTMARK_BENCH_VALGRIND_H

#include "bench/flops/callgrind.h"

struct valgrind_run {
    const char *const *arguments; /* of this program, null-terminated, without its name */
    const char *function;         /* its first call is counted, with everything it calls in the same thread */
    const char *directory;        /* for files; empty */
    double seconds;               /* the child is killed after this time */
};

/*
 * The child is killed as soon as the first call has returned. False with a message.
 */
bool valgrind_executions(const struct valgrind_run *run, struct executions *out, struct message *error);

#endif
