#include "bench/sweep/largest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/axes.h"
#include "analysis/record/plain.h"
#include "bench/base/interrupt.h"
#include "bench/base/quantity.h"
#include "bench/cli/plan.h"
#include "bench/row/fields.h"
#include "bench/row/workload.h"
#include "bench/sweep/estimate.h"
#include "bench/sweep/probe_times.h"

/* The first number of nodes tried (of others: 1), and the number of probes near the limit. */
enum { FIRST_NODES = 64, PROBES = 4 };

#define NEAR 1.25 /* times below or above the limit */

/* A search. need: bytes or seconds of a configuration; INFINITY if it cannot be made or run. */
struct search {
    const struct options *options;
    enum axis axis;
    double limit;
    double (*need)(const struct search *s, const struct config *c);
};

static double need_memory(const struct search *s, const struct config *c)
{
    const struct options *o = s->options;
    struct estimate e = estimate_row(o, c, NULL);
    bool on_host = !o->device.meta && !o->device.context;
    double most = !e.known ? INFINITY : on_host ? (double)e.batch : 0;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        most = fmax(most, (double)e.program[p].arena);
    return most;
}

/* The time of the slowest requested program. Gives up after eight times the time that the limit allows. */
static double probe_time(const struct search *s, const struct config *c)
{
    enum { PROBE_RUNS = 6 };
    double seconds[TIMED], most = 0;
    probe_times(s->options, c, 8 * PROBE_RUNS * s->limit, seconds);
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        most = fmax(most, seconds[p]);
    return seconds[PROGRAMS] < INFINITY ? most : INFINITY;
}

/* Near the limit, the longest of several probes: the row of the size found has to meet the limit too. */
static double need_time(const struct search *s, const struct config *c)
{
    double most = probe_time(s, c);
    bool near = most > s->limit / NEAR && most < s->limit * NEAR;
    for (int again = 1; near && again < PROBES && !interrupt_signal(); again++)
        most = fmax(most, probe_time(s, c));
    return most;
}

/* Prints the values of the varying axes and a colon: "2 layers: ". */
static void print_configuration(const struct options *o, const struct config *c)
{
    const struct field *axes[AXES_MAX];
    char text[AXES_TEXT];
    enum axis order[AXES];
    size_t n = 0;
    axes_swept(order);
    for (int i = 0; i < AXES; i++)
        if (o->axes[order[i]].count > 1)
            axes[n++] = schema_find(axis_info(order[i])->field);
    for (int i = 0; i < 2 && o->kernels; i++)
        axes[n++] = schema_find(i ? "variant" : "op");
    struct row *row = row_new();
    fields_config(row, c, o);
    axes_describe_all(row, axes, n, text);
    row_free(row);
    plain_put(stderr, text);
    fputs(*text ? ": " : "", stderr);
}

static void print_bracket(const struct search *s, const struct config *c, int64_t fits, int64_t fails,
                          double needed)
{
    enum quantity_kind q = s->need == need_memory ? QUANTITY_BYTES : QUANTITY_SECONDS;
    char limit[QUANTITY_TEXT], more[QUANTITY_TEXT], number[32], most[AXES_TEXT];
    quantity_format(limit, s->limit, q);
    quantity_format(more, needed, q);
    bool alike = strcmp(more, limit) == 0; /* "4.00 GiB" both */
    if (alike)
        quantity_format(more, needed - s->limit, q);
    snprintf(number, sizeof number, "%lld", (long long)fits);
    axes_describe_value(schema_find(axis_info(s->axis)->field), number, most);
    print_configuration(s->options, c);
    if (fits > 0)
        fprintf(stderr, "largest that fits %s: %s", limit, most);
    else
        fprintf(stderr, "nothing fits %s", limit);
    if (fails > (int64_t)axis_info(s->axis)->max)
        fprintf(stderr, " (the maximum allowed)\n");
    else if (isfinite(needed))
        fprintf(stderr, " (%lld need%s %s%s)\n", (long long)fails, fails == 1 ? "s" : "", more,
                alike ? " more" : "");
    else if (fits > 0) /* timed out, or no such graph */
        fprintf(stderr, " (%lld do not fit)\n", (long long)fails);
    else
        putc('\n', stderr);
}

/* The largest value that fits, 0 if none does; -1 after a signal. */
static int64_t search(const struct search *s, int64_t index, double tolerance)
{
    const struct config *first = &s->options->plan.list[index];
    int64_t step = config_step(s->options, first), most = (int64_t)axis_info(s->axis)->max / step;
    int64_t fits = 0, fails = most + 1, steps = s->axis == AXIS_NODES ? FIRST_NODES : 1;
    double needed = INFINITY;
    while (fails - fits > fmax(1, tolerance * (double)fits)) {
        struct config c = plan_with(s->options, index, s->axis, (double)(step * steps));
        double now = s->need(s, &c);
        if (interrupt_signal())
            return -1;
        if (now <= s->limit) {
            fits = steps;
        } else {
            fails = steps;
            needed = now;
        }
        steps = fails > most && fits < fails / 2 ? 2 * fits : fits + (fails - fits) / 2;
    }
    print_bracket(s, first, step * fits, step * fails, needed);
    return step * fits;
}

static double limit_of(const struct options *o)
{
    if (o->largest.kind == LARGEST_LATENCY)
        return o->largest.limit;
    double free = o->mem_limit > 0 ? o->mem_limit : 0.9 * workload_limit(o);
    bool asked = o->largest.limit > 0;
    return asked && o->mem_limit > 0 ? fmin(o->largest.limit, free) : asked ? o->largest.limit : free;
}

bool largest_find(struct options *o)
{
    bool memory = o->largest.kind == LARGEST_MEMORY;
    struct search s = {o, o->largest.axis, limit_of(o), memory ? need_memory : need_time};
    for (int64_t i = 0; i < o->plan.count; i++) {
        int64_t found = search(&s, i, memory ? 0 : 0.01);
        if (found < 0)
            return false;
        if (found > 0)
            o->plan.list[i] = plan_with(o, i, s.axis, (double)found);
        o->plan.list[i].unfit = found == 0;
    }
    if (!memory)
        o->gates.list[o->gates.count++] =
            (struct gate){.kind = GATE_LATENCY, .program = PROGRAMS, .limit = s.limit};
    return true;
}
