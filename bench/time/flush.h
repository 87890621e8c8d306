/*
 * Emptying the caches by writing a buffer of twice their size: the L2 of a device; on the host the second
 * level and the last.
 */
#ifndef GTMARK_BENCH_FLUSH_H
#define GTMARK_BENCH_FLUSH_H

#include "bench/machine/device.h"

struct flush {
    const struct device *device; /* null: the host */
    void *context;
    char *buffer;
    int64_t bytes;
    int threads;
};

/* Allocates the buffer; `threads` compute on the host. False with a message without memory or sizes. */
bool flush_open(struct flush *f, const struct device_choice *d, int threads, struct message *error);
void flush_close(struct flush *f);

/* Opens it unless it is already open for this device and these threads; `f` is all zeros at first. It stays
 * open for later rows, because mapping its pages takes longer than writing them. */
bool flush_ready(struct flush *f, const struct device_choice *d, int threads, struct message *error);

/* Returns when the flush is complete, so that the next launch finds an idle device as it does without one. */
void flush_run(const struct flush *f);

#endif
