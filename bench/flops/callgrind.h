/* Reader of profiles of callgrind with --dump-instr=yes: how often each instruction was executed. */
#ifndef GTMARK_BENCH_CALLGRIND_H
#define GTMARK_BENCH_CALLGRIND_H

#include <stdio.h>

#include "bench/base/message.h"

struct execution {
    int object;       /* index of the object file of the instruction */
    uint64_t address; /* in the object file, without the load address */
    int64_t count;
};

struct executions {
    char **objects; /* paths; null for unused indices */
    int object_count;
    struct execution *list; /* by object, then address; each instruction once */
    size_t count;
};

/* Reads one profile. False with a message if it is incomplete or has an unexpected line. */
bool callgrind_read(FILE *in, struct executions *out, struct message *error);
void executions_free(struct executions *e);

#endif
