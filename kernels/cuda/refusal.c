/* The hints follow the meaning that the CUDA runtime manual gives each error (enum cudaError). */
#include "kernels/cuda/refusal.h"

#include <stdio.h>

static const struct {
    int code;
    const char *hint;
} hints[] = {
    {cudaErrorMemoryAllocation, "other programs hold its memory (nvidia-smi lists them)"},
    {cudaErrorInitializationError, "restart the machine if nvidia-smi fails too"},
    {cudaErrorDevicesUnavailable,
     "another program has it in exclusive mode, or its mode is PROHIBITED (nvidia-smi -q -d COMPUTE)"},
    {cudaErrorNoDevice, "nvidia-smi lists those of the machine; a container needs --gpus all"},
    {cudaErrorECCUncorrectable,
     "its memory has errors (nvidia-smi -q -d ECC): reset it or restart the machine"},
    {cudaErrorSystemNotReady, "start NVIDIA's fabric manager (systemctl start nvidia-fabricmanager)"},
    {cudaErrorSystemDriverMismatch, "the driver was updated: restart the machine"},
    {cudaErrorCompatNotSupportedOnDevice,
     "remove cuda-compat from LD_LIBRARY_PATH: it is for data centre GPUs alone"},
    {cudaErrorMpsConnectionFailed, "MPS does not answer: nvidia-cuda-mps-control -d starts it; without "
                                   "CUDA_MPS_PIPE_DIRECTORY it is not used"},
    {cudaErrorUnknown,
     "load nvidia-uvm (nvidia-modprobe -u), or restart the machine; a container needs --gpus all"},
};

static const char *hint_for(cudaError_t status)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].code == (int)status)
            return hints[i].hint;
    return "nvidia-smi says what the driver knows of it";
}

/* What follows from the versions; both are 1000 major + 10 minor. */
static bool refuse_driver(char *error, size_t error_size)
{
    int driver = 0, runtime = CUDART_VERSION;
    cudaDriverGetVersion(&driver);
    if (driver == 0)
        snprintf(error, error_size,
                 "no usable GPU: no NVIDIA driver is installed; this build needs one for CUDA %d.%d",
                 runtime / 1000, runtime % 1000 / 10);
    else
        snprintf(error, error_size,
                 "no usable GPU: the driver is for CUDA %d.%d, older than the toolkit of this build, %d.%d: "
                 "update the driver, or build with CUDA %d",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, driver / 1000);
    return false;
}

/* The library has no code for the GPU, or only PTX that the driver does not know. */
static bool refuse_code(int index, cudaError_t status, char *error, size_t error_size)
{
    struct cudaDeviceProp p = {.name = "a GPU"};
    cudaGetDeviceProperties(&p, index);
    snprintf(error, error_size, "no usable GPU: %.60s is sm_%d%d, this build is for %s: %s%s%d%d", p.name,
             p.major, p.minor, CUDA_ARCHS,
             status == cudaErrorNoKernelImageForDevice ? ""
                                                       : "its PTX is too new for the driver: update it, or ",
             "make CUDA_ARCH=sm_", p.major, p.minor);
    return false;
}

/* Where memory may be what lacks. */
static void say_memory(char text[64])
{
    size_t available, total;
    text[0] = '\0';
    if (cudaMemGetInfo(&available, &total) == cudaSuccess)
        snprintf(text, 64, "; %zu of %zu MiB are free", available >> 20, total >> 20);
}

bool refuse_gpu(int index, cudaError_t status, char *error, size_t error_size)
{
    char memory[64] = "";
    if (status == cudaSuccess)
        status = cudaErrorNoDevice;
    if (status == cudaErrorInsufficientDriver)
        return refuse_driver(error, error_size);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorUnsupportedPtxVersion)
        return refuse_code(index, status, error, error_size);
    if (status == cudaErrorMemoryAllocation)
        say_memory(memory);
    snprintf(error, error_size, "no usable GPU: %s (CUDA error %d)%s: %s", cudaGetErrorString(status),
             (int)status, memory, hint_for(status));
    return false;
}

bool refuse_library(const char *library, const char *words, char *error, size_t error_size)
{
    char memory[64];
    say_memory(memory);
    snprintf(error, error_size, "no usable GPU: %s cannot be initialised: %s%s", library, words, memory);
    return false;
}
