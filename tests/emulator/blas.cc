/* cuBLAS: handles, and float products. */
#include "tests/emulator/emulator.h"

#include <cublas_v2.h>

struct cublasContext {
    int device;
    cudaStream_t stream;
    void *workspace;
    size_t workspace_bytes;
};

static float same(float x)
{
    return x;
}

/* The end of the last entry, for `count` matrices with stride `stride`. */
static size_t bytes_of(int64_t rows, int64_t cols, int64_t ld, int64_t stride, int64_t count)
{
    return (size_t)((count - 1) * stride + (cols - 1) * ld + rows) * sizeof(float);
}

extern "C" {

const char *cublasGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_INVALID_VALUE   ? "an invalid value"
           : status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported"
                                                   : "a status of the emulated cuBLAS";
}

cublasStatus_t cublasGetProperty(libraryPropertyType, int *value)
{
    *value = 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    *handle = new cublasContext{current_device(), NULL, NULL, 0};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

/* As documented, setting the stream resets the workspace. */
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    handle->workspace = NULL;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    if ((uintptr_t)workspace % 256)
        return CUBLAS_STATUS_INVALID_VALUE;
    memory_expect(handle->device, workspace, bytes, "cublasSetWorkspace");
    handle->workspace = workspace;
    handle->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t mode)
{
    return mode == CUBLAS_POINTER_MODE_HOST ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t mode)
{
    return mode == CUBLAS_DEFAULT_MATH ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t mode)
{
    return mode == CUBLAS_ATOMICS_NOT_ALLOWED ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t on_a,
                                            cublasOperation_t on_b, int64_t rows, int64_t cols, int64_t inner,
                                            const float *alpha, const float *a, int64_t lda,
                                            long long stride_a, const float *b, int64_t ldb,
                                            long long stride_b, const float *beta, float *c, int64_t ldc,
                                            long long stride_c, int64_t count)
{
    const bool ta = on_a == CUBLAS_OP_T, tb = on_b == CUBLAS_OP_T;
    if (rows < 1 || cols < 1 || inner < 1 || count < 1 || lda < (ta ? inner : rows) ||
        ldb < (tb ? cols : inner) || ldc < rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->device != current_device() || !handle->workspace)
        emulator_fail("a product by cuBLAS without a workspace, or on another device");
    const size_t code = 16 << 20;
    if (memory_load((const void *)cublasSgemmStridedBatched_64, code) != cudaSuccess)
        return CUBLAS_STATUS_ALLOC_FAILED;
    memory_expect(handle->device, a, bytes_of(ta ? inner : rows, ta ? rows : inner, lda, stride_a, count),
                  "cuBLAS: a");
    memory_expect(handle->device, b, bytes_of(tb ? cols : inner, tb ? inner : cols, ldb, stride_b, count),
                  "cuBLAS: b");
    memory_expect(handle->device, c, bytes_of(rows, cols, ldc, stride_c, count), "cuBLAS: c");
    const struct gemm first = {ta, tb, rows, cols, inner, *alpha, *beta, a, b, c, lda, ldb, ldc, same, false};
    void *workspace = handle->workspace;
    size_t workspace_bytes = handle->workspace_bytes;
    stream_queue(handle->stream, [=] {
        memory_spoil(workspace, workspace_bytes);
        for (int64_t i = 0; i < count; i++) {
            struct gemm g = first;
            g.a += i * stride_a;
            g.b += i * stride_b;
            g.c += i * stride_c;
            gemm_run(&g);
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}
}
