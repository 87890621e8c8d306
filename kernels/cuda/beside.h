/*
 * What a GPU takes beside a program's arena and its kernels' time: plain C, also for plans that are made
 * without the CUDA library.
 */
#ifndef GTMARK_KERNELS_CUDA_BESIDE_H
#define GTMARK_KERNELS_CUDA_BESIDE_H

#include "kernels/backend.h"

enum {
    CUDA_ALIGNMENT = 256,
    /* NVIDIA's recommendation for its largest generation ("cublasSetWorkspace" in the cuBLAS manual), and
       all. */
    PRODUCT_WORKSPACE = 32 << 20,
    CUDA_WORKSPACE = DEVICE_STREAMS * PRODUCT_WORKSPACE,
    PRODUCT_ALGORITHMS = 8, /* of a product, at most, that are timed */
    /*
     * Bytes that are not offered to programs, for code and memory that libraries take on first use. They do
     * not always report its lack as such, so with less than this free, any failure counts as lack of memory.
     */
    CUDA_RESERVE = 256 << 20
};

/* Seconds that an entry of a program takes at least in a replayed graph ("Predicted time" in
 * docs/methods.md). */
#define CUDA_LAUNCH 5e-6

#endif
