/*
 * A fake device: host memory, the reference's kernels, and a context that counts the calls. With it, the
 * device code paths of the tape and the harness are tested on any machine.
 */
#ifndef GTMARK_TESTS_FAKE_DEVICE_H
#define GTMARK_TESTS_FAKE_DEVICE_H

#include "kernels/backend.h"

enum { FAKE_LOG = 1 << 16, FAKE_L2 = 96 << 10, FAKE_MEMORY = 80 << 20 };

/* The context; initially zero. */
struct fake {
    int writes, reads, waits, clears, launches;
    int64_t allocated, pinned; /* bytes not yet freed */
    int64_t cleared;           /* bytes of the last clear */
    int busy_marks;            /* events recorded while something was pending */
    bool no_pinned;            /* fail to allocate page-locked memory */
    bool pending;              /* something was launched since the last wait */
    bool traced;               /* as if a profiler were attached */
    bool capturing;
    int beside, awaited; /* entries on the second stream; events that were waited for */
    struct fault fault;
    int depth;          /* of ranges */
    char log[FAKE_LOG]; /* "+name" for a range entered, "-" for one left, separated by blanks */
};

/* It has no open and close: its users create the context. */
extern const struct backend backend_fake;

#endif
