/*
 * Emptying the caches: a buffer of twice their size is written, so that what a program left in them is gone,
 * on a device from its L2, on the host from the second level on.
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

/* Takes the buffer; `threads` compute on the host. False with a message where there is no room for it, or the
 * size of the caches is not known. */
bool flush_open(struct flush *f, const struct device_choice *d, int threads, struct message *error);
void flush_close(struct flush *f);

/* Opens it unless it is open already for this device and these threads; `f` is all zeros at first. What is
 * open stays so for later rows: its pages take longer to make than to write. */
bool flush_ready(struct flush *f, const struct device_choice *d, int threads, struct message *error);

/* Returns when it is done: what is launched next finds an idle device, as it does without a flush. */
void flush_run(const struct flush *f);

#endif
