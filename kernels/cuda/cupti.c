/*
 * CUPTI's records of kernels ("CUPTI Activity API"). All that is launched is over, and its records are taken,
 * before the number changes that they get; so nothing depends on the order or the numbers of records. Their
 * layout is that of a version, so the library must have the version of the header. When the last are there,
 * it leaves the process (cuptiFinalize), since calls would take longer.
 */
#include "kernels/cuda/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/check.h"

#if __has_include(<cupti.h>)
#include <cupti.h>
#include <dlfcn.h>
#endif

#if defined CUPTI_API_VERSION && CUPTI_API_VERSION >= 130000

enum { BUFFER = 1 << 20, ALIGNMENT = 8 };

/* CUPTI calls back without an argument of ours: what there is between begin and end. */
static struct {
    void *library;
    CUptiResult (*version)(uint32_t *version);
    CUptiResult (*callbacks)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
    CUptiResult (*enable)(CUpti_ActivityKind kind);
    CUptiResult (*flush)(uint32_t flag);
    CUptiResult (*next)(uint8_t *buffer, size_t size, CUpti_Activity **record);
    CUptiResult (*finalize)(void);
    struct launched *list;
    int count, number;
} seen;

/* Of the C++ runtime, which names of kernels come from; null if it is no such name. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(ALIGNMENT, BUFFER);
    *size = *buffer ? BUFFER : 0;
    *most = 0;
}

/* Leaves out the type of the result, unnamed namespaces and the types of parameters. */
static void shorten(char *name)
{
    static const char *const parts[] = {"void ", "(anonymous namespace)::"};
    int depth = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (char *at; (at = strstr(name, parts[i]));)
            memmove(at, at + strlen(parts[i]), strlen(at + strlen(parts[i])) + 1);
    for (; *name && (*name != '(' || depth > 0); name++)
        depth += (*name == '<') - (*name == '>');
    *name = '\0';
}

static void add(const CUpti_ActivityKernel10 *k)
{
    seen.list = realloc(seen.list, (size_t)(seen.count + 1) * sizeof *seen.list);
    if (!seen.list)
        abort();
    int status;
    char *name = k->name ? __cxa_demangle(k->name, NULL, NULL, &status) : NULL;
    struct launched *l = &seen.list[seen.count++];
    *l = (struct launched){.number = seen.number, .seconds = 1e-9 * (double)(k->end - k->start)};
    if (name)
        shorten(name);
    snprintf(l->name, sizeof l->name, "%s", name ? name : k->name ? k->name : "?");
    free(name);
}

static void take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
    (void)context, (void)stream, (void)size;
    CUpti_Activity *record = NULL;
    while (seen.next(buffer, used, &record) == CUPTI_SUCCESS)
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            add((const CUpti_ActivityKernel10 *)record);
    free(buffer);
}

static bool look_up(const char *name, void *function)
{
    void *found = dlsym(seen.library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* Null on success. */
static const char *start(void)
{
    uint32_t version = 0;
    bool whole =
        look_up("cuptiGetVersion", &seen.version) &&
        look_up("cuptiActivityRegisterCallbacks", &seen.callbacks) &&
        look_up("cuptiActivityEnable", &seen.enable) && look_up("cuptiActivityFlushAll", &seen.flush) &&
        look_up("cuptiActivityGetNextRecord", &seen.next) && look_up("cuptiFinalize", &seen.finalize);
    if (!whole || seen.version(&version) != CUPTI_SUCCESS || version != CUPTI_API_VERSION)
        return "CUPTI has another version than the build";
    if (seen.callbacks(request, take) != CUPTI_SUCCESS ||
        seen.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
        return "CUPTI cannot see kernels: another profiler, or no permission";
    return NULL;
}

bool cupti_begin(void *context, char *why, size_t size)
{
    (void)context;
    char library[32];
    snprintf(library, sizeof library, "libcupti.so.%d", CUDART_VERSION / 1000);
    seen.library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const char *fault = seen.library ? start() : "CUPTI is not installed";
    if (fault)
        snprintf(why, size, "%s (%s)", fault, library);
    return !fault;
}

void cupti_of(void *context, int number)
{
    const struct cuda_context *c = context;
    if (!c->fault.kind)
        CUDA_CHECK(context, cudaStreamSynchronize(c->stream));
    seen.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    seen.number = number;
}

struct launched *cupti_end(void *context, int *count)
{
    cupti_of(context, 0);
    seen.finalize();
    struct launched *list = seen.list;
    *count = seen.count;
    seen.list = NULL;
    seen.count = 0;
    return list;
}

#else

bool cupti_begin(void *context, char *why, size_t size)
{
    (void)context;
    snprintf(why, size, "built without the header of CUPTI 13 or later (cupti.h)");
    return false;
}

void cupti_of(void *context, int number)
{
    (void)context, (void)number;
}

struct launched *cupti_end(void *context, int *count)
{
    (void)context;
    *count = 0;
    return NULL;
}

#endif
