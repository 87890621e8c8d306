/* A GPU as NVIDIA's management library (NVML) tells of it while it works. */
#ifndef GTMARK_BENCH_NVML_H
#define GTMARK_BENCH_NVML_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct nvml;

/* The driver's own library. */
#define NVML_LIBRARY "libnvidia-ml.so.1"

/*
 * The GPU at this PCI address, by a library given by name or path. Null with a reason, which stays, where
 * there is no such library, it does not start, or it does not know the GPU.
 */
struct nvml *nvml_open(const char *library, const char *bus, const char **why);
void nvml_close(struct nvml *n);

/* Now. What it does not tell is NAN. */
double nvml_clock(const struct nvml *n);        /* Hz, of the multiprocessors */
double nvml_memory_clock(const struct nvml *n); /* Hz */
double nvml_temperature(const struct nvml *n);  /* degrees Celsius */
double nvml_power(const struct nvml *n);        /* W; many GPUs tell the mean of the last second */
double nvml_energy(const struct nvml *n);       /* J since the driver was loaded, as of the last tick */

/* The shares of the last second, or a part of it, in which a kernel ran and in which memory was read or
 * written; false if it does not tell. */
bool nvml_busy(const struct nvml *n, double *kernels, double *memory);

/* Why clocks are low, as bits of bench/machine/throttle.h; false if it does not tell. */
bool nvml_reasons(const struct nvml *n, uint64_t *reasons);

/* Whether the GPU is divided into instances (MIG), so that its energy is not one program's. */
bool nvml_divided(const struct nvml *n);

/*
 * Clocks (Hz), temperature (degrees Celsius), power (W), energy since the driver was loaded (J) and the
 * reasons for throttling, now. What it does not tell is null; without a library all is, and `missing` is why.
 */
json_t *nvml_json(const struct nvml *n, const char *why);

#endif
