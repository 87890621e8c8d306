/* Calls of kernels, and computations of encodings, written to a file with their operands, so that another
 * process of this program can run each of them alone, on the same data. */
#ifndef GTMARK_BENCH_CAPTURED_H
#define GTMARK_BENCH_CAPTURED_H

#include <stdio.h>

#include "bench/base/message.h"
#include "graphs/batch.h"
#include "models/encodings/encoding.h"
#include "models/tape/tape.h"

struct capture {
    FILE *file;
    int64_t end; /* bytes */
    int calls;
};

bool capture_open(struct capture *c, const char *path, struct message *error);

/* The entry of a tape on the host, with what its operands hold now. */
void capture_entry(struct capture *c, const struct entry *e);

void capture_encoding(struct capture *c, const struct encoding_config *pe, const struct batch *b);

/* False with a message if any of it could not be written. */
bool capture_close(struct capture *c, struct message *error);

/* The first argument of the process that runs a capture, whose file is the second; and the function that it
 * calls once for each captured call, on one thread. */
extern const char capture_word[], capture_function[];

int capture_run(const char *path);

#endif
