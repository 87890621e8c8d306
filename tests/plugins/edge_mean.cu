/*
 * A plug-in for GPUs: the mean over the edges of each node, right or with one FAULT of those below, which the
 * audit must name (tests/test_audit.sh).
 *
 *     nvcc -O2 -shared -Xcompiler -fPIC -I kernels tests/plugins/edge_mean.cu -o mine.so
 */
#include <gtmark_plugin.h>

enum {
    NONE,
    TAIL,     /* columns beyond a multiple of 4 are forgotten */
    PAST_END, /* writes one entry past the end of y */
    INPUT     /* writes its input */
};
#ifndef FAULT
#define FAULT NONE
#endif

struct job {
    float *y, *x;
    const int64_t *row;
    const int32_t *col;
    int64_t rows, cols, y_ld, x_ld;
};

/* A block for each node, whose threads share the columns. */
static __global__ void mean(struct job j)
{
    int64_t i = blockIdx.x, first = j.row[i], end = j.row[i + 1];
    for (int64_t k = threadIdx.x; k < (FAULT == TAIL ? j.cols / 4 * 4 : j.cols); k += blockDim.x) {
        int64_t count = 0;
        double sum = 0;
        for (int64_t e = first; e < end; e++)
            if (j.col[e] != i) {
                sum += j.x[e * j.x_ld + k];
                count++;
            }
        j.y[i * j.y_ld + k] = (float)(count ? sum / (double)count : 0);
    }
    if (FAULT == PAST_END && i + 1 == j.rows && threadIdx.x == 0)
        j.y[i * j.y_ld + j.cols] = 0;
    if (FAULT == INPUT && i == 0 && threadIdx.x == 0 && j.x)
        j.x[0] = 1;
}

static const char *run(const struct gtmark_call *call)
{
    struct gtmark_matrix y = gtmark_matrix(call, "y"), x = gtmark_matrix(call, "x");
    struct job j = {(float *)y.data,
                    (float *)x.data,
                    (const int64_t *)gtmark_matrix(call, "adj.row").data,
                    (const int32_t *)gtmark_matrix(call, "adj.col").data,
                    y.rows,
                    y.cols,
                    y.ld,
                    x.ld};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)y.rows);
    config.blockDim = dim3(64);
    config.stream = (cudaStream_t)call->stream;
    cudaError_t status = cudaLaunchKernelEx(&config, mean, j);
    return status == cudaSuccess ? NULL : cudaGetErrorString(status);
}

/* op, variant, device, types, flags, run, scratch, supports, setup, teardown, options */
static const struct gtmark_entry entries[] = {
    {"edge_mean", "mine", "cuda", GTMARK_F32, 0, run, NULL, NULL, NULL, NULL, NULL},
};
GTMARK_PLUGIN(entries);
