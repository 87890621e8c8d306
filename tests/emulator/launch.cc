/*
 * Grids. The blocks of each launch, and the threads of each block, run in one of three orders: ascending or
 * descending, in which a warp runs as far ahead of the others as barriers allow, or shuffled, in which all
 * threads advance in step. Two runs of an op, whose bits the tests compare, therefore rarely have the same
 * order. The order depends on the number of previous launches.
 */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/language.h"
#include "tests/emulator/ptx.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>

#include <dlfcn.h>

enum order { ASCENDING, DESCENDING, SHUFFLED, ORDERS };

static const void *running;

const void *grid_kernel(void)
{
    return running;
}

/* The kernels, a section that the compiler fills for __global__, and those that were launched. */
extern "C" __attribute__((visibility("hidden"))) const void *const __start___patchable_function_entries[];
extern "C" __attribute__((visibility("hidden"))) const void *const __stop___patchable_function_entries[];
static std::set<const void *> launched;

extern "C" int emulated_kernels(char *idle, size_t size)
{
    const void *const *first = __start___patchable_function_entries;
    const void *const *end = __stop___patchable_function_entries;
    std::string names;
    for (const void *const *kernel = first; kernel < end; kernel++)
        if (!launched.count(*kernel))
            names += emulator_function(*kernel) + "\n";
    snprintf(idle, size, "%s", names.c_str());
    return (int)(end - first);
}

/* Selects the orders, the same in every run of a program. */
static std::minstd_rand random_order(1);

/*
 * Limits of compute capability 8.0 and later: "Technical specifications per compute capability" in the CUDA
 * C++ Programming Guide.
 */
static bool allowed(const cudaLaunchConfig_t *l, size_t argument_bytes)
{
    uint64_t threads = (uint64_t)l->blockDim.x * l->blockDim.y * l->blockDim.z;
    return l->gridDim.x >= 1 && l->gridDim.x <= INT32_MAX && l->gridDim.y >= 1 && l->gridDim.y <= 65535 &&
           l->gridDim.z == 1 && threads >= 1 && threads <= 1024 && l->blockDim.z <= 64 &&
           l->dynamicSmemBytes == 0 && argument_bytes <= 4096;
}

static std::vector<int> threads_in(enum order order, int count)
{
    std::vector<int> threads((size_t)count);
    for (int i = 0; i < count; i++)
        threads[(size_t)i] = order == DESCENDING ? count - 1 - i : i;
    if (order == SHUFFLED)
        std::shuffle(threads.begin(), threads.end(), random_order);
    return threads;
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

/* Runs the block given by blockIdx, of these threads in this order, in stretches. */
typedef std::function<void(const std::vector<int> &threads, int stretch)> block_runner;

/* Tells a profiler, if one is loaded (tests/cupti), what runs. */
static void tell(const void *kernel)
{
    typedef void seen(const char *name);
    static seen *profiler = (seen *)dlsym(RTLD_DEFAULT, "played_kernel");
    static std::set<std::string> names;
    if (profiler)
        profiler(names.insert(emulator_symbol(kernel)).first->c_str());
}

static void run_grid(const void *kernel, dim3 grid, dim3 size, const block_runner &run)
{
    enum order order = (enum order)(random_order() % ORDERS);
    std::vector<int> threads = threads_in(order, (int)(size.x * size.y * size.z));
    int stretch = order == SHUFFLED ? (int)threads.size() : 32;
    uint64_t blocks = (uint64_t)grid.x * grid.y;
    running = kernel;
    tell(kernel);
    gridDim = grid;
    blockDim = size;
    block_now.launched = block_now.time + 1;
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t number = block_in(order, i, blocks);
        blockIdx = {(unsigned)(number % grid.x), (unsigned)(number / grid.x), 0};
        run(threads, stretch);
    }
}

static block_runner ptx_runner(const void *kernel, const std::function<void(emulated_arguments &)> &list)
{
    const ptx::kernel &k = ptx_kernel(kernel);
    emulated_arguments arguments;
    list(arguments);
    return [&k, parameters = ptx_pack(k, arguments)](const std::vector<int> &threads, int) {
        ptx_block_run(k, parameters, threads);
    };
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

/* Of a source the shared memory is not known: taken to be much. */
extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
    const size_t code = 64 << 10, much = 32 << 10;
    if (attributes)
        *attributes = {};
    if (attributes)
        attributes->sharedSizeBytes = ptx_chosen() ? (size_t)ptx_kernel(kernel).shared_bytes : much;
    return emulator_status(memory_load(kernel, code));
}

cudaError_t emulated_launch(const cudaLaunchConfig_t *config, const void *kernel,
                            std::function<void()> thread, std::function<void(emulated_arguments &)> list,
                            size_t argument_bytes)
{
    if (!allowed(config, argument_bytes))
        return emulator_status(cudaErrorInvalidConfiguration);
    cudaError_t status = cudaFuncGetAttributes(NULL, kernel);
    if (status != cudaSuccess)
        return status;
    launched.insert(kernel);
    dim3 grid = config->gridDim, size = config->blockDim;
    stream_queue(config->stream, [=] {
        block_runner source = [&](const std::vector<int> &threads, int stretch) {
            shared_memory_poison();
            block_run(thread, threads, stretch);
        };
        run_grid(kernel, grid, size, ptx_chosen() ? ptx_runner(kernel, list) : source);
    });
    return cudaSuccess;
}
