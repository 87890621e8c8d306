/*
 * Linear layer: z = x w' + b, y = act(z), pre = z. x: N x D, w: M x D, b: 1 x M, y and pre: N x M.
 *
 * The product is cuBLASLt's (matmul.h). Its epilogue adds the bias if b is suitably aligned, and applies the
 * activation if it is the same mathematics and z is not stored: ReLU; and in TF32 the tanh form of GELU, the
 * only form it has, in its own single-precision implementation. Everything else is one pass over z in
 * `finish`, one warp per piece of a row: bias, pre and activation, two entries of traffic per entry of y.
 *
 * Variants: "cublaslt" computes in f32; "tf32" lets the product round its operands to TF32.
 */
#include "kernels/cuda/check.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matrix.cuh"
#include "kernels/cuda/run.cuh"

enum { BIAS_ALIGNMENT = 16 /* bytes, for the library's BIAS epilogue */ };

/* The part of the work done by the product's epilogue. */
struct fusion {
    bool bias, act;
};

static struct fusion fusion_of(const struct linear_args *a, bool tf32)
{
    struct fusion f;
    f.bias = mat_present(a->b) && (uintptr_t)a->b.data % BIAS_ALIGNMENT == 0;
    bool same = a->act == ACT_RELU || (tf32 && a->act == ACT_GELU_TANH);
    f.act = same && !mat_present(a->pre) && f.bias == mat_present(a->b);
    return f;
}

static cublasLtEpilogue_t epilogue_of(struct fusion f, int act)
{
    if (!f.act)
        return f.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    if (act == ACT_RELU)
        return f.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    return f.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
}

/* z is the product, stored in pre or y; b may be null. */
template <int ACT, int WIDTH>
static __global__ void finish(struct mat y, struct mat pre, struct mat z, const float *__restrict__ b)
{
    int64_t k = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    if (k >= y.cols)
        return;
    vec<WIDTH> bias = {};
    if (b)
        bias = load<WIDTH>(b + k);
    int64_t stride = (int64_t)gridDim.y * blockDim.y;
    for (int64_t i = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; i < y.rows; i += stride) {
        vec<WIDTH> v = load<WIDTH>(entry(z, i, k)), out;
        for (int l = 0; l < WIDTH; l++) {
            v.at[l] += bias.at[l];
            out.at[l] = activation(ACT, v.at[l]);
        }
        if (pre.rows > 0 && b)
            store(entry(pre, i, k), v);
        store(entry(y, i, k), out);
    }
}

template <int WIDTH> static void launch_finish(const struct linear_args *a, struct mat z, const float *b)
{
    struct launch l = launch_rows(a->y.rows, a->y.cols, WIDTH);
    dim3 block(WARP, l.block / WARP);
    switch (a->act) {
    case ACT_GELU:
        run_arranged(a->call, l, block, finish<ACT_GELU, WIDTH>, a->y, a->pre, z, b);
        break;
    case ACT_GELU_TANH:
        run_arranged(a->call, l, block, finish<ACT_GELU_TANH, WIDTH>, a->y, a->pre, z, b);
        break;
    case ACT_RELU:
        run_arranged(a->call, l, block, finish<ACT_RELU, WIDTH>, a->y, a->pre, z, b);
        break;
    default:
        run_arranged(a->call, l, block, finish<ACT_NONE, WIDTH>, a->y, a->pre, z, b);
    }
}

static void linear(const struct linear_args *a, bool tf32)
{
    const struct cuda_context *c = (const struct cuda_context *)a->call.context;
    struct mat z = mat_present(a->pre) ? a->pre : a->y;
    struct fusion f = fusion_of(a, tf32), none = {false, false};
    const float *b = (const float *)a->b.data;
    struct matmul m = {z, a->x, a->w, false, true, tf32, epilogue_of(f, a->act), f.bias ? b : NULL};
    cublasStatus_t status = matmul(c, &m, a->call.scratch);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED && m.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
        f = none;
        m.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
        m.bias = NULL;
        status = matmul(c, &m, a->call.scratch);
    }
    CUDA_CHECK(status);

    bool add = mat_present(a->b) && !f.bias;
    if (!add && !mat_present(a->pre) && (!a->act || f.act))
        return;
    bool wide = launch_width(a->y) == 4 && launch_width(z) == 4 && (!add || launch_width(a->b) == 4);
    if (wide)
        launch_finish<4>(a, z, add ? b : NULL);
    else
        launch_finish<1>(a, z, add ? b : NULL);
    CUDA_CHECK(cudaPeekAtLastError());
}

extern "C" void cuda_linear(const void *args)
{
    linear((const struct linear_args *)args, false);
}

extern "C" void cuda_linear_tf32(const void *args)
{
    linear((const struct linear_args *)args, true);
}

extern "C" int64_t cuda_linear_scratch(const void *)
{
    return MATMUL_WORKSPACE;
}
