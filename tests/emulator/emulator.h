/*
 * An emulated GPU: declarations shared by its parts (memory, streams, libraries). It implements the functions
 * of the CUDA runtime, cuBLAS, cublasLt and cuSPARSE that kernels/cuda calls, with their own headers, and
 * nvcc's objects link with it instead of the real ones; kernels are executed from their PTX (ptx.h).
 *
 * It is strict where a GPU would be lenient or nondeterministic: fresh memory and the libraries' workspaces
 * are NaN; nothing runs before something waits for it; the host cannot access device memory; and undefined
 * behaviour in CUDA is a message on stderr and abort. Times are the host's.
 */
#ifndef GTMARK_TESTS_EMULATOR_EMULATOR_H
#define GTMARK_TESTS_EMULATOR_EMULATOR_H

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>

enum {
    DEVICES = 2,
    MULTIPROCESSORS = 2, /* few, so that small shapes count as large */
    POISON = 0xff        /* of each byte: NaN in float and double, -1 as an index */
};

/* Prints one line, with kernel, block and thread if one runs, and aborts. */
[[noreturn]] void emulator_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A kernel as messages name it. */
std::string emulator_kernel_name(const char *mangled);

/* Returns the status; an error is also stored for cudaGetLastError. */
cudaError_t emulator_status(cudaError_t status);

/* Writes the names of the kernels that were not launched, a line each; returns the number of all. */
extern "C" int emulated_kernels(char *idle, size_t size);

/* Set by cudaSetDevice. */
int current_device(void);
/* Whether a stream is being captured: calls that wait or allocate are then errors. */
bool emulator_captures(void);

/* Queues device work. Fails if the stream belongs to another device. */
void stream_queue(cudaStream_t stream, std::function<void()> work);
/* For queued work: the events after it are so much later. */
void stream_pause(double seconds);
/* Runs all queued work of the device's streams. */
void device_drain(int device);

/*
 * Loads code into the memory of the current device, when it is used for the first time, where it stays. An
 * error if there is no room, and during capture. GTMARK_EMULATED_MEMORY is the memory of a device in MiB.
 */
cudaError_t memory_load(const void *code, size_t bytes);
/* Fails unless the bytes are in an allocation of this device. */
void memory_expect(int device, const void *from, size_t bytes, const char *what);
/* Whether these bytes are in an allocation. */
bool memory_allocated(const void *from, size_t bytes);
/* A kernel writes these bytes; whether a word of them was never written. */
void memory_mark(const void *from, size_t bytes);
bool memory_fresh(const void *from, size_t bytes);
/* Who accessed a word of memory last, and when, in times of block_now; 0: never. */
struct word_access {
    uint32_t written, read;
    int16_t writer, reader; /* threads, or several (access.cc) */
};
/* The word of device memory with this address. */
word_access *memory_word(const void *at);
/* Whether the address is in memory from cudaMallocHost. */
bool memory_pinned(const void *from);
/* Makes device memory accessible to the host while queued work runs. */
void memory_open(void);
void memory_close(void);
/* Overwrites both ends of a workspace, as a library call would. */
void memory_spoil(void *from, size_t bytes);

/*
 * Column-major, as in BLAS: c = alpha op(a) op(b) + beta c, with sums in double unless `tensor`; `round` is
 * applied to operands.
 */
struct gemm {
    bool a_transposed, b_transposed;
    int64_t rows, cols, inner;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc;
    float (*round)(float);
    bool tensor; /* sums as on tensor cores (gemm.cc) */
};
void gemm_run(const struct gemm *g);

#endif
