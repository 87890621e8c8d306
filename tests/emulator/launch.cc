/*
 * Grids. The blocks of each launch, and the warps of each block, run in one of three orders: ascending,
 * descending, or shuffled. Two runs of an op, whose bits the tests compare, therefore rarely have the same
 * order. The order depends on the number of previous launches.
 */
#include "tests/emulator/emulator.h"
#include "tests/emulator/ptx.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <utility>

#include <dlfcn.h>

enum order { ASCENDING, DESCENDING, SHUFFLED, ORDERS };

static std::set<const void *> launched;

extern "C" int emulated_kernels(char *idle, size_t size)
{
    std::string names;
    auto kernels = ptx_kernels();
    for (const auto &[function, name] : kernels)
        if (!launched.count(function))
            names += emulator_kernel_name(name) + "\n";
    snprintf(idle, size, "%s", names.c_str());
    return (int)kernels.size();
}

/* Selects the orders, the same in every run of a program. */
static std::minstd_rand random_order(1);

/*
 * Limits of compute capability 8.0 and later: "Technical specifications per compute capability" in the CUDA
 * C++ Programming Guide.
 */
static bool allowed(const cudaLaunchConfig_t *l)
{
    uint64_t threads = (uint64_t)l->blockDim.x * l->blockDim.y * l->blockDim.z;
    return l->gridDim.x >= 1 && l->gridDim.x <= INT32_MAX && l->gridDim.y >= 1 && l->gridDim.y <= 65535 &&
           l->gridDim.z >= 1 && l->gridDim.z <= 65535 && threads >= 1 && threads <= 1024 &&
           l->blockDim.z <= 64 && l->dynamicSmemBytes == 0;
}

static std::vector<int> warps_in(enum order order, int count)
{
    std::vector<int> warps((size_t)count);
    for (int i = 0; i < count; i++)
        warps[(size_t)i] = order == DESCENDING ? count - 1 - i : i;
    if (order == SHUFFLED)
        std::shuffle(warps.begin(), warps.end(), random_order);
    return warps;
}

/*
 * Block number `at` of `count` in this order; steps of a prime that does not divide the count reach all
 * blocks.
 */
static uint64_t block_in(enum order order, uint64_t at, uint64_t count)
{
    const uint64_t prime = 7919;
    if (order == SHUFFLED && count % prime)
        return at * prime % count;
    return order == DESCENDING ? count - 1 - at : at;
}

/* Tells a profiler, if one is loaded (tests/cupti), what runs. */
static void tell(const ptx::kernel &k)
{
    typedef void seen(const char *name);
    static seen *profiler = (seen *)dlsym(RTLD_DEFAULT, "played_kernel");
    static std::set<std::string> names;
    if (profiler)
        profiler(names.emplace(k.name).first->c_str());
}

/* Launches with several blocks in y of kernels that do not ask how many these are. */
static int unasked;

extern "C" int emulated_unasked(void)
{
    return std::exchange(unasked, 0);
}

/* Kernels that ask loop over what these blocks leave: they get few, so that small shapes reach the loop. */
static unsigned blocks_in_y(const ptx::kernel &k, unsigned wanted)
{
    const unsigned few = 2;
    if (k.specials.count("%nctaid.y"))
        return std::min(wanted, few);
    unasked += wanted > 1;
    return wanted;
}

static void run_grid(const ptx::kernel &k, dim3 grid, dim3 size, const std::vector<char> &parameters)
{
    enum order order = (enum order)(random_order() % ORDERS);
    int threads = (int)(size.x * size.y * size.z);
    std::vector<int> warps = warps_in(order, (threads + ptx::LANES - 1) / ptx::LANES);
    std::string name(k.name);
    grid.y = blocks_in_y(k, grid.y);
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    tell(k);
    block_now.kernel = name.c_str();
    block_now.grid = grid;
    block_now.size = size;
    block_now.launched = block_now.time + 1;
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t number = block_in(order, i, blocks);
        block_now.index = {(unsigned)(number % grid.x), (unsigned)(number / grid.x % grid.y),
                           (unsigned)(number / grid.x / grid.y)};
        ptx_block_run(k, parameters, threads, warps);
    }
}

/* Kernels with a preference, which must be one that the manual allows. */
static std::set<const void *> preferring;

extern "C" cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute which, int value)
{
    if (which != cudaFuncAttributePreferredSharedMemoryCarveout || value < -1 || value > 100)
        return emulator_status(cudaErrorInvalidValue);
    if (value == cudaSharedmemCarveoutMaxShared)
        preferring.insert(kernel);
    return cudaSuccess;
}

extern "C" int emulated_preferring(void)
{
    return (int)preferring.size();
}

extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
    const size_t code = 64 << 10;
    *attributes = {};
    attributes->sharedSizeBytes = (size_t)ptx_kernel(kernel).shared_bytes;
    return emulator_status(memory_load(kernel, code));
}

/* Arguments are copied at launch, as by the runtime. */
static std::vector<char> packed(const ptx::kernel &k, void **arguments)
{
    std::vector<char> to((size_t)k.parameter_bytes, (char)POISON);
    for (const ptx::parameter &p : k.parameters)
        memcpy(&to[(size_t)p.offset], *arguments++, (size_t)p.bytes);
    return to;
}

extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                           void **arguments)
{
    cudaFuncAttributes attributes;
    const ptx::kernel &k = ptx_kernel(function);
    if (!allowed(config) || k.parameter_bytes > 4096)
        return emulator_status(cudaErrorInvalidConfiguration);
    cudaError_t status = cudaFuncGetAttributes(&attributes, function);
    if (status != cudaSuccess)
        return status;
    launched.insert(function);
    stream_queue(config->stream,
                 [&k, grid = config->gridDim, size = config->blockDim, parameters = packed(k, arguments)] {
                     run_grid(k, grid, size, parameters);
                 });
    return cudaSuccess;
}

/* What nvcc makes of each kernel for launches by <<<>>>, which nobody does, calls these. */
extern "C" {
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *)
{
    emulator_fail("a launch by <<<>>>");
}

cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *)
{
    return cudaErrorNotSupported;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t)
{
    return cudaErrorNotSupported;
}
}
