/*
 * Streams, events and graphs. Queued work runs when something waits for it, the latest moment that CUDA
 * allows: a host that reads too early, or frees too early what a kernel still needs, fails every time.
 */
#include "tests/emulator/emulator.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

typedef std::vector<std::function<void()>> work_list;

struct CUstream_st {
    int device;
    bool captures;
    work_list queued;
};

/* Host time in seconds, negative if not yet recorded; shared with queued work. */
struct CUevent_st {
    int device;
    std::shared_ptr<double> at;
};

struct CUgraph_st {
    work_list work;
};

struct CUgraphExec_st {
    work_list work;
};

/* All streams, and the one being captured. */
static struct {
    std::vector<cudaStream_t> all;
    cudaStream_t captured;
} streams;

bool emulator_captures(void)
{
    return streams.captured != NULL;
}

void stream_queue(cudaStream_t stream, std::function<void()> work)
{
    if (stream->device != current_device())
        emulator_fail("work on a stream of device %d while device %d is current", stream->device,
                      current_device());
    stream->queued.push_back(std::move(work));
}

static void drain(cudaStream_t stream)
{
    work_list work;
    work.swap(stream->queued);
    if (work.empty())
        return;
    memory_open();
    for (const auto &one : work)
        one();
    memory_close();
}

void device_drain(int device)
{
    for (cudaStream_t stream : streams.all)
        if (stream->device == device && !stream->captures)
            drain(stream);
}

/* In exclusive mode, of the process that has the lock of the file GTMARK_EMULATED_EXCLUSIVE. */
static bool is_taken(void)
{
    static const char *path = getenv("GTMARK_EMULATED_EXCLUSIVE");
    static int file = path ? open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666) : -1;
    return path && flock(file, LOCK_EX | LOCK_NB) != 0;
}

extern "C" cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    if (is_taken())
        return emulator_status(cudaErrorDevicesUnavailable);
    *stream = new CUstream_st{current_device(), false, {}};
    streams.all.push_back(*stream);
    return cudaSuccess;
}

extern "C" cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (stream->captures)
        return emulator_status(cudaErrorStreamCaptureUnsupported);
    drain(stream);
    return cudaSuccess;
}

extern "C" cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    drain(stream);
    for (size_t i = 0; i < streams.all.size(); i++)
        if (streams.all[i] == stream)
            streams.all.erase(streams.all.begin() + (long)i--);
    delete stream;
    return cudaSuccess;
}

extern "C" cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    memory_expect(stream->device, to, bytes, "cudaMemsetAsync");
    stream_queue(stream, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}

/*
 * For pageable memory the runtime has made a copy, or delivered the data, when it returns: see "API
 * synchronization behavior" in the CUDA runtime manual.
 */
extern "C" cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                       cudaStream_t stream)
{
    bool down = kind == cudaMemcpyHostToDevice;
    if (!down && kind != cudaMemcpyDeviceToHost)
        emulator_fail("a copy of kind %d is not emulated", kind);
    bool pinned = memory_pinned(down ? from : to);
    if (stream->captures && !pinned)
        return emulator_status(cudaErrorStreamCaptureUnsupported);
    memory_expect(stream->device, down ? to : from, bytes, "cudaMemcpyAsync");
    stream_queue(stream, [=] { memcpy(to, from, bytes); });
    if (!pinned)
        drain(stream);
    return cudaSuccess;
}

static double paused;

void stream_pause(double seconds)
{
    paused += seconds;
}

static double now(void)
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + paused;
}

extern "C" cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new CUevent_st{current_device(), std::make_shared<double>(-1)};
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (stream->captures)
        emulator_fail("an event recorded during capture has no time");
    if (event->device != stream->device)
        return emulator_status(cudaErrorInvalidResourceHandle);
    event->at = std::make_shared<double>(-1);
    stream_queue(stream, [at = event->at] { *at = now(); });
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    if (*from->at < 0 || *to->at < 0)
        return emulator_status(cudaErrorNotReady);
    *milliseconds = (float)(1e3 * (*to->at - *from->at));
    return cudaSuccess;
}

extern "C" cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    if (streams.captured)
        return emulator_status(cudaErrorIllegalState);
    drain(stream);
    streams.captured = stream;
    stream->captures = true;
    return cudaSuccess;
}

extern "C" cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    if (streams.captured != stream)
        return emulator_status(cudaErrorIllegalState);
    *graph = new CUgraph_st();
    (*graph)->work.swap(stream->queued);
    streams.captured = NULL;
    stream->captures = false;
    return cudaSuccess;
}

extern "C" cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                            unsigned long long)
{
    *executable = new CUgraphExec_st{graph->work};
    return cudaSuccess;
}

extern "C" cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

extern "C" cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    delete executable;
    return cudaSuccess;
}

extern "C" cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t)
{
    return cudaSuccess;
}

extern "C" cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    for (const auto &one : executable->work)
        stream_queue(stream, one);
    return cudaSuccess;
}
