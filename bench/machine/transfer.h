/* How fast data go between host and device, by copies alone. */
#ifndef GTMARK_BENCH_TRANSFER_H
#define GTMARK_BENCH_TRANSFER_H

#include <jansson.h>

#include "bench/machine/device.h"

/*
 * Of an open device: {bytes, to_device, from_device}, each way {pinned, pageable, latency}: GB/s (1e9) of
 * blocks of `bytes` from and to memory that is page-locked and memory that is not, and seconds for 4 bytes.
 * What could not be had is null, and `missing` says why.
 */
json_t *transfer_json(const struct device_choice *d);

#endif
