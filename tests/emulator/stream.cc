/*
 * Streams, events and graphs. Queued work runs when something waits for it, the latest moment that CUDA
 * allows: a host that reads too early, or frees too early what a kernel still needs, fails every time.
 *
 * A capture has a node for each piece of work, which comes after the last one of its stream and after those
 * of the events that the stream waits for. A graph runs in one of three orders that these allow, by turns.
 */
#include "tests/emulator/emulator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

typedef std::vector<std::function<void()>> work_list;

/* Numbers of nodes. */
typedef std::vector<size_t> node_list;

struct node {
    std::function<void()> work;
    node_list after; /* earlier nodes */
};

struct CUstream_st {
    int device;
    bool captures;
    work_list queued;
    node_list last; /* of a capture: what the next node comes after */
};

/* Host time in seconds, negative if not yet recorded; shared with queued work. Of a capture its nodes. */
struct CUevent_st {
    int device;
    std::shared_ptr<double> at;
    int capture; /* its number; 0: none */
    node_list last;
};

struct CUgraph_st {
    std::vector<node> nodes;
};

struct CUgraphExec_st {
    std::vector<node> nodes;
    unsigned launches;
};

/* All streams, the one whose capture it is, and its nodes. */
static struct {
    std::vector<cudaStream_t> all;
    cudaStream_t captured;
    int number; /* of captures */
    std::vector<node> nodes;
} streams;

/* Of the graph that was made last. */
static struct {
    int nodes, longest;
} made;

extern "C" void emulated_graph(int *nodes, int *longest)
{
    *nodes = made.nodes;
    *longest = made.longest;
}

bool emulator_captures(void)
{
    return streams.captured != NULL;
}

void stream_queue(cudaStream_t stream, std::function<void()> work)
{
    if (stream->device != current_device())
        emulator_fail("work on a stream of device %d while device %d is current", stream->device,
                      current_device());
    if (!stream->captures) {
        stream->queued.push_back(std::move(work));
        return;
    }
    streams.nodes.push_back({std::move(work), stream->last});
    stream->last = {streams.nodes.size() - 1};
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
    *stream = new CUstream_st{current_device(), false, {}, {}};
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
    *event = new CUevent_st{current_device(), std::make_shared<double>(-1), 0, {}};
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (event->device != stream->device)
        return emulator_status(cudaErrorInvalidResourceHandle);
    event->at = std::make_shared<double>(-1);
    event->capture = stream->captures ? streams.number : 0;
    event->last = stream->last;
    if (!stream->captures)
        stream_queue(stream, [at = event->at] { *at = now(); });
    return cudaSuccess;
}

/* A stream that waits for an event of a capture is captured too. */
extern "C" cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    if (!event->capture)
        emulator_fail("waiting for an event that no capture has is not emulated");
    if (!streams.captured || event->capture != streams.number)
        return emulator_status(cudaErrorStreamCaptureIsolation);
    stream->captures = true;
    for (size_t node : event->last)
        if (std::find(stream->last.begin(), stream->last.end(), node) == stream->last.end())
            stream->last.push_back(node);
    return cudaSuccess;
}

extern "C" cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    if (from->capture || to->capture)
        emulator_fail("an event recorded during capture has no time");
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
    streams.number++;
    stream->captures = true;
    return cudaSuccess;
}

/* Whether all nodes are among these or come before them. */
static bool is_joined(const std::vector<node> &nodes, const node_list &last)
{
    std::vector<bool> before(nodes.size(), false);
    for (size_t n : last)
        before[n] = true;
    for (size_t n = nodes.size(); n-- > 0;)
        for (size_t earlier : nodes[n].after)
            if (before[n])
                before[earlier] = true;
    return std::find(before.begin(), before.end(), false) == before.end();
}

/* The most nodes of which each comes after another. */
static int longest_path(const std::vector<node> &nodes)
{
    std::vector<int> length;
    int longest = 0;
    for (const node &n : nodes) {
        int before = 0;
        for (size_t earlier : n.after)
            before = std::max(before, length[earlier]);
        length.push_back(before + 1);
        longest = std::max(longest, before + 1);
    }
    return longest;
}

extern "C" cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    if (streams.captured != stream)
        return emulator_status(cudaErrorIllegalState);
    bool joined = is_joined(streams.nodes, stream->last);
    *graph = joined ? new CUgraph_st{streams.nodes} : NULL;
    streams.nodes.clear();
    streams.captured = NULL;
    for (cudaStream_t each : streams.all) {
        each->captures = false;
        each->last.clear();
    }
    return joined ? cudaSuccess : emulator_status(cudaErrorStreamCaptureUnjoined);
}

extern "C" cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                            unsigned long long)
{
    *executable = new CUgraphExec_st{graph->nodes, 0};
    made = {(int)graph->nodes.size(), longest_path(graph->nodes)};
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

/* The last of the nodes that may run in the first launch; by turns three of the last and three of the first
 * in the second; the first in the third, which is the order of the capture. */
extern "C" cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    const std::vector<node> &nodes = executable->nodes;
    const unsigned order = executable->launches++ % 3;
    std::vector<size_t> waits_for;
    node_list ready;
    for (size_t n = 0; n < nodes.size(); n++) {
        waits_for.push_back(nodes[n].after.size());
        if (nodes[n].after.empty())
            ready.push_back(n);
    }
    for (size_t count = 0; !ready.empty(); count++) {
        auto at = std::min_element(ready.begin(), ready.end());
        if (order == 0 || (order == 1 && count / 3 % 2))
            at = std::max_element(ready.begin(), ready.end());
        size_t n = *at;
        ready.erase(at);
        stream_queue(stream, nodes[n].work);
        for (size_t later = n + 1; later < nodes.size(); later++)
            for (size_t earlier : nodes[later].after)
                if (earlier == n && --waits_for[later] == 0)
                    ready.push_back(later);
    }
    return cudaSuccess;
}
