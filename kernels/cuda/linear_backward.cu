/*
 * Backward of the linear layer: dz = dy * act'(pre), dx (+)= dz w, dw (+)= dz' x, db (+)= column sums of dz.
 * dy: N x M, x: N x D, w: M x D.
 *
 * One pass, `slopes`, computes dz if there is an activation, and its column sums: a block processes WARP
 * columns of a part of the rows, each of its warps every LANES-th row, and their sums are added in order. The
 * same kernel then adds the parts' sums to db, so nothing depends on the order in which blocks run. Parts
 * depend on N alone. The products are cuBLASLt's (matmul.h), accumulating by beta.
 */
#include "kernels/cuda/check.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matrix.cuh"
#include "kernels/cuda/run.cuh"

enum { LANES = COLUMN_SUMS_LANES };

/* Parts of the scratch buffer; absent if not needed. */
struct scratch_parts {
    void *workspace;
    struct mat dz;   /* N x M */
    struct mat sums; /* parts x M: column sums of each part of the rows */
    int64_t bytes;   /* total */
};

static struct mat scratch_for(const struct call *call, int64_t rows, int64_t cols, int64_t *bytes)
{
    struct mat m = {};
    m.data = call->scratch ? (char *)call->scratch + *bytes : NULL;
    m.rows = rows;
    m.cols = m.ld = cols;
    m.dtype = F32;
    *bytes += round_up(mat_bytes(m), SCRATCH_ALIGNMENT);
    return m;
}

static struct scratch_parts scratch_parts_of(const struct linear_backward_args *a)
{
    struct scratch_parts r = {};
    r.workspace = a->call.scratch;
    r.bytes = MATMUL_WORKSPACE;
    if (a->act)
        r.dz = scratch_for(&a->call, a->dy.rows, a->dy.cols, &r.bytes);
    if (mat_present(a->db))
        r.sums = scratch_for(&a->call, column_sums_parts(a->dy.rows), a->dy.cols, &r.bytes);
    return r;
}

/*
 * dz = dy act'(pre), unless ACT is none, and row blockIdx.y of sums (+)= the column sums over one part of the
 * rows, unless sums is absent.
 */
template <int ACT>
static __global__ void slopes(struct mat dz, struct mat sums, struct mat dy, struct mat pre,
                              int64_t part_rows)
{
    __shared__ float lanes[LANES][WARP];
    int64_t k = (int64_t)blockIdx.x * WARP + threadIdx.x;
    int64_t begin = (int64_t)blockIdx.y * part_rows, end = min_of(begin + part_rows, dy.rows);
    float sum = 0;
    for (int64_t i = begin + threadIdx.y; i < end && k < dy.cols; i += LANES) {
        float z = ACT == ACT_NONE ? 0 : *entry(pre, i, k);
        float gradient = activation_backward(ACT, z, *entry(dy, i, k));
        if (ACT != ACT_NONE)
            *entry(dz, i, k) = gradient;
        sum += gradient;
    }
    lanes[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (sums.rows == 0 || threadIdx.y > 0 || k >= dy.cols)
        return;
    for (int l = 1; l < LANES; l++)
        sum += lanes[l][threadIdx.x];
    put(sums, blockIdx.y, k, sum);
}

/* parts: number of parts of dy's rows */
static void launch_slopes(const struct call &call, int act, struct mat dz, struct mat sums, struct mat dy,
                          struct mat pre, int64_t parts)
{
    struct launch l = launch_column_sums(dy.cols, parts);
    dim3 block(WARP, l.block / WARP);
    int64_t part_rows = blocks_of(dy.rows, parts);
    switch (act) {
    case ACT_GELU:
        run_arranged(call, l, block, slopes<ACT_GELU>, dz, sums, dy, pre, part_rows);
        break;
    case ACT_GELU_TANH:
        run_arranged(call, l, block, slopes<ACT_GELU_TANH>, dz, sums, dy, pre, part_rows);
        break;
    case ACT_RELU:
        run_arranged(call, l, block, slopes<ACT_RELU>, dz, sums, dy, pre, part_rows);
        break;
    default:
        run_arranged(call, l, block, slopes<ACT_NONE>, dz, sums, dy, pre, part_rows);
    }
}

static void linear_backward(const struct linear_backward_args *a, bool tf32)
{
    const struct cuda_context *c = (const struct cuda_context *)a->call.context;
    const struct mat absent = {};
    struct scratch_parts r = scratch_parts_of(a);
    if (a->act || mat_present(a->db))
        launch_slopes(a->call, a->act, r.dz, r.sums, a->dy, a->pre, column_sums_parts(a->dy.rows));
    if (mat_present(a->db))
        launch_slopes(a->call, ACT_NONE, absent, a->db, r.sums, absent, 1);
    CUDA_CHECK(cudaPeekAtLastError());

    struct mat dz = a->act ? r.dz : a->dy;
    struct matmul dx = {a->dx, dz, a->w, false, false, tf32, CUBLASLT_EPILOGUE_DEFAULT, NULL};
    struct matmul dw = {a->dw, dz, a->x, true, false, tf32, CUBLASLT_EPILOGUE_DEFAULT, NULL};
    if (mat_present(a->dx))
        CUDA_CHECK(matmul(c, &dx, r.workspace));
    if (mat_present(a->dw))
        CUDA_CHECK(matmul(c, &dw, r.workspace));
}

extern "C" void cuda_linear_backward(const void *args)
{
    linear_backward((const struct linear_backward_args *)args, false);
}

extern "C" void cuda_linear_backward_tf32(const void *args)
{
    linear_backward((const struct linear_backward_args *)args, true);
}

extern "C" int64_t cuda_linear_backward_scratch(const void *args)
{
    return scratch_parts_of((const struct linear_backward_args *)args).bytes;
}
