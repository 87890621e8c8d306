/*
 * Backward of the linear layer: dz = dy * act'(pre), dx (+)= dz w, dw (+)= dz' x, db (+)= column sums of dz.
 * dy: N x M, x: N x D, w: M x D.
 *
 * One pass computes dz if there is an activation, and its column sums (columns.cuh) if there is a db; without
 * an activation these are left to the epilogue of the product dw, if it can, and if that is faster than the
 * pass (choice.h). The products are cuBLASLt's (matmul.h), accumulating by beta; for those in BF16 dz is
 * rounded.
 *
 * In two parts (enum run_part), dz, its partial sums and dx are the first, what is left for db and dw the
 * second.
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

/* Scratch: dz if there is an activation, partial sums for db. */
struct mat slopes_of(const struct linear_backward_args *a)
{
    struct mat dz = a->act ? scratch_mat(a->call, 0, a->dy.rows, a->dy.cols) : a->dy;
    dz.dtype = a->dy.dtype;
    return dz;
}

int64_t sums_offset(const struct linear_backward_args *a)
{
    return a->act ? scratch_bytes(mat_size(a->dy), dtype_size(a->dy.dtype)) : 0;
}

bool is_part(const struct linear_backward_args *a, enum run_part part)
{
    enum run_part now = context_of(a->call)->part;
    return now == RUN_WHOLE || now == part;
}

cuda_status slopes(const struct linear_backward_args *a)
{
    const struct mat all[] = {slopes_of(a), a->dy, a->pre};
    const int width = width_of(all, a->act ? 3 : 2);
    const bool sums = mat_present(a->db) && is_part(a, RUN_PARAMETERS);
    const bool reads = a->act ? is_part(a, RUN_DATA) : sums;
    return by_type(a->dy.dtype, [&](auto zero) {
        const linear_slopes<decltype(zero)> f = {all[0], a->dy, a->pre, a->act};
        if (!mat_present(a->db))
            return reads ? run_entries(a->call, lines_by_row(a->dy.rows, a->dy.cols, width), f) : cudaSuccess;
        struct columns c = columns_of(a->dy.rows, a->dy.cols, width);
        float *partial = (float *)scratch_at(a->call, sums_offset(a));
        cuda_status status = reads ? run_column_partials(a->call, c, f, partial) : cudaSuccess;
        return status.fault || !sums
                   ? status
                   : run_column_totals(a->call, c.chunks, c.cols, partial, {a->db, {}, {}, 0});
    });
}

/* dw = dz' x, with db or without. */
struct matmul weight_gradient(const struct linear_backward_args *a, bool tf32, bool with_sums)
{
    const cublasLtEpilogue_t epilogue = with_sums ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_DEFAULT;
    return {a->dw, slopes_of(a), a->x, true, false, tf32, epilogue, with_sums ? a->db.data : NULL};
}

enum sums { IN_PRODUCT, APART };

/* dz, dw and db. */
cuda_status gradients(const struct linear_backward_args *a, bool tf32, enum sums sums)
{
    const struct matmul dw = weight_gradient(a, tf32, sums == IN_PRODUCT);
    cuda_status status = sums == APART ? slopes(a) : cuda_status(cudaSuccess);
    return status.fault || !mat_present(a->dw) || !is_part(a, RUN_PARAMETERS) ? status : matmul(a->call, &dw);
}

/* Times both, the first time. */
cuda_status choose_sums(const struct linear_backward_args *a, bool tf32, struct cuda_choice *choice)
{
    const struct cuda_context *c = context_of(a->call);
    struct linear_backward_args again = *a;
    double seconds[2] = {};
    int fastest = IN_PRODUCT;
    void *own;
    cuda_status status = choice_result(c, &again.dw, &own);
    const bool timed = again.dw.data && c->product_algorithms > 1 && !c->captures;
    if (!status.fault && timed)
        status = gradients(&again, tf32, APART); /* the other was tried */
    if (!status.fault && timed)
        status = choice_run(
            c, 2, [&](int way) { return gradients(&again, tf32, (enum sums)way); }, seconds, &fastest);
    if (own && !status.fault)
        status = cudaStreamSynchronize(c->stream);
    cudaFree(own);
    choice->is.way = fastest;
    snprintf(choice->text, sizeof choice->text, "bias gradient of %lld x %lld %s: %s", (long long)a->dy.rows,
             (long long)a->dy.cols, tf32 ? "tf32" : dtype_name(a->dy.dtype),
             fastest == APART ? "apart" : "in the product");
    choice_add_times(choice, 2, seconds);
    return status;
}

/*
 * Whether the product stores db: it does not add to it, and the library must have such a product, which is
 * not the slower way. The code of the pass is loaded.
 */
cuda_status find_sums(const struct linear_backward_args *a, bool tf32, enum sums *sums)
{
    struct cuda_context *c = context_of(a->call);
    const struct matmul fused = weight_gradient(a, tf32, true);
    bool fuses = false;
    *sums = APART;
    if (a->act || !mat_present(a->dw) || !mat_present(a->db) || a->db.acc ||
        (uintptr_t)a->db.data % BIAS_ALIGNMENT || cuda_is_idle(c))
        return cudaSuccess;
    cuda_status status = matmul_fuses(a->call, &fused, &fuses);
    if (status.fault || !fuses)
        return status;
    const int64_t key[CHOICE_WORDS] = {a->dw.rows, a->dw.cols, a->dy.rows,  a->dw.ld,
                                       a->dy.ld,   a->x.ld,    a->dy.dtype, tf32 | a->dw.acc << 1,
                                       -1};
    struct cuda_choice *choice = choice_find(c, key);
    if (!choice)
        status = choose_sums(a, tf32, choice = choice_add(c, key));
    *sums = (enum sums)choice->is.way;
    return status;
}

cuda_status linear_backward(const struct linear_backward_args *a, bool tf32)
{
    const struct matmul dx = {a->dx, slopes_of(a), a->w, false, false, tf32, CUBLASLT_EPILOGUE_DEFAULT, NULL};
    enum sums sums;
    cuda_status status = find_sums(a, tf32, &sums);
    if (!status.fault)
        status = gradients(a, tf32, sums);
    return status.fault || !mat_present(a->dx) || !is_part(a, RUN_DATA) ? status : matmul(a->call, &dx);
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
