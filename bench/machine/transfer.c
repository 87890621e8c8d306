/*
 * The result is the best of several copies, since disturbances can only slow them down. Directions and kinds
 * of memory alternate. A copy is timed on the host from the call to its return, when the data have arrived.
 */
#include "bench/machine/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"

enum { BYTES = 64 << 20, LITTLE = 4, ROUNDS = 4 };

enum way { TO_DEVICE, FROM_DEVICE, WAYS };

struct ends {
    const struct device *device;
    void *context;
    void *there, *pinned, *pageable; /* null: not available */
};

static double copy_once(const struct ends *e, enum way way, void *host, int64_t bytes)
{
    double start = clock_now();
    if (way == TO_DEVICE)
        e->device->write(e->context, e->there, host, bytes);
    else
        e->device->read(e->context, host, e->there, bytes);
    return clock_now() - start;
}

/* Seconds of the fastest copies; `little` is of 4 bytes. */
struct fastest {
    double pinned, pageable, little;
};

static void keep_fastest(const struct ends *e, enum way way, struct fastest *f)
{
    f->pageable = fmin(f->pageable, copy_once(e, way, e->pageable, BYTES));
    if (e->pinned)
        f->pinned = fmin(f->pinned, copy_once(e, way, e->pinned, BYTES));
    f->little = fmin(f->little, copy_once(e, way, e->pinned ? e->pinned : e->pageable, LITTLE));
}

/* NAN, which is null, where it was not measured. */
static double rate(double seconds)
{
    return seconds > 0 && isfinite(seconds) ? 1e-9 * BYTES / seconds : NAN;
}

static struct value *way_json(const struct fastest *f)
{
    struct value *way = value_new_object();
    value_set_real(way, "pinned", rate(f->pinned));
    value_set_real(way, "pageable", rate(f->pageable));
    value_set_real(way, "latency", f->little);
    return way;
}

static void measure_transfer(const struct ends *e, struct fastest f[WAYS])
{
    for (int round = 0; round < ROUNDS; round++)
        for (enum way way = 0; way < WAYS; way++)
            keep_fastest(e, way, &f[way]);
}

struct value *transfer_json(const struct device_choice *d)
{
    struct ends e = {.device = d->backend->device, .context = d->context};
    e.there = e.device->allocate(e.context, BYTES);
    e.pageable = malloc(BYTES);
    e.pinned = e.device->host_allocate(e.context, BYTES);
    bool room = e.there && e.pageable;
    if (e.pageable)
        memset(e.pageable, 1, BYTES); /* so that its pages exist */
    struct fastest fastest[WAYS] = {{INFINITY, INFINITY, INFINITY}, {INFINITY, INFINITY, INFINITY}};
    if (room)
        measure_transfer(&e, fastest);
    struct fault f = e.device->fault(e.context);
    const char *reason = f.kind      ? f.words
                         : !room     ? "no memory for the blocks"
                         : !e.pinned ? "no page-locked memory"
                                     : NULL;
    bool measured = room && !f.kind;
    struct value *result = value_new_object();
    value_set_count(result, "bytes", BYTES);
    value_set(result, "to_device", measured ? way_json(&fastest[TO_DEVICE]) : value_new_null());
    value_set(result, "from_device", measured ? way_json(&fastest[FROM_DEVICE]) : value_new_null());
    if (reason)
        value_set_text(result, "missing", reason);
    if (e.pinned)
        e.device->host_release(e.context, e.pinned);
    free(e.pageable);
    if (e.there)
        e.device->release(e.context, e.there);
    e.device->recover(e.context);
    return result;
}
