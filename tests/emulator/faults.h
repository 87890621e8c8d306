/*
 * Kernels in which a fault is planted, for tests of the emulated device: each runs in a process of its own,
 * which the emulator aborts with a line.
 */
#ifndef GTMARK_TESTS_EMULATOR_FAULTS_H
#define GTMARK_TESTS_EMULATOR_FAULTS_H

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

typedef void kernel(float *x, bool fault);

struct planted {
    const char *name;
    kernel *run;
    bool room;                 /* twice */
    const char *thread, *what; /* in the message; thread "": depends on the order of threads */
    int threads = THREADS;     /* of a block, with the fault */
};

#define PLANTED(name, ...)                                                                                   \
    {                                                                                                        \
#name, name, __VA_ARGS__                                                                             \
    }

/* Runs a kernel on 0, 1, ... N - 1, which it replaces; `room` is for as many more. Returns whether it ran. */
static bool run_kernel(kernel *k, bool fault, bool room, dim3 blocks, int threads, float (&x)[N])
{
    cudaStream_t stream;
    float *on_device;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaMalloc((void **)&on_device, (room ? 2 : 1) * sizeof x) != cudaSuccess ||
        cudaMemcpyAsync(on_device, x, sizeof x, cudaMemcpyHostToDevice, stream) != cudaSuccess)
        return false;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, k, on_device, fault) == cudaSuccess &&
           cudaMemcpyAsync(x, on_device, sizeof x, cudaMemcpyDeviceToHost, stream) == cudaSuccess &&
           cudaStreamSynchronize(stream) == cudaSuccess;
}

/* Runs it in a child; returns its status, and what it printed. */
static int run_apart(const struct planted &p, bool fault, char *text, size_t size)
{
    int ends[2], status;
    float x[N];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        exit(run_kernel(p.run, fault, p.room, BLOCKS, fault ? p.threads : THREADS, x) ? 0 : 2);
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

/* The kernel passes without its fault, and with it fails with a line that names kernel, block and thread. */
static void expect_fault(const struct planted &p)
{
    char text[1024], start[128];
    int status = run_apart(p, false, text, sizeof text);
    if (status != 0)
        fail_msg("%s, without its fault: %s", p.name, text);
    status = run_apart(p, true, text, sizeof text);
    snprintf(start, sizeof start, "emulated GPU: %s, block (", p.name);
    bool named = strncmp(text, start, strlen(start)) == 0 && strstr(text, ", thread ");
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !named || !strstr(text, p.thread) ||
        !strstr(text, p.what))
        fail_msg("%s: status %d: %s", p.name, status, text);
}
#endif
