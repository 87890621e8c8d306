/* Why a GPU cannot be opened, in one line: what CUDA or a library says, and what helps. */
#ifndef GTMARK_KERNELS_CUDA_REFUSAL_H
#define GTMARK_KERNELS_CUDA_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cudaSuccess: there are no GPUs. Returns false. */
bool refuse_gpu(int index, cudaError_t status, char *error, size_t error_size);

/* The library cannot be initialised. Returns false. */
bool refuse_library(const char *library, const char *words, char *error, size_t error_size);

/* Loads the code of a kernel (adamw.cu), which says whether the driver takes that of all. */
cudaError_t cuda_probe(void);

#ifdef __cplusplus
}
#endif

#endif
