/*
 * Entry i of a tape lasts from mark i to mark i + 1. Events are complete events ("X": begin and duration);
 * those of a lane nest by containment, the outer one first. Times are whole nanoseconds since the start of
 * the replay, so that sums are exact, and are written in microseconds, the unit of the format.
 */
#include "bench/show/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/time/sections.h"
#include "bench/time/stopwatch.h"
#include "models/tape/listing.h"

enum { LANE_PHASES = 1, LANE_PROGRAM = 2 };

struct replay {
    struct value *events;
    struct tape *tape;
    int process, entries;
    struct sections sections;
    struct stopwatch watch; /* mark 0 is the start, mark e + 1 the end of entry e */
};

static int64_t nanoseconds(const struct replay *r, double at)
{
    return llround(1e9 * (at - r->watch.at[0]));
}

static int64_t begin_of(const struct replay *r, int entry)
{
    return nanoseconds(r, r->watch.at[entry]);
}

/* Adds an event; what it is, is one of the format's letters. */
static struct value *new_event(struct replay *r, const char *what, const char *name)
{
    struct value *event = value_new_object();
    value_set_text(event, "name", name);
    value_set_text(event, "ph", what);
    value_set_count(event, "pid", r->process);
    value_append(r->events, event);
    return event;
}

static void set_microseconds(struct value *event, const char *key, int64_t ns)
{
    value_set_real(event, key, (double)ns / 1000);
}

static void add_event(struct replay *r, const char *name, int lane, int64_t begin, int64_t end,
                      struct value *args)
{
    struct value *event = new_event(r, "X", name);
    value_set_count(event, "tid", lane);
    set_microseconds(event, "ts", begin);
    set_microseconds(event, "dur", end - begin);
    if (args)
        value_set(event, "args", args);
}

/* An event about a process or a lane, and its argument, which the caller sets. */
static struct value *add_about(struct replay *r, const char *what, int lane)
{
    struct value *event = new_event(r, "M", what), *args = value_new_object();
    value_set_count(event, "tid", lane);
    value_set(event, "args", args);
    return args;
}

static void add_name(struct replay *r, const char *what, int lane, const char *name)
{
    value_set_text(add_about(r, what, lane), "name", name);
    if (lane)
        value_set_count(add_about(r, "thread_sort_index", lane), "sort_index", lane);
}

static void add_live(struct replay *r, int64_t at, int64_t bytes)
{
    struct value *event = new_event(r, "C", "live memory"), *args = value_new_object();
    set_microseconds(event, "ts", at);
    value_set_count(args, "bytes", bytes);
    value_set(event, "args", args);
}

/* The arguments of an entry, without counts beyond 63 bits. */
static struct value *entry_args(const struct entry *e, int index, int64_t ns)
{
    char shapes[512];
    entry_shapes(e, shapes, sizeof shapes);
    struct value *args = value_new_object();
    value_set_count(args, "entry", index);
    value_set_text(args, "op", e->form);
    value_set_text(args, "variant", e->kernel->variant);
    value_set_text(args, "span", e->span);
    value_set_text(args, "shapes", shapes);
    if (e->op == OP_function) /* of which no more is known */
        return args;
    if (e->flops >= 0)
        value_set_count(args, "FLOPs", e->flops);
    if (e->bytes >= 0)
        value_set_count(args, "bytes", e->bytes);
    if (e->flops >= 0 && ns > 0)
        value_set_real(args, "GFLOP/s", (double)e->flops / (double)ns);
    if (e->bytes >= 0 && ns > 0)
        value_set_real(args, "GB/s", (double)e->bytes / (double)ns);
    return args;
}

/* The sections of an entry, each after the one around it. */
static void add_sections(struct replay *r, int entry)
{
    for (int i = 0; i < r->sections.count; i++) {
        const struct section *s = &r->sections.list[i];
        struct value *args = s->entry == entry ? value_new_object() : NULL;
        if (!args)
            continue;
        value_set_text(args, "metadata", s->metadata);
        add_event(r, s->name, LANE_PROGRAM, nanoseconds(r, s->begin), nanoseconds(r, s->end), args);
    }
}

static void add_entry(struct replay *r, int index)
{
    const struct entry *e = tape_entry(r->tape, index);
    int64_t begin = begin_of(r, index), end = begin_of(r, index + 1);
    add_event(r, e->form, LANE_PROGRAM, begin, end, entry_args(e, index, end - begin));
    add_sections(r, index);
    add_live(r, begin, tape_live_bytes(r->tape, index));
}

/* Whether the entry is in the same phase and below the first `length` bytes of the span. */
static bool is_within(const struct entry *e, const struct entry *first, size_t length)
{
    return e->phase == first->phase && strncmp(e->span, first->span, length) == 0 &&
           (e->span[length] == '\0' || e->span[length] == '.');
}

/*
 * Adds entries first .. end - 1, whose spans have the same first `depth` bytes ("layer1." is 7): entries
 * whose span ends there as ops, and successive others with the same next component ("attention") as a span of
 * that name, recursively.
 */
static void add_spans(struct replay *r, int first, int end, size_t depth)
{
    for (int next; first < end; first = next) {
        const struct entry *e = tape_entry(r->tape, first);
        next = first + 1;
        if (strlen(e->span) <= depth) {
            add_entry(r, first);
            continue;
        }
        char name[128];
        size_t length = strcspn(e->span + depth, ".");
        while (next < end && is_within(tape_entry(r->tape, next), e, depth + length))
            next++;
        snprintf(name, sizeof name, "%.*s", (int)length, e->span + depth);
        add_event(r, name, LANE_PROGRAM, begin_of(r, first), begin_of(r, next), NULL);
        add_spans(r, first, next, depth + length + 1);
    }
}

static void add_phases(struct replay *r)
{
    for (int first = 0, next; first < r->entries; first = next) {
        enum phase phase = tape_entry(r->tape, first)->phase;
        for (next = first + 1; next < r->entries && tape_entry(r->tape, next)->phase == phase;)
            next++;
        add_event(r, phase_name(phase), LANE_PHASES, begin_of(r, first), begin_of(r, next), NULL);
    }
}

static void mark(void *context, int entry)
{
    struct replay *r = context;
    stopwatch_mark(&r->watch, entry + 1);
    r->sections.entry = entry + 1;
}

static void replay(struct replay *r, struct plugin *p)
{
    tape_run(r->tape);
    tape_wait(r->tape);
    if (p)
        sections_begin(&r->sections, p);
    stopwatch_mark(&r->watch, 0);
    tape_run_marked(r->tape, mark, r);
    stopwatch_resolve(&r->watch, r->entries + 1);
    if (*r->sections.fault.text) /* which the row tells */
        sections_clear(&r->sections);
}

static void name_process(struct replay *r, const char *title)
{
    bool device = tape_config(r->tape)->backend->device;
    add_name(r, "process_name", 0, title);
    add_name(r, "thread_name", LANE_PHASES, "phases");
    add_name(r, "thread_name", LANE_PROGRAM, device ? "GPU stream" : "program");
    add_phases(r);
    add_event(r, title, LANE_PROGRAM, 0, begin_of(r, r->entries), NULL);
    add_spans(r, 0, r->entries, 0);
    add_live(r, begin_of(r, r->entries), 0);
}

void trace_add(struct value *trace, const char *title, struct tape *t, struct plugin *p)
{
    int64_t processes = 0;
    value_get_count(trace, "otherData.processes", &processes);
    struct replay r = {.events = value_get(trace, "traceEvents"),
                       .tape = t,
                       .process = (int)processes + 1,
                       .entries = tape_entry_count(t)};
    r.watch = stopwatch_open(t, r.entries + 1);
    value_set_count(value_get(trace, "otherData"), "processes", r.process);
    replay(&r, p);
    name_process(&r, title);
    if (p)
        sections_end(&r.sections, p);
    stopwatch_close(&r.watch);
}

struct value *trace_new(const char *benchmark)
{
    struct value *trace = value_new_object(), *other = value_new_object();
    value_set(trace, "traceEvents", value_new_array());
    value_set_text(trace, "displayTimeUnit", "ns");
    value_set_text(other, "benchmark", benchmark);
    value_set_count(other, "processes", 0);
    value_set(trace, "otherData", other);
    return trace;
}
