/*
 * Traces: one replay of a program as events for Perfetto or chrome://tracing (Duan, Google, "Trace Event
 * Format", 2016).
 *
 * A program is a process with two lanes:
 *
 *     phases      forward, backward, optimizer
 *     program     the replay, which contains the spans, which contain the ops; the arguments of an op are its
 *                 variant, FLOPs, minimum bytes, rates and shapes. On a GPU: the stream, timed by events
 *
 * and a counter: the bytes of the plan that are live while each entry runs.
 */
#ifndef GTMARK_BENCH_TRACE_H
#define GTMARK_BENCH_TRACE_H

#include "analysis/record/value.h"
#include "models/tape/tape.h"

struct plugin;

/* A trace without events; an object. `benchmark` names its source. */
struct value *trace_new(const char *benchmark);

/*
 * Replays the tape, which is laid out, once without and once with marks, and adds the second replay as the
 * process `title`; p: the plug-in that has kernels of it, whose sections are events within their ops, or
 * null. The state of the tape advances by two runs.
 */
void trace_add(struct value *trace, const char *title, struct tape *t, struct plugin *p);

#endif
