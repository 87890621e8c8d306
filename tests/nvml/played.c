#include "tests/nvml/played.h"

#include <string.h>

enum { SUCCESS = 0, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

struct played played_nvml;

static unsigned long long next(struct played_answers *a)
{
    if (!a->count)
        return 0;
    int at = a->asked < a->count ? a->asked : a->count - 1;
    a->asked++;
    return a->answers[at];
}

int nvmlInit_v2(void)
{
    played_nvml.started += played_nvml.init_error == SUCCESS;
    return played_nvml.init_error;
}

int nvmlShutdown(void)
{
    played_nvml.started--;
    return SUCCESS;
}

#ifndef PLAYED_part
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    *device = &played_nvml;
    return !played_nvml.bus || strcmp(bus, played_nvml.bus) == 0 ? SUCCESS : NOT_FOUND;
}
#endif

int nvmlDeviceGetClockInfo(struct played *p, int type, unsigned *megahertz)
{
    *megahertz = type == 1 ? (unsigned)next(&p->clock) : type == 2 ? p->memory_clock : 0;
    return p->error;
}

int nvmlDeviceGetTemperature(struct played *p, int sensor, unsigned *celsius)
{
    *celsius = sensor == 0 ? p->temperature : 0;
    return p->error;
}

int nvmlDeviceGetPowerUsage(struct played *p, unsigned *milliwatts)
{
    *milliwatts = p->power;
    return p->error;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct played *p, unsigned long long *reasons)
{
    *reasons = next(&p->reasons);
    return p->error;
}

#ifndef PLAYED_old
int nvmlDeviceGetCurrentClocksEventReasons(struct played *p, unsigned long long *reasons)
{
    return nvmlDeviceGetCurrentClocksThrottleReasons(p, reasons);
}

int nvmlDeviceGetTotalEnergyConsumption(struct played *p, unsigned long long *millijoules)
{
    p->energy_asked++;
    if (p->energy_every && p->energy_asked % p->energy_every == 0)
        p->energy += p->energy_step;
    *millijoules = p->energy;
    return p->error;
}

int nvmlDeviceGetUtilizationRates(struct played *p, unsigned percent[2])
{
    percent[0] = p->kernels_busy;
    percent[1] = p->memory_busy;
    return p->error;
}

int nvmlDeviceGetMigMode(struct played *p, unsigned *current, unsigned *pending)
{
    *current = p->divided;
    *pending = 0;
    return p->error;
}

int nvmlDeviceGetEccMode(struct played *p, unsigned *current, unsigned *pending)
{
    *current = p->ecc;
    *pending = !p->ecc;
    return p->error;
}

int nvmlDeviceGetComputeMode(struct played *p, unsigned *mode)
{
    *mode = p->compute_mode;
    return p->error;
}

int nvmlDeviceGetEnforcedPowerLimit(struct played *p, unsigned *milliwatts)
{
    *milliwatts = p->power_limit;
    return p->error;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct played *p, unsigned *count, void *list)
{
    int room = list ? (int)*count : 0;
    *count = p->processes;
    return p->error || room >= (int)p->processes ? p->error : INSUFFICIENT_SIZE;
}
#endif
