/* CUDA events give milliseconds in single precision with a resolution of half a microsecond. */
#include "bench/time/stopwatch.h"

#include <stdlib.h>

#include "analysis/statistics/allocate.h"
#include "bench/base/clock.h"

struct stopwatch stopwatch_open(const struct tape *t, int marks)
{
    const struct tape_config *c = tape_config(t);
    struct stopwatch w = {.device = c->backend->device, .context = c->context, .marks = marks};
    w.at = allocate((size_t)marks, sizeof *w.at);
    w.events = w.device ? allocate((size_t)marks, sizeof *w.events) : NULL;
    for (int i = 0; w.events && i < marks; i++)
        w.events[i] = w.device->event_new(w.context);
    return w;
}

void stopwatch_close(struct stopwatch *w)
{
    for (int i = 0; w->events && i < w->marks; i++)
        w->device->event_free(w->context, w->events[i]);
    free(w->events);
    free(w->at);
    *w = (struct stopwatch){0};
}

void stopwatch_mark(struct stopwatch *w, int i)
{
    if (w->events)
        w->device->event_record(w->context, w->events[i]);
    else
        w->at[i] = clock_now();
}

void stopwatch_resolve(struct stopwatch *w, int count)
{
    if (!w->events)
        return;
    w->device->wait(w->context);
    for (int i = 1; i < count; i++)
        w->at[i] = w->device->seconds(w->context, w->events[0], w->events[i]);
}
