/* Reader of callgrind's profiles with --dump-instr=yes: how often each instruction was executed. */
#ifndef GTMARK_BENCH_CALLGRIND_H
#define GTMARK_BENCH_CALLGRIND_H

#include <stdio.h>

#include "bench/base/message.h"

struct execution {
    int object;       /* index of the file that holds the instruction */
    uint64_t address; /* as the object file says it, without where it was loaded */
    int64_t count;
};

struct executions {
    char **objects; /* paths; null where an index is not used */
    int object_count;
    struct execution *list; /* by object, then address; each instruction once */
    size_t count;
};

/* Reads one profile. False with a message where it is not whole or not understood. */
bool callgrind_read(FILE *in, struct executions *out, struct message *error);
void executions_free(struct executions *e);

#endif
