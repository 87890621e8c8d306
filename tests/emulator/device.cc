/*
 * Device properties and errors of the runtime. Hardware figures are invented, and small where the kernels'
 * plans depend on them.
 */
#include "tests/emulator/emulator.h"

#include <cstdio>
#include <cstring>

/* CUDA keeps these per host thread; here only one thread works at a time. */
static struct {
    int device;
    cudaError_t last;
} current;

cudaError_t emulator_status(cudaError_t status)
{
    if (status != cudaSuccess)
        current.last = status;
    return status;
}

int current_device(void)
{
    return current.device;
}

extern "C" {

cudaError_t cudaGetLastError(void)
{
    cudaError_t last = current.last;
    current.last = cudaSuccess;
    return last;
}

const char *cudaGetErrorString(cudaError_t status)
{
    switch (status) {
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorNotReady:
        return "device not ready";
    case cudaErrorStreamCaptureUnsupported:
        return "operation not permitted when stream is capturing";
    default:
        return "an error of the emulated runtime";
    }
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = DEVICES;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= DEVICES)
        return emulator_status(cudaErrorInvalidDevice);
    current.device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    size_t available;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Emulated GPU %d", device);
    p->major = 9;
    p->multiProcessorCount = MULTIPROCESSORS;
    p->l2CacheSize = 1 << 20;
    return cudaMemGetInfo(&available, &p->totalGlobalMem);
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMultiProcessorCount ? MULTIPROCESSORS : 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    snprintf(text, (size_t)size, "0000:0%d:00.0", device);
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
}
