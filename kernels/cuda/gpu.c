/*
 * A GPU's memory, streams and timing through the CUDA runtime.
 *
 * Every context has one stream, which all launches, copies and events use. Copies to and from pageable host
 * memory wait for the stream, as the contract requires. Memory is allocated by cudaMalloc, never managed, so
 * that oversubscription fails rather than pages.
 */
#include "kernels/cuda/gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include <nvtx3/nvToolsExt.h>

#include "kernels/cuda/check.h"
#include "kernels/cuda/context.h"

/* The context that kernels see, which must come first, and cuBLAS's workspace. */
struct opened {
    struct cuda_context context;
    void *workspace;
};

/* NVIDIA's recommendation for its largest generation ("cublasSetWorkspace" in the cuBLAS manual). */
static const size_t workspace_bytes = 32 << 20;

static int count_devices(char *error, size_t error_size)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0)
        return count;
    snprintf(error, error_size, "no NVIDIA GPU found (driver says: %s)",
             status == cudaSuccess ? "there are 0" : cudaGetErrorString(status));
    return 0;
}

static int attribute(enum cudaDeviceAttr which, int index)
{
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, index) == cudaSuccess ? value : 0;
}

static void library_versions(struct device_facts *f)
{
    int part[3] = {0};
    cudaRuntimeGetVersion(&f->runtime);
    cudaDriverGetVersion(&f->driver);
    for (int i = 0; i < 3; i++)
        cublasGetProperty((libraryPropertyType)i, &part[i]);
    f->blas = 10000 * part[0] + 100 * part[1] + part[2];
    f->blas_lt = (int)cublasLtGetVersion();
    for (int i = 0; i < 3; i++)
        cusparseGetProperty((libraryPropertyType)i, &part[i]);
    f->sparse = 1000 * part[0] + 100 * part[1] + part[2];
}

static bool describe(int index, struct device_facts *f)
{
    struct cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, index) != cudaSuccess)
        return false;
    *f = (struct device_facts){.multiprocessors = p.multiProcessorCount,
                               .major = p.major,
                               .minor = p.minor,
                               .memory = (int64_t)p.totalGlobalMem,
                               .l2 = p.l2CacheSize};
    snprintf(f->name, sizeof f->name, "%.127s", p.name);
    cudaDeviceGetPCIBusId(f->bus, sizeof f->bus, index);
    f->clock = 1e3 * attribute(cudaDevAttrClockRate, index);
    f->memory_clock = 1e3 * attribute(cudaDevAttrMemoryClockRate, index);
    library_versions(f);
    return true;
}

static void free_matrices(struct cuda_csr *m)
{
    while (m) {
        struct cuda_csr *next = m->next;
        if (m->matrix)
            cusparseDestroySpMat(m->matrix);
        free(m);
        m = next;
    }
}

static void close_context(void *context)
{
    struct opened *o = context;
    struct cuda_context *c = &o->context;
    free_matrices(c->matrices);
    if (c->sparse)
        cusparseDestroy(c->sparse);
    if (c->blas_lt)
        cublasLtDestroy(c->blas_lt);
    if (c->blas)
        cublasDestroy(c->blas);
    cudaFree(o->workspace);
    if (c->stream)
        cudaStreamDestroy(c->stream);
    free(o);
}

/*
 * Sets up cuBLAS: on the stream, in float, deterministic, and with a workspace of ours, because its own would
 * be allocated during graph capture. The stream is set first, since that resets the workspace.
 */
static bool make_blas(struct opened *o)
{
    cublasHandle_t *blas = &o->context.blas;
    return cublasCreate(blas) == CUBLAS_STATUS_SUCCESS &&
           cublasSetStream(*blas, o->context.stream) == CUBLAS_STATUS_SUCCESS &&
           cublasSetWorkspace(*blas, o->workspace, workspace_bytes) == CUBLAS_STATUS_SUCCESS &&
           cublasSetPointerMode(*blas, CUBLAS_POINTER_MODE_HOST) == CUBLAS_STATUS_SUCCESS &&
           cublasSetMathMode(*blas, CUBLAS_DEFAULT_MATH) == CUBLAS_STATUS_SUCCESS &&
           cublasSetAtomicsMode(*blas, CUBLAS_ATOMICS_NOT_ALLOWED) == CUBLAS_STATUS_SUCCESS;
}

/* Creates stream and handles; after a failure, those created so far stay in the context, to be closed. */
static const char *fill_context(struct opened *o)
{
    struct cuda_context *c = &o->context;
    cudaError_t status = cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
    if (status == cudaSuccess)
        status = cudaMalloc(&o->workspace, workspace_bytes);
    if (status != cudaSuccess)
        return cudaGetErrorString(status);
    if (!make_blas(o))
        return "cuBLAS cannot be initialised";
    if (cublasLtCreate(&c->blas_lt) != CUBLAS_STATUS_SUCCESS)
        return "cuBLASLt cannot be initialised";
    if (cusparseCreate(&c->sparse) != CUSPARSE_STATUS_SUCCESS ||
        cusparseSetStream(c->sparse, c->stream) != CUSPARSE_STATUS_SUCCESS)
        return "cuSPARSE cannot be initialised";
    return NULL;
}

static void *open_context(int index, char *error, size_t error_size)
{
    int count = count_devices(error, error_size);
    if (count == 0)
        return NULL;
    if (index >= count) {
        snprintf(error, error_size, "there are %d GPUs: cuda:0 to cuda:%d", count, count - 1);
        return NULL;
    }
    struct opened *o = calloc(1, sizeof *o);
    if (!o)
        abort();
    cudaError_t status = cudaSetDevice(index);
    o->context.device = index;
    o->context.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, index);
    const char *fault = status == cudaSuccess ? fill_context(o) : cudaGetErrorString(status);
    if (!fault)
        return o;
    snprintf(error, error_size, "%s", fault);
    close_context(o);
    return NULL;
}

static void *allocate(void *context, int64_t bytes)
{
    void *memory = NULL;
    cudaError_t status = cudaMalloc(&memory, (size_t)bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* clears the error for later checks */
        return NULL;
    }
    CUDA_CHECK(context, status);
    return memory;
}

static void wait(void *context)
{
    struct cuda_context *c = context;
    CUDA_CHECK(context, cudaStreamSynchronize(c->stream));
}

static void release(void *context, void *memory)
{
    wait(context);
    CUDA_CHECK(context, cudaFree(memory));
}

static void move(void *context, void *to, const void *from, int64_t bytes, enum cudaMemcpyKind kind)
{
    struct cuda_context *c = context;
    CUDA_CHECK(context, cudaMemcpyAsync(to, from, (size_t)bytes, kind, c->stream));
    wait(context);
}

static void write_memory(void *context, void *to, const void *from, int64_t bytes)
{
    move(context, to, from, bytes, cudaMemcpyHostToDevice);
}

static void read_memory(void *context, void *to, const void *from, int64_t bytes)
{
    move(context, to, from, bytes, cudaMemcpyDeviceToHost);
}

static void clear(void *context, void *memory, int64_t bytes)
{
    struct cuda_context *c = context;
    CUDA_CHECK(context, cudaMemsetAsync(memory, 0, (size_t)bytes, c->stream));
}

static void *host_allocate(void *context, int64_t bytes)
{
    (void)context;
    void *memory = NULL;
    if (cudaMallocHost(&memory, (size_t)bytes) == cudaSuccess)
        return memory;
    cudaGetLastError(); /* clears the error for later checks */
    return NULL;
}

static void host_release(void *context, void *memory)
{
    wait(context);
    CUDA_CHECK(context, cudaFreeHost(memory));
}

static int64_t available(void *context)
{
    (void)context;
    size_t bytes, total;
    CUDA_CHECK(NULL, cudaMemGetInfo(&bytes, &total));
    return bytes > CUDA_RESERVE ? (int64_t)bytes - CUDA_RESERVE : 0;
}

static int64_t taken(void *context)
{
    (void)context;
    size_t bytes, total;
    CUDA_CHECK(NULL, cudaMemGetInfo(&bytes, &total));
    return (int64_t)(total - bytes);
}

static void load_only(void *context, bool only)
{
    struct cuda_context *c = context;
    c->loads = only;
}

static const char *exhausted(void *context)
{
    struct cuda_context *c = context;
    const char *fault = c->fault;
    c->fault = NULL;
    return fault;
}

static void *event_new(void *context)
{
    (void)context;
    cudaEvent_t event;
    CUDA_CHECK(NULL, cudaEventCreate(&event));
    return event;
}

static void event_free(void *event)
{
    CUDA_CHECK(NULL, cudaEventDestroy(event));
}

static void event_record(void *context, void *event)
{
    struct cuda_context *c = context;
    CUDA_CHECK(NULL, cudaEventRecord(event, c->stream));
}

static double seconds(void *from, void *to)
{
    float milliseconds;
    CUDA_CHECK(NULL, cudaEventElapsedTime(&milliseconds, from, to));
    return 1e-3 * (double)milliseconds;
}

/* Thread-local mode: other threads cannot invalidate the capture. */
static void capture_begin(void *context)
{
    struct cuda_context *c = context;
    CUDA_CHECK(context, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
}

static void *capture_end(void *context)
{
    struct cuda_context *c = context;
    cudaGraph_t graph;
    cudaGraphExec_t executable = NULL;
    CUDA_CHECK(context, cudaStreamEndCapture(c->stream, &graph));
    CUDA_CHECK(context, cudaGraphInstantiate(&executable, graph, 0));
    CUDA_CHECK(context, cudaGraphDestroy(graph));
    if (executable)
        CUDA_CHECK(context, cudaGraphUpload(executable, c->stream));
    return executable;
}

static void launch(void *context, void *graph)
{
    struct cuda_context *c = context;
    CUDA_CHECK(context, cudaGraphLaunch(graph, c->stream));
}

static void graph_free(void *graph)
{
    CUDA_CHECK(NULL, cudaGraphExecDestroy(graph));
}

/*
 * NVTX is header-only: the first call looks for a profiler's library; without one, a range costs a pointer
 * test and returns no level.
 */
static bool traced(void *context)
{
    (void)context;
    if (nvtxRangePushA("gtmark") < 0)
        return false;
    nvtxRangePop();
    return true;
}

static void range_push(void *context, const char *name)
{
    (void)context;
    nvtxRangePushA(name);
}

static void range_pop(void *context)
{
    (void)context;
    nvtxRangePop();
}

const struct device cuda_gpu = {
    .alignment = 256,
    .count = count_devices,
    .facts = describe,
    .open = open_context,
    .close = close_context,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .clear = clear,
    .wait = wait,
    .available = available,
    .taken = taken,
    .load_only = load_only,
    .exhausted = exhausted,
    .event_new = event_new,
    .event_free = event_free,
    .event_record = event_record,
    .seconds = seconds,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .launch = launch,
    .graph_free = graph_free,
    .host_allocate = host_allocate,
    .host_release = host_release,
    .traced = traced,
    .range_push = range_push,
    .range_pop = range_pop,
};
