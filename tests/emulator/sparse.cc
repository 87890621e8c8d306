/*
 * cuSPARSE: the product of a CSR matrix and a dense one, y = alpha A x + beta y, with row-major dense
 * matrices and CUSPARSE_SPMM_CSR_ALG3, whose documented requirements (cusparseSpMM) are checked. The buffer
 * size depends on all three matrices. The buffer is overwritten, but for the active one of a preprocessed
 * matrix, which must not have changed since.
 */
#include "tests/emulator/emulator.h"

/* As in kernels/cuda/context.h. */
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

struct cusparseContext {
    int device;
    cudaStream_t stream;
};

struct cusparseSpMatDescr {
    int64_t rows, cols, entries;
    const int32_t *offsets, *columns;
    const float *values;
    void *active;        /* buffer of cusparseSpMM_preprocess, */
    int64_t active_cols; /* for dense matrices with so many columns */
};

struct cusparseDnMatDescr {
    int64_t rows, cols, ld;
    float *values;
};

static cusparseStatus_t dense(cusparseDnMatDescr **to, int64_t rows, int64_t cols, int64_t ld,
                              const void *values, cudaDataType type, cusparseOrder_t order)
{
    if (rows < 0 || cols < 0 || ld < cols || !values || (uintptr_t)values % sizeof(float))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (type != CUDA_R_32F || order != CUSPARSE_ORDER_ROW)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    *to = new cusparseDnMatDescr{rows, cols, ld, (float *)values};
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check(const cusparseContext *handle, cusparseOperation_t on_a,
                              cusparseOperation_t on_b, const cusparseSpMatDescr *a,
                              const cusparseDnMatDescr *x, const cusparseDnMatDescr *y, cudaDataType type,
                              cusparseSpMMAlg_t algorithm)
{
    if (handle->device != current_device())
        emulator_fail("a product by cuSPARSE on a device other than its handle's");
    if (a->cols != x->rows || a->rows != y->rows || x->cols != y->cols)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (on_a != CUSPARSE_OPERATION_NON_TRANSPOSE || on_b != CUSPARSE_OPERATION_NON_TRANSPOSE ||
        type != CUDA_R_32F || algorithm != CUSPARSE_SPMM_CSR_ALG3)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return CUSPARSE_STATUS_SUCCESS;
}

static size_t buffer_of(const cusparseSpMatDescr *a, const cusparseDnMatDescr *x)
{
    return (size_t)(16 * (a->rows + a->entries) + 4 * x->cols + 3);
}

/* What preprocessing leaves in the buffer. */
static int64_t trace_of(const cusparseSpMatDescr *a)
{
    return a->rows * 7919 + a->entries;
}

static size_t bytes_of(const cusparseDnMatDescr *m)
{
    return (size_t)((m->rows - 1) * m->ld + m->cols) * sizeof(float);
}

/* As CUDA 13.0 does on an H100, what lies between rows of y is written. */
static void multiply(float alpha, const cusparseSpMatDescr *a, const cusparseDnMatDescr *x, float beta,
                     const cusparseDnMatDescr *y)
{
    if (a->offsets[0] != 0 || a->offsets[a->rows] != a->entries)
        emulator_fail("the offsets of a CSR matrix go from %d to %d, and it has %lld entries", a->offsets[0],
                      a->offsets[a->rows], (long long)a->entries);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = 0; k < x->cols; k++) {
            double sum = 0;
            for (int32_t e = a->offsets[i]; e < a->offsets[i + 1]; e++) {
                if (a->columns[e] < 0 || a->columns[e] >= a->cols)
                    emulator_fail("a CSR matrix of %lld columns has an entry in column %d",
                                  (long long)a->cols, a->columns[e]);
                sum += (double)a->values[e] * (double)x->values[a->columns[e] * x->ld + k];
            }
            float *to = &y->values[i * y->ld + k];
            *to = (float)((double)alpha * sum + (beta != 0 ? (double)beta * (double)*to : 0));
        }
    for (int64_t i = 0; i + 1 < a->rows; i++)
        memory_spoil(&y->values[i * y->ld + y->cols], (size_t)(y->ld - y->cols) * sizeof(float));
}

extern "C" {

const char *cusparseGetErrorString(cusparseStatus_t status)
{
    return status == CUSPARSE_STATUS_INVALID_VALUE   ? "invalid value"
           : status == CUSPARSE_STATUS_NOT_SUPPORTED ? "not supported"
                                                     : "a status of the emulated cuSPARSE";
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType, int *value)
{
    *value = 0;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
    *handle = new cusparseContext{current_device(), NULL};
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
    delete handle;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t *to, int64_t rows, int64_t cols,
                                        int64_t entries, const void *offsets, const void *columns,
                                        const void *values, cusparseIndexType_t offset_type,
                                        cusparseIndexType_t column_type, cusparseIndexBase_t base,
                                        cudaDataType type)
{
    if (rows < 0 || cols < 0 || entries < 0 || !offsets || (entries && (!columns || !values)) ||
        (uintptr_t)offsets % sizeof(int32_t) || (uintptr_t)columns % sizeof(int32_t) ||
        (uintptr_t)values % sizeof(float))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (offset_type != CUSPARSE_INDEX_32I || column_type != CUSPARSE_INDEX_32I ||
        base != CUSPARSE_INDEX_BASE_ZERO || type != CUDA_R_32F)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    *to = new cusparseSpMatDescr{
        rows, cols, entries, (const int32_t *)offsets, (const int32_t *)columns, (const float *)values,
        NULL, 0};
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *to, int64_t rows, int64_t cols, int64_t ld,
                                     void *values, cudaDataType type, cusparseOrder_t order)
{
    return dense(to, rows, cols, ld, values, type, order);
}

cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *to, int64_t rows, int64_t cols,
                                          int64_t ld, const void *values, cudaDataType type,
                                          cusparseOrder_t order)
{
    cusparseDnMatDescr *m = NULL;
    cusparseStatus_t status = dense(&m, rows, cols, ld, values, type, order);
    *to = m;
    return status;
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m)
{
    delete m;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t m)
{
    delete m;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t on_a,
                                         cusparseOperation_t on_b, const void *, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnMatDescr_t x, const void *, cusparseDnMatDescr_t y,
                                         cudaDataType type, cusparseSpMMAlg_t algorithm, size_t *bytes)
{
    *bytes = buffer_of(a, x);
    return check(handle, on_a, on_b, a, x, y, type, algorithm);
}

/* Checks a call of cusparseSpMM or of its preprocessing. */
static cusparseStatus_t expect_product(cusparseContext *handle, cusparseOperation_t on_a,
                                       cusparseOperation_t on_b, const cusparseSpMatDescr *a,
                                       const cusparseDnMatDescr *x, const cusparseDnMatDescr *y,
                                       cudaDataType type, cusparseSpMMAlg_t algorithm, const void *buffer)
{
    const size_t code = 4 << 20;
    cusparseStatus_t status = check(handle, on_a, on_b, a, x, y, type, algorithm);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    /* 128: from the manual, "the address of all pointers to temporary buffers". */
    if (!buffer || (uintptr_t)buffer % 128)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (memory_load((const void *)cusparseSpMM, code) != cudaSuccess)
        return CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
    memory_expect(handle->device, buffer, buffer_of(a, x), "the buffer of cusparseSpMM");
    memory_expect(handle->device, a->offsets, (size_t)(a->rows + 1) * sizeof(int32_t),
                  "cusparseSpMM: offsets");
    memory_expect(handle->device, a->columns, (size_t)a->entries * sizeof(int32_t), "cusparseSpMM: columns");
    memory_expect(handle->device, a->values, (size_t)a->entries * sizeof(float), "cusparseSpMM: values");
    memory_expect(handle->device, x->values, bytes_of(x), "cusparseSpMM: x");
    memory_expect(handle->device, y->values, bytes_of(y), "cusparseSpMM: y");
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t on_a,
                                         cusparseOperation_t on_b, const void *, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnMatDescr_t x, const void *, cusparseDnMatDescr_t y,
                                         cudaDataType type, cusparseSpMMAlg_t algorithm, void *buffer)
{
    cusparseStatus_t status = expect_product(handle, on_a, on_b, a, x, y, type, algorithm, buffer);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    cusparseSpMatDescr *matrix = const_cast<cusparseSpMatDescr *>(a);
    matrix->active = buffer;
    matrix->active_cols = x->cols;
    stream_queue(handle->stream, [=, bytes = buffer_of(a, x), trace = trace_of(a)] {
        memory_spoil(buffer, bytes);
        *(int64_t *)buffer = trace;
    });
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t on_a, cusparseOperation_t on_b,
                              const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t x,
                              const void *beta, cusparseDnMatDescr_t y, cudaDataType type,
                              cusparseSpMMAlg_t algorithm, void *buffer)
{
    cusparseStatus_t status = expect_product(handle, on_a, on_b, a, x, y, type, algorithm, buffer);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    if (a->active == buffer && a->active_cols != x->cols)
        emulator_fail("cusparseSpMM: %lld columns, but %lld when it was preprocessed", (long long)x->cols,
                      (long long)a->active_cols);
    /* Descriptors may be destroyed after the call returns. */
    stream_queue(handle->stream,
                 [=, a = *a, x = *x, y = *y, alpha = *(const float *)alpha, beta = *(const float *)beta] {
                     if (a.active != buffer)
                         memory_spoil(buffer, buffer_of(&a, &x));
                     else if (*(const int64_t *)buffer != trace_of(&a))
                         emulator_fail("cusparseSpMM: the buffer has changed since it was preprocessed");
                     multiply(alpha, &a, &x, beta, &y);
                 });
    return CUSPARSE_STATUS_SUCCESS;
}
}
