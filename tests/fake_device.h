/*
 * A device that is none: memory of the host, kernels of the reference, and a context that counts what it was
 * asked for. What the tape and the harness do on a device is tested with it on any machine.
 */
#ifndef GTMARK_TESTS_FAKE_DEVICE_H
#define GTMARK_TESTS_FAKE_DEVICE_H

#include "kernels/backend.h"

enum { FAKE_LOG = 1 << 16, FAKE_L2 = 96 << 10, FAKE_MEMORY = 80 << 20 };

/* The context; all zero to begin with. */
struct fake {
    int writes, reads, waits, clears, launches;
    int64_t allocated, pinned; /* bytes that were not given back */
    int64_t cleared;           /* bytes of the last clear */
    int busy_marks;            /* events recorded while something was pending */
    bool no_pinned;            /* refuse page-locked memory */
    bool pending;              /* something was launched since the last wait */
    bool traced;               /* as if a tool listened */
    bool capturing;
    int depth;          /* of ranges */
    char log[FAKE_LOG]; /* "+name" of a range entered, "-" of one left, with a blank before each */
};

/* It has no open and close: its context is made by who uses it. */
extern const struct backend backend_fake;

#endif
