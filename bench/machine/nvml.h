/* The state of a GPU, by NVIDIA's management library (NVML). */
#ifndef GTMARK_BENCH_NVML_H
#define GTMARK_BENCH_NVML_H

#include "analysis/record/value.h"

#include <stdbool.h>
#include <stdint.h>

struct nvml;

/* The driver's own library. */
#define NVML_LIBRARY "libnvidia-ml.so.1"

/* The GPU at this PCI address, by the library with this name or path. Null with a reason (a static string) if
 * the library is not installed, cannot be initialised, or does not know the GPU. */
struct nvml *nvml_open(const char *library, const char *bus, const char **why);
void nvml_close(struct nvml *n);

/* Present values; NAN if unknown. */
double nvml_clock(const struct nvml *n);        /* Hz, of the multiprocessors */
double nvml_memory_clock(const struct nvml *n); /* Hz */
double nvml_temperature(const struct nvml *n);  /* degrees Celsius */
double nvml_power(const struct nvml *n);        /* W; on many GPUs the mean of the last second */
double nvml_energy(const struct nvml *n);       /* J since the driver was loaded, at the last tick */

/* The shares of about the last second in which a kernel ran, and memory was accessed; false if unknown. */
bool nvml_busy(const struct nvml *n, double *kernels, double *memory);

/* Why clocks are low, as the bits below; false if unknown. */
bool nvml_reasons(const struct nvml *n, uint64_t *reasons);

/* Whether the GPU is divided into instances (MIG), so that its energy is not that of one program. */
bool nvml_divided(const struct nvml *n);

/*
 * Clocks (Hz), temperature (degrees Celsius), power (W), energy since the driver was loaded (J), the reasons
 * for throttling, power limit (W), error correction, compute mode and number of processes. Unknown values are
 * null; without a library all are, and `missing` says why.
 */
struct value *nvml_json(const struct nvml *n, const char *why);

/* --- why a GPU lowers its clocks, and what happens to the samples taken meanwhile */

struct throttle_reason {
    uint64_t bit; /* of NVML */
    const char *name;
    bool spoils; /* samples */
};

/* What slows down a busy GPU, without idleness and clocks set by the user. Ends with a null name. */
extern const struct throttle_reason throttle_reasons[];

enum { THROTTLE_TEXT = 160 };

/* The names of these reasons, "power cap, thermal"; "none" without any. */
void throttle_text(uint64_t reasons, char text[THROTTLE_TEXT]);

enum fate { FATE_KEPT, FATE_DISCARDED, FATE_KEPT_THROTTLED };

/* How often samples of one program are discarded at most. */
enum { DISCARDS_MAX = 10 };

/* What happens to samples at whose end the clocks were low for these reasons, if samples were discarded
 * `discards` times before; time_left: there is time to take them again. */
enum fate throttle_judge(uint64_t reasons, int discards, bool time_left);

#endif
