/* What stopped work on an open device. */
#ifndef GTMARK_KERNELS_FAULT_H
#define GTMARK_KERNELS_FAULT_H

enum fault_kind {
    FAULT_NONE,
    FAULT_MEMORY, /* it had none left */
    FAULT_FAILED, /* a call failed; the next may succeed */
    FAULT_LOST    /* every further call of this process fails */
};

/* Static texts: the function, and what the library said. */
struct fault {
    enum fault_kind kind;
    const char *where, *words;
};

#endif
