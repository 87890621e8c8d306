/*
 * NVML without its header: the few functions and constants below are its documented interface ("NVML API
 * Reference Guide"). They are looked up in the driver's library at run time, so that neither the build nor
 * the start of the program needs it. The function for the reasons of low clocks has another name in old
 * drivers.
 */
#include "bench/machine/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
    NVML_TEMPERATURE_GPU = 0,
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEM = 2
};

typedef void *nvml_device;

/* In percent of the time. */
struct nvml_utilization {
    unsigned gpu, memory;
};

/* Functions that the library does not have are null; the first three must exist. */
struct nvml {
    void *library;
    nvml_device device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_bus)(const char *bus, nvml_device *device);
    int (*clock)(nvml_device device, int type, unsigned *megahertz);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*energy)(nvml_device device, unsigned long long *millijoules);
    int (*utilization)(nvml_device device, struct nvml_utilization *percent);
    int (*reasons)(nvml_device device, unsigned long long *reasons);
    int (*instances)(nvml_device device, unsigned *current, unsigned *pending);
    int (*ecc)(nvml_device device, unsigned *current, unsigned *pending);
    int (*compute_mode)(nvml_device device, unsigned *mode);
    int (*power_limit)(nvml_device device, unsigned *milliwatts);
    int (*processes)(nvml_device device, unsigned *count, void *list);
};

/* POSIX guarantees that a function's address fits a data pointer; C has no cast for it. */
static bool look_up(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* Looks up all functions. False if one of the first three does not exist. */
static bool find_functions(struct nvml *n)
{
    void *l = n->library;
    look_up(l, "nvmlDeviceGetClockInfo", &n->clock);
    look_up(l, "nvmlDeviceGetTemperature", &n->temperature);
    look_up(l, "nvmlDeviceGetPowerUsage", &n->power);
    look_up(l, "nvmlDeviceGetTotalEnergyConsumption", &n->energy);
    look_up(l, "nvmlDeviceGetUtilizationRates", &n->utilization);
    look_up(l, "nvmlDeviceGetMigMode", &n->instances);
    look_up(l, "nvmlDeviceGetEccMode", &n->ecc);
    look_up(l, "nvmlDeviceGetComputeMode", &n->compute_mode);
    look_up(l, "nvmlDeviceGetEnforcedPowerLimit", &n->power_limit);
    look_up(l, "nvmlDeviceGetComputeRunningProcesses_v3", &n->processes);
    if (!look_up(l, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons))
        look_up(l, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons);
    return look_up(l, "nvmlInit_v2", &n->init) && look_up(l, "nvmlShutdown", &n->shutdown) &&
           look_up(l, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus);
}

/* Initialises the library and finds the GPU; null on success, otherwise the reason. */
static const char *start_library(struct nvml *n, const char *bus)
{
    if (!find_functions(n))
        return "this NVML has no functions to look up a GPU";
    int status = n->init();
    if (status != NVML_SUCCESS)
        return status == NVML_ERROR_LIB_RM_VERSION_MISMATCH
                   ? "NVML and the loaded driver differ in their versions: restart the machine"
                   : "NVML cannot be initialised";
    if (n->by_bus(bus, &n->device) == NVML_SUCCESS)
        return NULL;
    n->shutdown();
    return "NVML does not know this GPU";
}

struct nvml *nvml_open(const char *library, const char *bus, const char **why)
{
    struct nvml *n = allocate(1, sizeof *n);
    n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    *why = n->library ? start_library(n, bus) : "NVML is not installed (" NVML_LIBRARY ")";
    if (!*why)
        return n;
    if (n->library)
        dlclose(n->library);
    free(n);
    return NULL;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}

static double clock_of(const struct nvml *n, int type)
{
    unsigned megahertz;
    return n->clock && n->clock(n->device, type, &megahertz) == NVML_SUCCESS ? 1e6 * megahertz : NAN;
}

double nvml_clock(const struct nvml *n)
{
    return clock_of(n, NVML_CLOCK_SM);
}

double nvml_memory_clock(const struct nvml *n)
{
    return clock_of(n, NVML_CLOCK_MEM);
}

double nvml_temperature(const struct nvml *n)
{
    unsigned celsius;
    bool told = n->temperature && n->temperature(n->device, NVML_TEMPERATURE_GPU, &celsius) == NVML_SUCCESS;
    return told ? celsius : NAN;
}

double nvml_power(const struct nvml *n)
{
    unsigned milliwatts;
    return n->power && n->power(n->device, &milliwatts) == NVML_SUCCESS ? 1e-3 * milliwatts : NAN;
}

double nvml_energy(const struct nvml *n)
{
    unsigned long long millijoules;
    bool told = n->energy && n->energy(n->device, &millijoules) == NVML_SUCCESS;
    return told ? 1e-3 * (double)millijoules : NAN;
}

bool nvml_busy(const struct nvml *n, double *kernels, double *memory)
{
    struct nvml_utilization percent;
    if (!n->utilization || n->utilization(n->device, &percent) != NVML_SUCCESS)
        return false;
    *kernels = 0.01 * percent.gpu;
    *memory = 0.01 * percent.memory;
    return true;
}

bool nvml_reasons(const struct nvml *n, uint64_t *reasons)
{
    unsigned long long bits;
    if (!n->reasons || n->reasons(n->device, &bits) != NVML_SUCCESS)
        return false;
    *reasons = bits;
    return true;
}

bool nvml_divided(const struct nvml *n)
{
    unsigned current, pending;
    return n->instances && n->instances(n->device, &current, &pending) == NVML_SUCCESS && current == 1;
}

static struct value *reasons_json(const struct nvml *n)
{
    uint64_t reasons;
    if (!nvml_reasons(n, &reasons))
        return value_new_null();
    struct value *list = value_new_array();
    for (const struct throttle_reason *r = throttle_reasons; r->name; r++)
        if (reasons & r->bit)
            value_append(list, value_new_text(r->name));
    return list;
}

/* What the GPU is set to, and how many processes compute on it, this one included; null if unknown. */
static void set_settings(struct value *state, const struct nvml *n)
{
    static const char *const modes[] = {"default", "exclusive thread", "prohibited", "exclusive process"};
    unsigned milliwatts, current, pending, mode, processes = 0;
    value_set_null(state, "power_limit");
    value_set_null(state, "ecc");
    value_set_null(state, "compute_mode");
    value_set_null(state, "processes");
    if (n && n->power_limit && n->power_limit(n->device, &milliwatts) == NVML_SUCCESS)
        value_set_real(state, "power_limit", 1e-3 * milliwatts);
    if (n && n->ecc && n->ecc(n->device, &current, &pending) == NVML_SUCCESS)
        value_set_text(state, "ecc", current ? "on" : "off");
    if (n && n->compute_mode && n->compute_mode(n->device, &mode) == NVML_SUCCESS && mode < 4)
        value_set_text(state, "compute_mode", modes[mode]);
    /* Without room for a list only the number is returned. */
    int listed = n && n->processes ? n->processes(n->device, &processes, NULL) : NVML_ERROR_NOT_SUPPORTED;
    if (listed == NVML_SUCCESS || listed == NVML_ERROR_INSUFFICIENT_SIZE)
        value_set_count(state, "processes", processes);
}

struct value *nvml_json(const struct nvml *n, const char *why)
{
    struct value *state = value_new_object(); /* NAN is null */
    value_set_real(state, "clock", n ? nvml_clock(n) : NAN);
    value_set_real(state, "memory_clock", n ? nvml_memory_clock(n) : NAN);
    value_set_real(state, "temperature", n ? nvml_temperature(n) : NAN);
    value_set_real(state, "power", n ? nvml_power(n) : NAN);
    value_set_real(state, "energy", n ? nvml_energy(n) : NAN);
    value_set(state, "throttle", n ? reasons_json(n) : value_new_null());
    set_settings(state, n);
    if (!n)
        value_set_text(state, "missing", why);
    return state;
}
