/* What NVIDIA's management library tells of a GPU while it works. */
#ifndef GTMARK_BENCH_NVML_H
#define GTMARK_BENCH_NVML_H

#include <jansson.h>

/*
 * Clocks (Hz), temperature (degrees Celsius), power (W), energy since the driver was loaded (J) and the
 * reasons for throttling of the GPU at this PCI address, now. What it does not tell is null; where
 * there is no library all is, and `missing` says why.
 */
json_t *nvml_json(const char *bus);

#endif
