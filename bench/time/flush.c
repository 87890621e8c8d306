/*
 * The buffer is written, not only read, so that no dirty line of the program stays in a cache. On a device
 * this is done by its memset, which passes through the L2 (as in nvbench). On the host each computing thread
 * writes a slice line by line, since each has caches of its own; memset would bypass the caches for a block
 * larger than they are.
 */
#include "bench/time/apart.h"

#include <sys/mman.h>

#include "bench/machine/caches.h"
#include "bench/machine/machine.h"

enum { TIMES = 2, LINE = 64 };

static int64_t cache_bytes(const struct device_choice *d, int threads)
{
    struct device_facts f;
    if (d->backend->device)
        return d->backend->device->facts(d->index, &f) ? f.l2 : 0;
    struct caches caches = caches_find(NULL, threads);
    return caches.l2 + caches.llc;
}

static char *take_buffer(const struct flush *f)
{
    if (f->device)
        return f->device->allocate(f->context, f->bytes);
    if (f->bytes > machine_memory_free() / 2)
        return NULL;
    void *buffer = mmap(NULL, (size_t)f->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED)
        return NULL;
    madvise(buffer, (size_t)f->bytes, MADV_HUGEPAGE); /* otherwise a flush would be mostly page faults */
    return buffer;
}

bool flush_open(struct flush *f, const struct device_choice *d, int threads, struct message *error)
{
    *f = (struct flush){.device = d->backend->device,
                        .context = d->context,
                        .bytes = TIMES * cache_bytes(d, threads),
                        .threads = threads};
    if (f->bytes <= 0)
        return complain(error, "the size of the caches is unknown");
    f->buffer = take_buffer(f);
    if (!f->buffer)
        return complain(error, "no memory for the %lld bytes that empty the caches", (long long)f->bytes);
    flush_run(f); /* maps the pages */
    return true;
}

bool flush_ready(struct flush *f, const struct device_choice *d, int threads, struct message *error)
{
    bool open = f->buffer && f->context == d->context && f->threads == threads;
    if (!open)
        flush_close(f);
    return open || flush_open(f, d, threads, error);
}

void flush_close(struct flush *f)
{
    if (!f->buffer)
        return;
    if (f->device)
        f->device->release(f->context, f->buffer);
    else
        munmap(f->buffer, (size_t)f->bytes);
    *f = (struct flush){0};
}

void flush_run(const struct flush *f)
{
    if (f->device) {
        f->device->clear(f->context, f->buffer, f->bytes);
        f->device->wait(f->context);
        return;
    }
#pragma omp parallel for num_threads(f->threads) schedule(static)
    for (int64_t i = 0; i < f->bytes; i += LINE)
        f->buffer[i]++;
}
