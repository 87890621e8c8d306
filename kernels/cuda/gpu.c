/*
 * A GPU's memory, streams and timing through the CUDA runtime.
 *
 * Every context has one stream, which all launches, copies and events use, and others for captures. Copies
 * to and from pageable host memory wait for the stream, as the contract requires. Memory is allocated by
 * cudaMalloc, never managed, so that oversubscription fails rather than pages.
 */
#include "kernels/cuda/gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

#include "kernels/cuda/beside.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/context.h"
#include "kernels/cuda/cupti.h"
#include "kernels/cuda/refusal.h"

static int count_devices(char *error, size_t error_size)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0)
        return count;
    refuse_gpu(0, status, error, error_size);
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

static void free_choices(struct cuda_choice *list)
{
    while (list) {
        struct cuda_choice *next = list->next;
        free(list);
        list = next;
    }
}

static void close_context(void *context)
{
    struct cuda_context *c = context;
    free_matrices(c->matrices);
    free_choices(c->choices);
    if (c->sparse)
        cusparseDestroy(c->sparse);
    if (c->blas_lt)
        cublasLtDestroy(c->blas_lt);
    if (c->blas)
        cublasDestroy(c->blas);
    cudaFree(c->workspaces);
    for (int i = 0; i < DEVICE_STREAMS; i++)
        if (c->streams[i])
            cudaStreamDestroy(c->streams[i]);
    free(c);
}

/*
 * Sets up cuBLAS: on the stream, in float, deterministic, and with a workspace of ours, because its own would
 * be allocated during graph capture. The stream is set first, since that resets the workspace.
 */
static cublasStatus_t make_blas(struct cuda_context *c)
{
    cublasHandle_t *blas = &c->blas;
    cublasStatus_t status = cublasCreate(blas);
    if (!status)
        status = cublasSetStream(*blas, c->stream);
    if (!status)
        status = cublasSetWorkspace(*blas, c->workspaces, PRODUCT_WORKSPACE);
    if (!status)
        status = cublasSetPointerMode(*blas, CUBLAS_POINTER_MODE_HOST);
    if (!status)
        status = cublasSetMathMode(*blas, CUBLAS_DEFAULT_MATH);
    return status ? status : cublasSetAtomicsMode(*blas, CUBLAS_ATOMICS_NOT_ALLOWED);
}

/* Creates the handles; after a failure, those created so far stay in the context, to be closed. */
static bool open_libraries(struct cuda_context *c, char *error, size_t error_size)
{
    cublasStatus_t blas = make_blas(c);
    if (blas)
        return refuse_library("cuBLAS", cublasGetStatusString(blas), error, error_size);
    blas = cublasLtCreate(&c->blas_lt);
    if (blas)
        return refuse_library("cuBLASLt", cublasGetStatusString(blas), error, error_size);
    cusparseStatus_t sparse = cusparseCreate(&c->sparse);
    if (!sparse)
        sparse = cusparseSetStream(c->sparse, c->stream);
    return !sparse || refuse_library("cuSPARSE", cusparseGetErrorString(sparse), error, error_size);
}

static void use_stream(void *context, int stream, enum run_part part)
{
    struct cuda_context *c = context;
    c->stream = c->streams[stream];
    c->workspace = c->workspaces + stream * PRODUCT_WORKSPACE;
    c->part = part;
}

/* The same of the streams and the workspaces. */
static cudaError_t open_gpu(struct cuda_context *c)
{
    cudaError_t status = cudaSetDevice(c->device);
    if (!status)
        status = cuda_probe();
    if (!status)
        status = cudaDeviceGetAttribute(&c->multiprocessors, cudaDevAttrMultiProcessorCount, c->device);
    for (int i = 0; i < DEVICE_STREAMS && !status; i++)
        status = cudaStreamCreateWithFlags(&c->streams[i], cudaStreamNonBlocking);
    if (!status)
        status = cudaMalloc((void **)&c->workspaces, CUDA_WORKSPACE);
    use_stream(c, 0, RUN_WHOLE);
    return status;
}

/* A whole number in the environment, for comparing what it limits; without it the most. */
static bool limit(struct cuda_context *c, const char *name, int64_t least, int64_t most, int64_t *value,
                  char *error, size_t error_size)
{
    const char *text = getenv(name);
    char *end = NULL;
    c->limited |= text != NULL;
    *value = text ? strtoll(text, &end, 10) : most;
    if (text && (end == text || *end || *value < least || *value > most)) {
        snprintf(error, error_size, "%s=%.40s: a whole number from %lld to %lld", name, text,
                 (long long)least, (long long)most);
        return false;
    }
    return true;
}

static bool read_limits(struct cuda_context *c, char *error, size_t error_size)
{
    int64_t algorithms, mib;
    if (!limit(c, "GTMARK_PRODUCT_ALGORITHMS", 1, PRODUCT_ALGORITHMS, &algorithms, error, error_size) ||
        !limit(c, "GTMARK_PRODUCT_WORKSPACE", 0, PRODUCT_WORKSPACE >> 20, &mib, error, error_size))
        return false;
    c->product_algorithms = (int)algorithms;
    c->product_workspace = mib << 20;
    return true;
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
    struct cuda_context *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->device = index;
    if (read_limits(c, error, error_size)) {
        cudaError_t status = open_gpu(c);
        if (status ? refuse_gpu(index, status, error, error_size) : open_libraries(c, error, error_size))
            return c;
    }
    close_context(c);
    return NULL;
}

/* Whether nothing more is to be done, since a call failed. */
static bool has_failed(const struct cuda_context *c)
{
    return c->fault.kind != FAULT_NONE;
}

static void *allocate(void *context, int64_t bytes)
{
    void *memory = NULL;
    if (has_failed(context))
        return NULL;
    cudaError_t status = cudaMalloc(&memory, (size_t)bytes);
    if (status == cudaErrorMemoryAllocation)
        cudaGetLastError(); /* clears the error for later checks */
    else
        CUDA_CHECK(context, status);
    return status == cudaSuccess ? memory : NULL;
}

static void wait(void *context)
{
    struct cuda_context *c = context;
    if (!has_failed(c))
        CUDA_CHECK(context, cudaStreamSynchronize(c->stream));
}

/* Also after a fault. */
static void release(void *context, void *memory)
{
    struct cuda_context *c = context;
    CUDA_CHECK(context, cudaStreamSynchronize(c->stream));
    CUDA_CHECK(context, cudaFree(memory));
}

static void move(void *context, void *to, const void *from, int64_t bytes, enum cudaMemcpyKind kind)
{
    struct cuda_context *c = context;
    if (!has_failed(c))
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
    if (has_failed(context))
        memset(to, 0, (size_t)bytes);
}

static void clear(void *context, void *memory, int64_t bytes)
{
    struct cuda_context *c = context;
    if (!has_failed(c))
        CUDA_CHECK(context, cudaMemsetAsync(memory, 0, (size_t)bytes, c->stream));
}

static void *host_allocate(void *context, int64_t bytes)
{
    void *memory = NULL;
    if (!has_failed(context) && cudaMallocHost(&memory, (size_t)bytes) == cudaSuccess)
        return memory;
    cudaGetLastError(); /* clears the error for later checks */
    return NULL;
}

static void host_release(void *context, void *memory)
{
    struct cuda_context *c = context;
    CUDA_CHECK(context, cudaStreamSynchronize(c->stream));
    CUDA_CHECK(context, cudaFreeHost(memory));
}

static int64_t available(void *context)
{
    size_t bytes = 0, total;
    if (!has_failed(context))
        CUDA_CHECK(context, cudaMemGetInfo(&bytes, &total));
    return bytes > CUDA_RESERVE ? (int64_t)bytes - CUDA_RESERVE : 0;
}

static int64_t taken(void *context)
{
    size_t bytes = 0, total = 0;
    if (!has_failed(context))
        CUDA_CHECK(context, cudaMemGetInfo(&bytes, &total));
    return (int64_t)(total - bytes);
}

static void *stream_of(void *context)
{
    struct cuda_context *c = context;
    return cuda_is_idle(c) ? NULL : c->stream;
}

static void load_only(void *context, bool only)
{
    struct cuda_context *c = context;
    c->loads = only;
}

static struct fault fault(void *context)
{
    const struct cuda_context *c = context;
    return c->fault;
}

static void recover(void *context)
{
    struct cuda_context *c = context;
    if (c->fault.kind != FAULT_LOST)
        c->fault = (struct fault){FAULT_NONE, NULL, NULL};
}

static void *event_new(void *context)
{
    cudaEvent_t event = NULL;
    if (!has_failed(context))
        CUDA_CHECK(context, cudaEventCreate(&event));
    return has_failed(context) ? NULL : event;
}

static void event_free(void *context, void *event)
{
    if (event)
        CUDA_CHECK(context, cudaEventDestroy(event));
}

static void event_record(void *context, void *event)
{
    struct cuda_context *c = context;
    if (!has_failed(c))
        CUDA_CHECK(context, cudaEventRecord(event, c->stream));
}

static double seconds(void *context, void *from, void *to)
{
    float milliseconds = 0;
    if (!has_failed(context))
        CUDA_CHECK(context, cudaEventElapsedTime(&milliseconds, from, to));
    return has_failed(context) ? NAN : 1e-3 * (double)milliseconds;
}

/* Thread-local mode: other threads cannot invalidate the capture. */
static void capture_begin(void *context)
{
    struct cuda_context *c = context;
    if (!has_failed(c))
        CUDA_CHECK(context, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
    c->captures = !has_failed(c);
}

/* Those that call a library by its handle. */
static bool tied(const struct kernel *k)
{
    return k->prepare || strcmp(k->variant, "cublas") == 0;
}

static void event_await(void *context, void *event)
{
    struct cuda_context *c = context;
    if (!has_failed(c))
        CUDA_CHECK(context, cudaStreamWaitEvent(c->stream, event, 0));
}

/* What was captured, also after a fault, which leaves the stream in capture until this call. */
static cudaGraph_t end_capture(struct cuda_context *c)
{
    cudaGraph_t graph = NULL;
    use_stream(c, 0, RUN_WHOLE);
    if (c->captures)
        CUDA_CHECK(c, cudaStreamEndCapture(c->stream, &graph));
    c->captures = false;
    return graph;
}

static void *capture_end(void *context)
{
    struct cuda_context *c = context;
    cudaGraphExec_t executable = NULL;
    cudaGraph_t graph = end_capture(c);
    if (!has_failed(c))
        CUDA_CHECK(context, cudaGraphInstantiate(&executable, graph, 0));
    if (graph)
        CUDA_CHECK(context, cudaGraphDestroy(graph));
    if (!has_failed(c))
        CUDA_CHECK(context, cudaGraphUpload(executable, c->stream));
    if (!has_failed(c))
        return executable;
    if (executable)
        cudaGraphExecDestroy(executable);
    return NULL;
}

static void launch(void *context, void *graph)
{
    struct cuda_context *c = context;
    if (!has_failed(c))
        CUDA_CHECK(context, cudaGraphLaunch(graph, c->stream));
}

static void graph_free(void *context, void *graph)
{
    CUDA_CHECK(context, cudaGraphExecDestroy(graph));
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
    .alignment = CUDA_ALIGNMENT,
    .beside = CUDA_WORKSPACE + CUDA_RESERVE,
    .per_entry = CUDA_LAUNCH,
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
    .stream = stream_of,
    .fault = fault,
    .recover = recover,
    .event_new = event_new,
    .event_free = event_free,
    .event_record = event_record,
    .seconds = seconds,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .tied = tied,
    .use_stream = use_stream,
    .event_await = event_await,
    .launch = launch,
    .graph_free = graph_free,
    .host_allocate = host_allocate,
    .host_release = host_release,
    .choices = choices_tell,
    .recall = choices_recall,
    .traced = traced,
    .range_push = range_push,
    .range_pop = range_pop,
    .kernels_begin = cupti_begin,
    .kernels_of = cupti_of,
    .kernels_end = cupti_end,
};
