/*
 * Traces: one replay of a program as events that Perfetto and Chrome's tracing show (Duan, Google, "Trace
 * Event Format", 2016).
 *
 * A program is a process with lanes:
 *
 *     phases      forward, backward, optimizer
 *     program     the replay; in it the spans by their names; in those the ops, each with its variant, FLOPs,
 *                 minimum bytes, rates and shapes as arguments; on a GPU the stream, by its own events
 *     thread i    on the host: when the thread was inside a parallel region of an op (lanes.h)
 *
 * and a counter, the bytes live while each entry runs, by the plan.
 */
#ifndef GTMARK_BENCH_TRACE_H
#define GTMARK_BENCH_TRACE_H

#include <jansson.h>

#include "models/tape/tape.h"

/* A trace without events; an object that record_save can write. `benchmark` names its source. */
json_t *trace_new(const char *benchmark);

/*
 * Replays the tape, which is laid out, once unobserved and once with marks, and adds the second replay as the
 * process `title`. The tape's state goes on by two runs.
 */
void trace_add(json_t *trace, const char *title, struct tape *t);

#endif
