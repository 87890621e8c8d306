#include "tests/fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"

/* Header of each allocation, with its size for accounting. */
struct fake_memory {
    int64_t bytes;
    char room[120]; /* preserves the alignment */
};

enum { ALIGNMENT = 128 };

static int count(char *error, size_t error_size)
{
    (void)error, (void)error_size;
    return 1;
}

static bool facts(int index, struct device_facts *f)
{
    *f = (struct device_facts){.name = "no device", .memory = FAKE_MEMORY, .l2 = FAKE_L2};
    return index == 0;
}

static void *take(int64_t *sum, int64_t bytes)
{
    struct fake_memory *p = NULL;
    if (*sum + bytes > FAKE_MEMORY || posix_memalign((void **)&p, ALIGNMENT, sizeof *p + (size_t)bytes) != 0)
        return NULL;
    p->bytes = bytes;
    *sum += bytes;
    return p + 1;
}

static void give(int64_t *sum, void *memory)
{
    struct fake_memory *p = (struct fake_memory *)memory - 1;
    *sum -= p->bytes;
    free(p);
}

static void *allocate(void *context, int64_t bytes)
{
    struct fake *f = context;
    return take(&f->allocated, bytes);
}

static void release(void *context, void *memory)
{
    struct fake *f = context;
    give(&f->allocated, memory);
}

static void *host_allocate(void *context, int64_t bytes)
{
    struct fake *f = context;
    return f->no_pinned ? NULL : take(&f->pinned, bytes);
}

static void host_release(void *context, void *memory)
{
    struct fake *f = context;
    give(&f->pinned, memory);
}

static void wait(void *context)
{
    struct fake *f = context;
    f->pending = false;
    f->waits++;
}

static void write_memory(void *context, void *to, const void *from, int64_t bytes)
{
    struct fake *f = context;
    memcpy(to, from, (size_t)bytes);
    f->writes++;
}

static void read_memory(void *context, void *to, const void *from, int64_t bytes)
{
    struct fake *f = context;
    memcpy(to, from, (size_t)bytes);
    f->reads++;
}

static void clear(void *context, void *memory, int64_t bytes)
{
    struct fake *f = context;
    memset(memory, 0, (size_t)bytes);
    f->clears++;
    f->cleared = bytes;
    f->pending = true;
}

static int64_t available(void *context)
{
    struct fake *f = context;
    return FAKE_MEMORY - f->allocated;
}

static int64_t taken(void *context)
{
    struct fake *f = context;
    return f->allocated;
}

static struct fault fault(void *context)
{
    const struct fake *f = context;
    return f->fault;
}

static void recover(void *context)
{
    struct fake *f = context;
    if (f->fault.kind != FAULT_LOST)
        f->fault = (struct fault){0};
}

static void *event_new(void *context)
{
    (void)context;
    double *event = malloc(sizeof *event);
    if (!event)
        abort();
    return event;
}

static void event_record(void *context, void *event)
{
    struct fake *f = context;
    f->busy_marks += f->pending;
    *(double *)event = clock_now();
}

static void event_free(void *context, void *event)
{
    (void)context;
    free(event);
}

static double seconds(void *context, void *from, void *to)
{
    (void)context;
    return *(double *)to - *(double *)from;
}

/* Kernels still run: the graph is only counted. */
static void capture_begin(void *context)
{
    struct fake *f = context;
    f->capturing = true;
}

static void *capture_end(void *context)
{
    struct fake *f = context;
    f->capturing = false;
    return f;
}

static bool tied(const struct kernel *k)
{
    (void)k;
    return false;
}

static void use_stream(void *context, int stream, enum run_part part)
{
    struct fake *f = context;
    (void)part;
    f->beside += stream;
}

static void event_await(void *context, void *event)
{
    struct fake *f = context;
    f->awaited += event != NULL;
}

static void launch(void *context, void *graph)
{
    struct fake *f = context;
    f->launches += graph == context;
    f->pending = true;
}

static void graph_free(void *context, void *graph)
{
    (void)context, (void)graph;
}

static bool traced(void *context)
{
    const struct fake *f = context;
    return f->traced;
}

static void note(struct fake *f, const char *sign, const char *name)
{
    size_t used = strlen(f->log);
    snprintf(f->log + used, sizeof f->log - used, " %s%s", sign, name);
}

static void range_push(void *context, const char *name)
{
    struct fake *f = context;
    f->depth++;
    note(f, "+", name);
}

static void range_pop(void *context)
{
    struct fake *f = context;
    f->depth--;
    note(f, "-", "");
}

static const struct device device = {
    .alignment = ALIGNMENT,
    .count = count,
    .facts = facts,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .clear = clear,
    .wait = wait,
    .available = available,
    .taken = taken,
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
    .traced = traced,
    .range_push = range_push,
    .range_pop = range_pop,
};

const struct backend backend_fake = {
    .name = "fake", .doc = "no device", .base = &backend_ref, .device = &device};
