/* Reader of profiles of callgrind with --dump-instr=yes: how often each instruction was executed. */
#ifndef GTMARK_BENCH_CALLGRIND_H
#define GTMARK_BENCH_CALLGRIND_H

#include <stdio.h>

#include "bench/base/message.h"

struct execution {
    int object;       /* index of the object file of the instruction */
    uint64_t address; /* in the object file, without the load address */
    int profile;      /* in which it was counted */
    int64_t count;
};

struct executions {
    char **objects; /* paths; null for unused indices */
    int object_count;
    struct execution *list; /* by object, address and profile; each once */
    size_t count;
};

/*
 * Adds a profile to those read before, which one process wrote: object files have the same numbers in all.
 * False with a message, and nothing to free, if it is incomplete or has an unexpected line.
 */
bool callgrind_read(FILE *in, int profile, struct executions *out, struct message *error);

/* Sorts the list, after the last profile. */
void executions_sort(struct executions *e);
void executions_free(struct executions *e);

#endif
