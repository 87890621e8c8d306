/*
 * Backward of the linear layer: dz = dy * act'(pre), dx (+)= dz w, dw (+)= dz' x, db (+)= column sums of dz.
 * dy: N x M, x: N x D, w: M x D.
 *
 * One pass computes dz if there is an activation, and its column sums (columns.cuh) if there is a db; without
 * an activation these are left to the epilogue of the product dw, if it can. The products are cuBLASLt's
 * (matmul.h), accumulating by beta; for those in BF16 dz is rounded.
 */
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/math.h"
#include "kernels/cuda/matmul.h"

namespace
{
/* dz = dy act'(pre), stored if there is an activation. */
template <class T> struct linear_slopes {
    struct mat dz, dy, pre;
    int act;

    template <int V> __device__ vec<V> at(int64_t i, int64_t k) const
    {
        vec<V> slope = load<V>(entry<T>(dy, i, k));
        if (act == ACT_NONE)
            return slope;
        vec<V> z = load<V>(entry<T>(pre, i, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            slope.at[v] = activation_backward(act, z.at[v], slope.at[v]);
        store(entry<T>(dz, i, k), slope);
        return slope;
    }
    __device__ void enter(int64_t)
    {
    }
    template <int V> __device__ void add(int64_t i, int64_t k, column_sums<V> &sums) const
    {
        sums.s = sums.s + at<V>(i, k);
    }
};

/* Scratch: the products' workspace, dz if there is an activation, partial sums for db. */
struct mat slopes_of(const struct linear_backward_args *a)
{
    struct mat dz = a->act ? scratch_mat(a->call, MATMUL_WORKSPACE, a->dy.rows, a->dy.cols) : a->dy;
    dz.dtype = a->dy.dtype;
    return dz;
}

int64_t sums_offset(const struct linear_backward_args *a)
{
    return MATMUL_WORKSPACE + (a->act ? scratch_bytes(mat_size(a->dy), dtype_size(a->dy.dtype)) : 0);
}

cuda_status slopes(const struct linear_backward_args *a)
{
    const struct mat all[] = {slopes_of(a), a->dy, a->pre};
    int width = width_of(all, a->act ? 3 : 2);
    if (!a->act && !mat_present(a->db))
        return cudaSuccess;
    return by_type(a->dy.dtype, [&](auto zero) {
        const linear_slopes<decltype(zero)> f = {all[0], a->dy, a->pre, a->act};
        if (!mat_present(a->db))
            return run_entries(a->call, lines_by_row(a->dy.rows, a->dy.cols, width), f);
        struct columns c = columns_of(a->dy.rows, a->dy.cols, width);
        float *partial = (float *)scratch_at(a->call, sums_offset(a));
        const struct column_results to = {a->db, {}, {}, 0};
        return run_columns(a->call, c, f, partial, to);
    });
}

/* dw = dz' x and db, which the product stores rather than adds. Code is loaded for the other way too. */
cublasStatus_t product_with_sums(const struct linear_backward_args *a, bool tf32)
{
    const struct cuda_context *c = context_of(a->call);
    const struct matmul dw = {a->dw, a->dy, a->x, true, false, tf32, CUBLASLT_EPILOGUE_BGRADB, a->db.data};
    if (a->act || !mat_present(a->dw) || !mat_present(a->db) || a->db.acc ||
        (uintptr_t)a->db.data % BIAS_ALIGNMENT || cuda_is_idle(c))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return matmul(c, &dw, a->call.scratch);
}

cuda_status linear_backward(const struct linear_backward_args *a, bool tf32)
{
    const struct cuda_context *c = context_of(a->call);
    struct mat dz = slopes_of(a);
    struct matmul dx = {a->dx, dz, a->w, false, false, tf32, CUBLASLT_EPILOGUE_DEFAULT, NULL};
    struct matmul dw = {a->dw, dz, a->x, true, false, tf32, CUBLASLT_EPILOGUE_DEFAULT, NULL};
    cublasStatus_t fused = product_with_sums(a, tf32);
    cuda_status status = fused == CUBLAS_STATUS_NOT_SUPPORTED ? slopes(a) : cuda_status(fused);
    if (mat_present(a->dx) && !status.fault)
        status = matmul(c, &dx, a->call.scratch);
    if (mat_present(a->dw) && fused && !status.fault)
        status = matmul(c, &dw, a->call.scratch);
    return status;
}
} // namespace

extern "C" void cuda_linear_backward(const void *args)
{
    const struct linear_backward_args *a = (const struct linear_backward_args *)args;
    CUDA_CHECK(a->call, linear_backward(a, false));
}

extern "C" void cuda_linear_backward_tf32(const void *args)
{
    const struct linear_backward_args *a = (const struct linear_backward_args *)args;
    CUDA_CHECK(a->call, linear_backward(a, true));
}

extern "C" int64_t cuda_linear_backward_scratch(const void *args)
{
    const struct linear_backward_args *a = (const struct linear_backward_args *)args;
    int64_t chunks = mat_present(a->db) ? columns_of(a->dy.rows, a->dy.cols, 1).chunks : 0;
    return sums_offset(a) + columns_bytes(chunks, a->dy.cols);
}
