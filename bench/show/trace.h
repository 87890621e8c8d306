/*
 * Traces: one replay of a program as events for Perfetto or chrome://tracing (Duan, Google, "Trace Event
 * Format", 2016).
 *
 * A program is a process with two lanes:
 *
 *     phases      forward, backward, optimizer
 *     program     the replay, which contains the spans, which contain the ops; an op's arguments are its
 *                 variant, FLOPs, minimum bytes, rates and shapes. On a GPU: the stream, timed by its events
 *
 * and a counter of the planned bytes that are live while each entry runs.
 */
#ifndef GTMARK_BENCH_TRACE_H
#define GTMARK_BENCH_TRACE_H

#include "analysis/record/value.h"
#include "models/tape/tape.h"

/* A trace without events; an object. `benchmark` names its source. */
struct value *trace_new(const char *benchmark);

/*
 * Replays the tape, which is laid out, once unobserved and once with marks, and adds the second replay as the
 * process `title`. The tape's state goes on by two runs.
 */
void trace_add(struct value *trace, const char *title, struct tape *t);

#endif
