/* Operands of any op on a device: see operands.h. */
#ifndef GTMARK_BENCH_OPERANDS_DEVICE_H
#define GTMARK_BENCH_OPERANDS_DEVICE_H

#include "bench/audit/operands.h"

/* An open device, or why there is none. */
struct opened_device {
    const struct backend *backend;
    void *context; /* null: none */
    char why[256];
};

/* The first GPU. */
struct opened_device operands_device(void);
void operands_device_close(struct opened_device *d);

/*
 * Runs a kernel on copies of the operands, including guards, in device memory, and copies everything back.
 * `aligned`: the first element of every matrix has the device's alignment; otherwise it is offset from it.
 * Scratch starts as NaN; returns false if it was overrun. A fault of the device ends the program with a line.
 */
bool operands_run_on(struct operands *o, const struct kernel *k, const struct opened_device *d, bool aligned);

#endif
