/*
 * CUPTI as a test plays it for the emulated device, which says what it runs: the functions that
 * kernels/cuda/cupti.c calls. Each kernel takes 1.5 us. Nothing without CUPTI's header.
 */
#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

#if defined CUPTI_API_VERSION && CUPTI_API_VERSION >= 130000
#include <stdbool.h>
#include <stdlib.h>

enum { MOST = 4096, NANOSECONDS = 1500 };

static struct {
    CUpti_BuffersCallbackRequestFunc request;
    CUpti_BuffersCallbackCompleteFunc complete;
    bool enabled;
    const char *name[MOST]; /* what ran since the last flush */
    int count;
    uint64_t now;
} played;

void played_kernel(const char *name)
{
    if (played.enabled && played.count < MOST)
        played.name[played.count++] = name;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    const char *other = getenv("PLAYED_CUPTI_VERSION");
    *version = other ? (uint32_t)atoi(other) : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete)
{
    played.request = request;
    played.complete = complete;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    played.enabled = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
    played.enabled = false;
    return CUPTI_SUCCESS;
}

/* Records lie one after the other. */
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t size, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + sizeof(CUpti_ActivityKernel10) : buffer;
    if (next + sizeof(CUpti_ActivityKernel10) > buffer + size)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    for (int at = 0; at < played.count;) {
        uint8_t *buffer = NULL;
        size_t size = 0, most = 0, used = 0;
        played.request(&buffer, &size, &most);
        for (; at < played.count && used + sizeof(CUpti_ActivityKernel10) <= size; at++) {
            CUpti_ActivityKernel10 *k = (CUpti_ActivityKernel10 *)(buffer + used);
            *k = (CUpti_ActivityKernel10){.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                          .start = played.now,
                                          .end = played.now + NANOSECONDS,
                                          .name = played.name[at]};
            played.now += NANOSECONDS;
            used += sizeof *k;
        }
        played.complete(NULL, 0, buffer, size, used);
    }
    played.count = 0;
    return CUPTI_SUCCESS;
}
#endif
