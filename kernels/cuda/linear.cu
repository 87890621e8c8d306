/*
 * Linear layer: z = x w' + b, y = act(z), pre = z. x: N x D, w: M x D, b: 1 x M, y and pre: N x M.
 *
 * The product is cuBLASLt's (matmul.h). Its epilogue adds the bias if b is suitably aligned, and applies the
 * activation if it is the same mathematics and z is not stored: ReLU; and in TF32 the tanh form of GELU, the
 * only form it has, in its own single-precision implementation. Everything else is one pass over z: bias, pre
 * and activation, two entries of traffic per entry of y.
 *
 * Variants: "cublaslt" computes in f32; "tf32" lets the product round its operands to TF32.
 */
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/entries.cuh"
#include "kernels/cuda/math.h"
#include "kernels/cuda/matmul.h"

namespace
{
enum { BIAS_ALIGNMENT = 16 /* bytes, for the library's BIAS epilogue */ };

/* The part of the work done by the product's epilogue. */
struct fusion {
    bool bias, act;
};

struct fusion fusion_of(const struct linear_args *a, bool tf32)
{
    struct fusion f;
    f.bias = mat_present(a->b) && (uintptr_t)a->b.data % BIAS_ALIGNMENT == 0;
    bool same = a->act == ACT_RELU || (tf32 && a->act == ACT_GELU_TANH);
    f.act = same && !mat_present(a->pre) && f.bias == mat_present(a->b);
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

/* z is the product, stored in pre or y; b is absent if it was added already. */
template <int ACT> struct finish_entries {
    struct mat y, pre, z, b;

    template <int V> __device__ void at(int64_t i, int64_t k) const
    {
        vec<V> sum = load<V>(entry(z, i, k)), out;
        if (present(b))
            sum = sum + load<V>(entry(b, 0, k));
#pragma unroll
        for (int v = 0; v < V; v++)
            out.at[v] = activation(ACT, sum.at[v]);
        if (present(pre) && present(b))
            store(entry(pre, i, k), sum);
        store(entry(y, i, k), out);
    }
};

template <int ACT> cuda_status run_finish(const struct linear_args *a, struct mat z, struct mat b)
{
    const struct mat all[] = {a->y, z, b};
    const finish_entries<ACT> f = {a->y, a->pre, z, b};
    return run_entries(a->call, lines_by_row(a->y.rows, a->y.cols, width_of(all, 3)), f);
}

cuda_status finish(const struct linear_args *a, struct mat z, struct mat b)
{
    switch (a->act) {
    case ACT_GELU:
        return run_finish<ACT_GELU>(a, z, b);
    case ACT_GELU_TANH:
        return run_finish<ACT_GELU_TANH>(a, z, b);
    case ACT_RELU:
        return run_finish<ACT_RELU>(a, z, b);
    default:
        return run_finish<ACT_NONE>(a, z, b);
    }
}

cuda_status linear(const struct linear_args *a, bool tf32)
{
    const struct cuda_context *c = context_of(a->call);
    const struct mat absent = {};
    struct mat z = mat_present(a->pre) ? a->pre : a->y;
    struct fusion f = fusion_of(a, tf32), none = {false, false};
    struct matmul m = {
        z, a->x, a->w, false, true, tf32, epilogue_of(f, a->act), f.bias ? (const float *)a->b.data : NULL};
    cublasStatus_t status = matmul(c, &m, a->call.scratch);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED && m.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
        f = none;
        m.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
        m.bias = NULL;
        status = matmul(c, &m, a->call.scratch);
    }
    bool add = mat_present(a->b) && !f.bias;
    if (status || (!add && !mat_present(a->pre) && (!a->act || f.act)))
        return status;
    return finish(a, z, add ? a->b : absent);
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

extern "C" int64_t cuda_linear_scratch(const void *)
{
    return MATMUL_WORKSPACE;
}
