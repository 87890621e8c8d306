/*
 * NVML without its header: the few functions and numbers below are its documented interface ("NVML API
 * Reference Guide"), looked up in the driver's library, which need not be there when this is built or
 * started.
 */
#include "bench/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

enum { NVML_SUCCESS = 0, NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

typedef void *nvml_device;

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_bus)(const char *bus, nvml_device *device);
    int (*clock)(nvml_device device, int type, unsigned *megahertz);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*energy)(nvml_device device, unsigned long long *millijoules);
    int (*throttle)(nvml_device device, unsigned long long *reasons);
};

/* POSIX guarantees that a function's address fits a data pointer; C has no cast for it. */
static bool look_up(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool nvml_open(struct nvml *n)
{
    *n = (struct nvml){.library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
    void *l = n->library;
    if (!l)
        return false;
    bool usable = look_up(l, "nvmlInit_v2", &n->init) && look_up(l, "nvmlShutdown", &n->shutdown) &&
                  look_up(l, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus) && n->init() == NVML_SUCCESS;
    look_up(l, "nvmlDeviceGetClockInfo", &n->clock);
    look_up(l, "nvmlDeviceGetTemperature", &n->temperature);
    look_up(l, "nvmlDeviceGetPowerUsage", &n->power);
    look_up(l, "nvmlDeviceGetTotalEnergyConsumption", &n->energy);
    look_up(l, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->throttle);
    if (!usable)
        dlclose(l);
    return usable;
}

static void nvml_close(struct nvml *n)
{
    n->shutdown();
    dlclose(n->library);
}

/* The reasons that slow a busy GPU down; that it is idle or runs at the clocks set by the user is none. */
static json_t *throttle_reasons(unsigned long long reasons)
{
    static const struct {
        unsigned long long bit;
        const char *name;
    } known[] = {{0x04, "power cap"},      {0x08, "hardware slowdown"},         {0x10, "sync boost"},
                 {0x20, "thermal"},        {0x40, "hardware thermal slowdown"}, {0x80, "power brake"},
                 {0x100, "display clocks"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (reasons & known[i].bit)
            json_array_append_new(list, json_string(known[i].name));
    return list;
}

static json_t *scaled(bool told, double value, double unit)
{
    return told ? json_real(value * unit) : json_null();
}

static json_t *ask(const struct nvml *n, nvml_device d)
{
    unsigned sm = 0, memory = 0, celsius = 0, milliwatts = 0;
    unsigned long long millijoules = 0, reasons = 0;
    bool has_sm = n->clock && n->clock(d, NVML_CLOCK_SM, &sm) == NVML_SUCCESS;
    bool has_memory = n->clock && n->clock(d, NVML_CLOCK_MEM, &memory) == NVML_SUCCESS;
    bool has_temperature =
        n->temperature && n->temperature(d, NVML_TEMPERATURE_GPU, &celsius) == NVML_SUCCESS;
    bool has_power = n->power && n->power(d, &milliwatts) == NVML_SUCCESS;
    bool has_energy = n->energy && n->energy(d, &millijoules) == NVML_SUCCESS;
    bool has_throttle = n->throttle && n->throttle(d, &reasons) == NVML_SUCCESS;
    return json_pack("{so so so so so so}", "clock", scaled(has_sm, sm, 1e6), "memory_clock",
                     scaled(has_memory, memory, 1e6), "temperature", scaled(has_temperature, celsius, 1),
                     "power", scaled(has_power, milliwatts, 1e-3), "energy",
                     scaled(has_energy, (double)millijoules, 1e-3), "throttle",
                     has_throttle ? throttle_reasons(reasons) : json_null());
}

static json_t *missing(const char *why)
{
    return json_pack("{sn sn sn sn sn sn ss}", "clock", "memory_clock", "temperature", "power", "energy",
                     "throttle", "missing", why);
}

json_t *nvml_json(const char *bus)
{
    struct nvml n;
    nvml_device device;
    if (!nvml_open(&n))
        return missing("there is no NVML (libnvidia-ml.so.1), or it does not start");
    json_t *state =
        n.by_bus(bus, &device) == NVML_SUCCESS ? ask(&n, device) : missing("NVML does not know this GPU");
    nvml_close(&n);
    return state;
}
