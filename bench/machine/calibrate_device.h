/* The ceilings of a GPU. */
#ifndef GTMARK_BENCH_CALIBRATE_DEVICE_H
#define GTMARK_BENCH_CALIBRATE_DEVICE_H

#include "bench/machine/calibration.h"
#include "bench/machine/device.h"

/*
 * Measures an open GPU, in about a second: `cpu` is its card, `isa` is cuda, and there are no probes. False
 * with a message, without memory or after a fault, from which the device has recovered.
 */
bool calibrate_device(const struct device_choice *d, int threads, struct calibration *c,
                      struct message *error);

#endif
