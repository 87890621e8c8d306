/*
 * Linear layer: z = x w' + b, y = act(z), pre = z. x: N x D, w: M x D, b: 1 x M, y and pre: N x M.
 *
 * The product is cuBLASLt's (matmul.h). Its epilogue adds the bias if b is suitably aligned, and applies the
 * activation if it is the same mathematics and z is not stored: ReLU; and in TF32 the tanh form of GELU, the
 * only form it has, in its own single-precision implementation. Everything else is one pass over z: bias, pre
 * and activation, two entries of traffic per entry of y. If y is in BF16, z is in F32 in scratch until that
 * pass, so that each output is rounded once. If the library refuses an epilogue, that pass does its part.
 *
 * Variants: "cublaslt" computes in f32; "tf32" lets the product round its operands to TF32.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/math.h"
#include "kernels/cuda/matmul.h"

namespace
{
/* The part of the work done by the product's epilogue: of the bias, the activation, or all. */
struct fusion {
    bool bias, act, all;
};

/* A bias in BF16 cannot be added to z in F32: the pass that rounds z adds it. */
struct fusion fusion_of(const struct linear_args *a, bool tf32)
{
    struct fusion f;
    f.bias = mat_present(a->b) && (uintptr_t)a->b.data % BIAS_ALIGNMENT == 0;
    bool same = a->act == ACT_RELU || (tf32 && a->act == ACT_GELU_TANH), biased = f.bias == mat_present(a->b);
    f.act = same && !mat_present(a->pre) && biased;
    f.all = f.act || (!a->act && !mat_present(a->pre) && biased);
    f.bias = f.bias && (f.all || a->y.dtype == F32);
    return f;
}

cublasLtEpilogue_t epilogue_of(struct fusion f, int act)
{
    if (!f.act)
        return f.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    if (act == ACT_RELU)
        return f.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    return f.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
}

/* b is absent if it was added to z already, and pre if that is z. */
template <class T> struct finish_entries {
    struct mat y, pre, z, b;
    int act;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = load<V>(entry(z, i, k)), out;
        if (present(b))
            sum = sum + load<V>(entry<T>(b, 0, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            out.at[v] = activation(act, sum.at[v]);
        if (present(pre))
            store(entry<T>(pre, i, k), sum);
        store(entry<T>(y, i, k), out);
    }
};

cuda_status finish(const struct linear_args *a, struct mat z, struct mat b)
{
    const struct mat absent = {}, pre = z.dtype == a->y.dtype && !mat_present(b) ? absent : a->pre;
    const struct mat all[] = {a->y, pre, z, b};
    struct lines l = lines_by_row(a->y.rows, a->y.cols, width_of(all, 4));
    return run_entries<finish_entries>(a->call, a->y.dtype, l, a->y, pre, z, b, a->act);
}

/* Where the product is stored until the pass over it: if y is in BF16, in scratch. */
struct mat product_of(const struct linear_args *a, struct fusion f)
{
    if (a->y.dtype == BF16 && !f.all)
        return scratch_mat(a->call, 0, a->y.rows, a->y.cols);
    return mat_present(a->pre) ? a->pre : a->y;
}

struct matmul multiply(const struct linear_args *a, struct fusion f, bool tf32)
{
    return {product_of(a, f),         a->x, a->w, false, true, tf32, epilogue_of(f, a->act),
            f.bias ? a->b.data : NULL};
}

cuda_status linear(const struct linear_args *a, bool tf32)
{
    const struct mat absent = {};
    struct fusion f = fusion_of(a, tf32), none = {false, false, false};
    struct matmul m = multiply(a, f, tf32);
    bool fuses = true;
    cuda_status status = f.bias || f.act ? matmul_fuses(a->call, &m, &fuses) : cuda_status(cudaSuccess);
    if (!fuses) {
        f = none;
        m = multiply(a, f, tf32);
    }
    if (!status.fault)
        status = matmul(a->call, &m);
    return status.fault || f.all ? status : finish(a, m.c, f.bias ? absent : a->b);
}
} // namespace

extern "C" void cuda_linear(const void *args)
{
    const struct linear_args *a = (const struct linear_args *)args;
    CUDA_CHECK(a->call, linear(a, false));
}

extern "C" void cuda_linear_tf32(const void *args)
{
    const struct linear_args *a = (const struct linear_args *)args;
    CUDA_CHECK(a->call, linear(a, true));
}

extern "C" int64_t cuda_linear_scratch(const void *args)
{
    const struct linear_args *a = (const struct linear_args *)args;
    bool apart = a->y.dtype == BF16 && (mat_present(a->b) || mat_present(a->pre) || a->act);
    return apart ? scratch_bytes(mat_size(a->y), sizeof(float)) : 0;
}
