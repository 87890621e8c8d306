/*
 * The emulated device finds faults that are planted in small kernels, and names kernel, block, thread and
 * line; without its fault each kernel passes. Each runs in a process of its own, which the emulator aborts.
 */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include <cmocka.h>
}

enum { BLOCKS = 3, THREADS = 64, N = BLOCKS * THREADS };

static __device__ int here()
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

/* Each reverses the numbers of its block through shared memory, where not stated otherwise. */

static __global__ void missing_barrier(float *x, bool fault)
{
    __shared__ float s[THREADS];
    s[threadIdx.x] = x[here()];
    if (!fault)
        __syncthreads();
    x[here()] = s[THREADS - 1 - threadIdx.x];
}

/* The first round's reads are not separated from the second round's writes. */
static __global__ void missing_second_barrier(float *x, bool fault)
{
    __shared__ float s[THREADS];
    for (int round = 0; round < 2; round++) {
        s[threadIdx.x] = x[here()];
        __syncthreads();
        x[here()] = s[THREADS - 1 - threadIdx.x];
        if (!fault)
            __syncthreads();
    }
}

static __global__ void two_writers(float *x, bool fault)
{
    __shared__ float s[THREADS];
    s[fault ? threadIdx.x / 2 : threadIdx.x] = x[here()];
    __syncthreads();
    x[here()] = s[threadIdx.x / 2];
}

static __global__ void barrier_for_some(float *x, bool fault)
{
    if (!fault || threadIdx.x < 40)
        __syncthreads();
    if (threadIdx.x >= 20)
        __syncthreads();
    x[here()] = 1;
}

static __global__ void stray_write(float *x, bool fault)
{
    x[fault && here() == 70 ? N + 1 : here()] = 1;
}

static __global__ void stray_read(float *x, bool fault)
{
    x[here()] = x[fault && here() == 70 ? -1 : here()];
}

/* Moves pairs of numbers as 8 bytes. */
static __global__ void misaligned_read(float *x, bool fault)
{
    typedef uint64_t __attribute__((may_alias)) pair;
    if (here() % 2 == 0)
        *(pair *)(x + here()) = *(const pair *)(x + here() + (fault && here() == 72 ? 1 : 0));
}

static __global__ void read_of_shared_before_write(float *x, bool fault)
{
    __shared__ float s[THREADS];
    if (!fault || threadIdx.x != 9)
        s[threadIdx.x] = x[here()];
    __syncthreads();
    x[here()] = s[THREADS - 1 - threadIdx.x];
}

static __global__ void read_before_write(float *x, bool fault)
{
    float *fresh = x + N;
    if (!fault || here() != 100)
        fresh[here()] = x[here()];
    x[here()] = fresh[here()];
}

/* Four numbers as one store, from each fourth thread. */
static __device__ void store_four(float *to)
{
    if (threadIdx.x % 4 == 0)
        __stwb((float4 *)to, float4{1, 2, 3, 4});
}

static __global__ void device_store_of_shared(float *x, bool fault)
{
    alignas(16) __shared__ float s[THREADS];
    store_four(fault ? s + threadIdx.x : x + here());
}

static __global__ void misaligned_store(float *x, bool fault)
{
    store_four(x + here() + (fault && here() == 68 ? 1 : 0));
}

static __device__ int deep(int depth, volatile int *from)
{
    volatile int room[256];
    room[depth % 256] = *from + depth;
    return depth == 0 ? room[0] : deep(depth - 1, room) + room[depth % 256];
}

static __global__ void stack_overflow(float *x, bool fault)
{
    volatile int start = 1;
    x[here()] = (float)deep(fault && here() == 130 ? 100000 : 3, &start);
}

static __global__ void shuffle_of_some(float *x, bool fault)
{
    unsigned mask = fault && threadIdx.x == 33 ? 1u << 0 : 0xffffffff;
    x[here()] = __shfl_xor_sync(mask, x[here()], 1);
}

typedef void kernel(float *x, bool fault);

/* Runs a kernel on N numbers, with room for as many more. */
static void run_kernel(kernel *k, bool fault, bool room)
{
    cudaStream_t stream;
    float *x, host[N];
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(THREADS);
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc((void **)&x, (room ? 2 : 1) * sizeof host) != cudaSuccess ||
        cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream) != cudaSuccess)
        exit(2);
    config.stream = stream;
    if (cudaLaunchKernelEx(&config, k, x, fault) != cudaSuccess ||
        cudaStreamSynchronize(stream) != cudaSuccess)
        exit(3);
    exit(0);
}

static const struct planted {
    const char *name;
    kernel *run;
    bool room;
    const char *thread, *what; /* in the message; thread "": depends on the order of threads */
} planted[] = {
    {"missing_barrier", missing_barrier, false, "", "reads shared memory that "},
    {"missing_second_barrier", missing_second_barrier, false, "", "since the last barrier"},
    {"two_writers", two_writers, false, "", "writes shared memory that thread"},
    {"barrier_for_some", barrier_for_some, false, "", "barrier"},
    {"stray_write", stray_write, false,
     "block (1, 0), thread 6: ", "writes 4 bytes that are in no allocation"},
    {"stray_read", stray_read, false, "block (1, 0), thread 6: ", "reads 4 bytes that are in no allocation"},
    {"misaligned_read", misaligned_read, false, "block (1, 0), thread 8: ", "reads 8 bytes at a misaligned"},
    {"read_of_shared_before_write", read_of_shared_before_write, false,
     "thread 54: ", "reads shared memory that no thread of the block has written"},
    {"read_before_write", read_before_write, true,
     "block (1, 0), thread 36: ", "reads device memory that was never written"},
    {"device_store_of_shared", device_store_of_shared, false, "", "for device memory elsewhere"},
    {"misaligned_store", misaligned_store, false,
     "block (1, 0), thread 4: ", "writes 16 bytes at a misaligned"},
    {"stack_overflow", stack_overflow, false, "block (2, 0), thread 2: ", "stack overflow"},
    {"shuffle_of_some", shuffle_of_some, false, "thread 33: ", "should be in mask"},
};

/* Runs it in a child; returns its status, and what it printed. */
static int run_apart(const struct planted *p, bool fault, char *text, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        run_kernel(p->run, fault, p->room);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n; (n = read(ends[0], text + length, size - 1 - length)) > 0;)
        length += (size_t)n;
    text[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_planted_faults(void **)
{
    char text[1024], start[128];
    for (const struct planted &p : planted) {
        int status = run_apart(&p, false, text, sizeof text);
        if (status != 0)
            fail_msg("%s, without its fault: %s", p.name, text);
        status = run_apart(&p, true, text, sizeof text);
        snprintf(start, sizeof start, "emulated GPU: %s, block (", p.name);
        bool named = strncmp(text, start, strlen(start)) == 0 && strstr(text, ", thread ");
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !named || !strstr(text, p.thread) ||
            !strstr(text, p.what))
            fail_msg("%s: status %d: %s", p.name, status, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
