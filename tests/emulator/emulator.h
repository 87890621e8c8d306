/*
 * A GPU that is none: what its parts (memory, streams, libraries) share. Its functions are those of the CUDA
 * runtime, cuBLAS, cublasLt and cuSPARSE that kernels/cuda calls, by their own headers, so that the library
 * of kernels links with it in their place.
 *
 * It is strict where a GPU would be lenient or random: fresh memory, scratch of the libraries and shared
 * memory are NaN, nothing runs before something waits for it, the host cannot touch device memory, and what
 * CUDA leaves undefined is a line on stderr and abort. What it knows of time is the host's.
 */
#ifndef GTMARK_TESTS_EMULATOR_EMULATOR_H
#define GTMARK_TESTS_EMULATOR_EMULATOR_H

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

enum {
    DEVICES = 2,
    MULTIPROCESSORS = 2, /* few, so that small shapes count as large ones */
    POISON = 0xff        /* of each byte: NaN as float and double, -1 as an index */
};

/* One line, and abort. */
[[noreturn]] void emulator_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The status, and where it is an error, what cudaGetLastError finds. */
cudaError_t emulator_status(cudaError_t status);

/* Of the calling thread; cudaSetDevice. */
int current_device(void);
/* Whether some stream is being captured: calls that wait or allocate are errors then. */
bool emulator_captures(void);

/* Queues what runs on the device. Fails where the stream is another device's. */
void stream_queue(cudaStream_t stream, std::function<void()> work);
/* Runs what was queued on all streams of the device. */
void device_drain(int device);

/* Fails unless these bytes lie in an allocation of this device. */
void memory_expect(int device, const void *from, size_t bytes, const char *what);
/* Whether they lie in memory of cudaMallocHost. */
bool memory_pinned(const void *from);
/* Device memory can be touched by the host's instructions only while something runs. */
void memory_open(void);
void memory_close(void);
/* A product's scratch, as a library leaves it: its ends are overwritten. */
void memory_spoil(void *from, size_t bytes);

/* All shared memory is NaN; of the calling thread. */
void shared_memory_poison(void);

/* Column-major, as in BLAS: c = alpha op(a) op(b) + beta c, sums in double; `round` is what operands go
 * through. */
struct gemm {
    bool a_transposed, b_transposed;
    int64_t rows, cols, inner;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc;
    float (*round)(float);
};
void gemm_run(const struct gemm *g);

#endif
