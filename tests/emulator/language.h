/*
 * CUDA C++ for the host compiler: replacements for the language extensions, with which kernels/cuda is
 * compiled for the emulated device. Included first (-include), and in place of cuda_runtime.h.
 *
 * But for PTX (ptx.h), every device thread is a function call on its own stack (block.h); the threads of a
 * block take turns, switching only at barriers and shuffles. Shared memory is thread-local memory of the host
 * thread that runs the block, one block at a time, because it is then contiguous and can be filled with NaN
 * before each block.
 */
#ifndef GTMARK_TESTS_EMULATOR_LANGUAGE_H
#define GTMARK_TESTS_EMULATOR_LANGUAGE_H

#define MAX_GRID_Y 2 /* kernels/cuda/plan.h: blocks in y loop over the strips of wide matrices */

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <vector>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __launch_bounds__
#define __global__ __attribute__((patchable_function_entry(1))) /* lists it in a section: launch.cc */
#define __device__
#define __host__
#define __shared__ static thread_local
#define __launch_bounds__(...)

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

/* A location in a kernel's source. */
struct source_location {
    const char *file;
    int line;
};

/* Waits for all threads of the block that have not ended. */
void emulated_barrier(struct source_location at);
/* Waits for all lanes of `mask`, and returns the bits that lane `from` of the warp passed. */
uint64_t emulated_exchange(unsigned mask, uint64_t bits, int from, struct source_location at);
/* A store of `bytes` with an instruction for device memory. */
void emulated_device_store(const void *to, size_t bytes, struct source_location at);
/* A kernel's argument. */
struct emulated_argument {
    const void *at;
    size_t bytes;
};
typedef std::vector<emulated_argument> emulated_arguments;
/* Queues a grid of calls of `thread`, which calls `kernel`; its arguments, which `list` adds, take `bytes`.
 */
cudaError_t emulated_launch(const cudaLaunchConfig_t *config, const void *kernel,
                            std::function<void()> thread, std::function<void(emulated_arguments &)> list,
                            size_t bytes);

static inline void __syncthreads(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    emulated_barrier({file, line});
}

template <class T>
static inline T emulated_shuffle(unsigned mask, T value, int from, struct source_location at)
{
    static_assert(sizeof value <= sizeof(uint64_t), "shuffles move up to 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = emulated_exchange(mask, bits, from, at);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/*
 * As in the CUDA C++ Programming Guide, "Warp Shuffle Functions": lanes whose source is outside their `width`
 * keep their own value.
 */

static inline int emulated_lane()
{
    return (int)((threadIdx.y * blockDim.x + threadIdx.x) % 32);
}

template <class T>
static inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
                            const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    return emulated_shuffle(mask, value, (emulated_lane() & ~(width - 1)) | (lane & (width - 1)),
                            {file, line});
}

template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                                const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    int own = emulated_lane(), from = own ^ lanes;
    return emulated_shuffle(mask, value, from / width > own / width ? own : from, {file, line});
}

template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned apart, int width = 32,
                                 const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    int own = emulated_lane(), from = own + (int)apart;
    return emulated_shuffle(mask, value, from / width > own / width ? own : from, {file, line});
}

/* Arguments are copied at launch, as by the runtime. */
template <class... Parameters, class... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                             Arguments &&...arguments)
{
    std::tuple<Parameters...> copies(std::forward<Arguments>(arguments)...);
    return emulated_launch(
        config, (const void *)kernel, [=] { std::apply(kernel, copies); },
        [=](emulated_arguments &to) {
            std::apply([&](const Parameters &...one) { (to.push_back({&one, sizeof one}), ...); }, copies);
        },
        sizeof copies);
}

template <class T>
static inline void __stwb(T *to, T value, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    emulated_device_store(to, sizeof value, {file, line});
    *to = value;
}

/* Of a whole warp. */
static inline int __any_sync(unsigned mask, int predicate, const char *file = __builtin_FILE(),
                             int line = __builtin_LINE())
{
    for (int apart = 16; apart > 0; apart /= 2)
        predicate |= __shfl_xor_sync(mask, predicate, apart, 32, file, line);
    return predicate;
}

static inline uint32_t __float_as_uint(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float __uint_as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounded before anything is added to it. */
static inline float __fmul_rn(float a, float b)
{
    return a * b;
}

/* Host compilers only have templates for these. */
static inline double max(double a, double b)
{
    return a > b ? a : b;
}

#include "tests/emulator/mma.h"

#endif
