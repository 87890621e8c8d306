/* The time of an entry is its median over the runs. A mark after each entry costs tens of nanoseconds, on a
 * device microseconds, so their sum is slightly larger than the time of a run without marks. */
#include "bench/show/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"
#include "bench/machine/roofline.h"
#include "bench/time/stopwatch.h"

static void mark_entry(void *watch, int entry)
{
    stopwatch_mark(watch, entry + 1);
}

double *profile_medians(const double *times, int runs, int entries)
{
    double *column = allocate((size_t)runs, sizeof *column),
           *medians = allocate((size_t)entries, sizeof *medians);
    for (int e = 0; e < entries; e++) {
        for (int r = 0; r < runs; r++)
            column[r] = times[(size_t)r * (size_t)entries + (size_t)e];
        medians[e] = summarize(column, (size_t)runs).median;
    }
    free(column);
    return medians;
}

static double *entry_times(struct tape *t, int runs)
{
    int entries = tape_entry_count(t);
    double *all = allocate((size_t)runs * (size_t)entries, sizeof *all);
    struct stopwatch watch = stopwatch_open(t, entries + 1);
    for (int r = 0; r < runs; r++) {
        stopwatch_mark(&watch, 0);
        tape_run_marked(t, mark_entry, &watch);
        stopwatch_resolve(&watch, entries + 1);
        for (int e = 0; e < entries; e++)
            all[(size_t)r * (size_t)entries + (size_t)e] = watch.at[e + 1] - watch.at[e];
    }
    stopwatch_close(&watch);
    double *medians = profile_medians(all, runs, entries);
    free(all);
    return medians;
}

/* What the peak rates allow, with the minimum bytes of the entry as its working set; NAN if not known. */
static void set_least(struct profile_entry *p, const struct entry *e, struct cost cost,
                      const struct calibration *c)
{
    p->least = NAN;
    if (!c || cost.flops < 0 || cost.bytes < 0)
        return;
    struct roofline r = {.bound = BOUND_MEMORY}; /* an entry without work takes no time */
    if (cost.bytes > 0)
        r = roofline_place(c, &cost, 1, e->bytes);
    p->least = r.percent / 100;
    p->bound = bound_name(r.bound);
}

static int64_t known_bytes(int64_t bytes)
{
    return bytes < BYTES_MOST ? bytes : -1;
}

_Static_assert((int)PROFILE_CATEGORIES == (int)MEMORY_CATEGORIES, "profile_categories lacks one");

struct profile profile_plan(const struct tape *t, const struct calibration *peaks)
{
    int entries = tape_entry_count(t);
    struct profile p = {.count = (size_t)entries, .entries = allocate((size_t)entries, sizeof *p.entries)};
    for (int i = 0; i < entries; i++) {
        const struct entry *e = tape_entry(t, i);
        struct cost cost = e->op == OP_function ? (struct cost){.flops = -1, .bytes = -1} : entry_cost(e);
        p.entries[i] = (struct profile_entry){.op = e->form,
                                              .variant = e->kernel->variant,
                                              .phase = phase_name(e->phase),
                                              .span = e->span,
                                              .seconds = NAN,
                                              .flops = cost.flops,
                                              .bytes = cost.bytes};
        set_least(&p.entries[i], e, cost, peaks);
        p.entries[i].live = known_bytes(tape_live_bytes(t, i));
        for (enum category c = 0; c < MEMORY_CATEGORIES; c++)
            p.entries[i].live_of[c] = known_bytes(tape_live_of(t, i, c));
    }
    const struct device *device = tape_config(t)->backend->device;
    p.launches = device ? entries * device->per_entry : 0;
    if (peaks)
        calibration_text(peaks, p.ceilings, sizeof p.ceilings);
    return p;
}

/* What is launched from now on is of the next entry; they are numbered from 1. */
static void number_next(void *tape, int entry)
{
    const struct tape_config *c = tape_config(tape);
    c->backend->device->kernels_of(c->context, entry + 2);
}

/* The kernels of each entry as one text, "2.50 us NAME + ...", from a list in the order of the entries. */
static void name_launched(struct profile *p, const struct launched *list, int count)
{
    size_t size = 0, *at = malloc((p->count + 1) * sizeof *at);
    FILE *out = open_memstream(&p->texts, &size);
    if (!at || !out)
        abort();
    for (size_t e = 0, n = 0; e < p->count; e++) {
        at[e] = (size_t)ftell(out);
        bool any = false;
        for (; n < (size_t)count && list[n].number <= (int)e + 1; n++, any = true)
            fprintf(out, "%s%.2f us %s", any ? " + " : "", 1e6 * list[n].seconds, list[n].name);
        fputs(any ? "" : "none", out);
        putc('\0', out);
    }
    fclose(out);
    for (size_t e = 0; e < p->count; e++)
        p->entries[e].launched = p->texts + at[e];
    free(at);
}

/* One more run, since being seen takes time. */
static void see_launched(struct profile *p, struct tape *t)
{
    const struct tape_config *c = tape_config(t);
    const struct device *d = c->backend->device;
    int count = 0;
    if (!d || !d->kernels_begin || !d->kernels_begin(c->context, p->why_not_seen, sizeof p->why_not_seen))
        return;
    d->kernels_of(c->context, 1);
    tape_run_marked(t, number_next, t);
    struct launched *list = d->kernels_end(c->context, &count);
    name_launched(p, list, count);
    free(list);
}

struct profile profile_measure(struct tape *t, int runs, const struct calibration *peaks)
{
    struct profile p = profile_plan(t, peaks);
    double *seconds = entry_times(t, runs);
    p.runs = runs;
    for (size_t i = 0; i < p.count; i++)
        p.entries[i].seconds = seconds[i];
    free(seconds);
    see_launched(&p, t);
    return p;
}
