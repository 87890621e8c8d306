/* Memory between two pages that nobody may access. */
#ifndef GTMARK_BENCH_GUARDED_H
#define GTMARK_BENCH_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

/* Where accesses outside are noticed at once: nowhere, after the last byte, before the first. */
enum guard { GUARD_NONE, GUARD_AFTER, GUARD_BEFORE };

struct guarded {
    void *bytes;          /* aligned to `unit` */
    unsigned char *pages; /* with the two */
    size_t size;          /* of pages */
};

/* `size` bytes, of which those that fill pages up stand away from the guard. Out of memory: abort. */
struct guarded guarded_new(size_t size, size_t unit, enum guard guard);

/* From now on: may be read, but not written; may not be accessed. */
void guarded_freeze(struct guarded g);
void guarded_close(struct guarded g);

void guarded_free(struct guarded g);

/* Whether an address is in the pages. */
bool guarded_has(struct guarded g, const void *address);

#endif
