/* Runs this program again under callgrind and reads what each call of a function executed. */
#ifndef GTMARK_BENCH_VALGRIND_H
#define GTMARK_BENCH_VALGRIND_H

#include "bench/flops/callgrind.h"

struct valgrind_run {
    const char *const *arguments; /* of this program, null-terminated, without its name */
    const char *function;         /* counted with everything it calls in the same thread */
    int calls;                    /* of the function, each a profile; further ones are ignored */
    const char *directory;        /* for files */
    double seconds;               /* the child is killed after this time */
    bool base;                    /* only instructions that any x86-64 has, instead of up to AVX2 */
};

/* Waits for the child to end. False with a message, also if there were fewer calls. */
bool valgrind_executions(const struct valgrind_run *run, struct executions *out, struct message *error);

#endif
