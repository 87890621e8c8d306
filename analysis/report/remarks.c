#include "analysis/report/parts.h"

#include "analysis/statistics/disturbance.h"
#include "analysis/statistics/robust.h"
#include "analysis/tables/units.h"

#include <stdarg.h>
#include <stdlib.h>

/* In a table, and as a heading. */
static const struct {
    const char *word, *text;
} kinds[] = {
    [REMARK_STATUS] = {"not ok", "not ok"},
    [REMARK_UNCHECKED] = {"unchecked", "results not checked"},
    [REMARK_NOISY] = {"wide range", "wide range, or few repetitions"},
    [REMARK_ROOF] = {"above roof", "faster than its peak rate"},
    [REMARK_STATES] = {"other states", "repetitions left out, in other states of the machine"},
    [REMARK_DRIFT] = {"drift", "samples that drift"},
    [REMARK_START] = {"slow start", "slow start"},
    [REMARK_PREEMPTED] = {"preempted", "preempted by other programs"},
    [REMARK_FAULTS] = {"page faults", "memory was still being mapped"},
    [REMARK_DISK] = {"disk", "pages read from disk"},
    [REMARK_THROTTLED] = {"throttled", "the GPU throttled"},
    [REMARK_LOST] = {"lost time", "CPU time lost to others just before the row"},
    [REMARK_ERRORS] = {"exception", "passed the check only with an exception"},
};
_Static_assert(sizeof kinds / sizeof *kinds == REMARKS, "texts for each kind");

const char *remark_word(enum remark_kind kind)
{
    return kinds[kind].word;
}

const char *remark_text(enum remark_kind kind)
{
    return kinds[kind].text;
}

struct finder {
    const struct row *row;
    struct remark *remarks;
    size_t count;
};

__attribute__((format(printf, 4, 5))) static void add_remark(struct finder *f, enum remark_kind kind,
                                                             const char *program, const char *format, ...)
{
    struct remark *r = &f->remarks[f->count++];
    va_list values;
    va_start(values, format);
    *r = (struct remark){.kind = kind, .program = strcmp(program, "kernel") == 0 ? "" : program};
    vsnprintf(r->detail, sizeof r->detail, format, values);
    va_end(values);
}

/* What shows in the samples in the order in which they were taken. */
static void find_in_samples(struct finder *f, const char *program, const struct row_times *time)
{
    struct drift drift = drift_find(time->samples.reals, time->samples.count);
    struct slow_start slow = slow_start_find(time->samples.reals, time->samples.count);
    if (drift.found)
        add_remark(f, REMARK_DRIFT, program, "by %+.1f %% from first to last", 100 * drift.change);
    if (slow.runs > 0)
        add_remark(f, REMARK_START, program, "the first sample takes %.2f times the later median",
                   slow.ratio);
}

/* What happened to the machine while they were taken. */
static void find_in_noise(struct finder *f, const char *program, const struct row_program *p)
{
    size_t n = p->time.samples.count;
    double seconds = 0, switches = count_real(p->noise.involuntary),
           faults = count_real(p->noise.minor_faults);
    for (size_t i = 0; i < n; i++)
        seconds += p->time.samples.reals[i];
    if (seconds > 0 && switches > DISTURBANCE_FEWEST && switches > DISTURBANCE_SWITCHES * seconds)
        add_remark(f, REMARK_PREEMPTED, program, "%.0f times per second", switches / seconds);
    if (n > 0 && faults > DISTURBANCE_FAULTS * (double)n)
        add_remark(f, REMARK_FAULTS, program, "%.0f page faults per run", faults / (double)n);
    if (p->noise.major_faults > 0)
        add_remark(f, REMARK_DISK, program, "%.0f while it was timed", (double)p->noise.major_faults);
    if (p->gpu.throttled > 0)
        add_remark(f, REMARK_THROTTLED, program, "%.0f samples kept (%.200s)", (double)p->gpu.throttled,
                   p->gpu.throttle ? p->gpu.throttle : "");
}

static void find_in_program(struct finder *f, size_t kind)
{
    const char *program = program_name(kind), *noisy = row_noisy(f->row, kind);
    const struct row_program *p = row_program(f->row, kind);
    const struct row_times *time = row_timed(f->row, kind);
    if (noisy)
        add_remark(f, REMARK_NOISY, program, "%.300s", noisy);
    if (p && p->roofline.fault && *p->roofline.fault)
        add_remark(f, REMARK_ROOF, program, "%.300s", p->roofline.fault);
    if (time->other_repetitions > 0)
        add_remark(f, REMARK_STATES, program, "%.0f of %.0f", (double)time->other_repetitions,
                   (double)time->other_repetitions +
                       fmax(count_real(time->repetitions), 0)); /* fmax ignores NAN */
    find_in_samples(f, program, time);
    if (p)
        find_in_noise(f, program, p);
}

static int by_kind(const void *a, const void *b)
{
    const struct remark *x = a, *y = b;
    int order = (int)x->kind - (int)y->kind;
    return order ? order : strcmp(x->program, y->program);
}

size_t remarks_of(const struct row *row, struct remark remarks[REMARKS_MAX])
{
    struct finder f = {row, remarks, 0};
    const char *unchecked = row_unchecked(row), *exceptions = row->error.exceptions;
    double lost = row->noise.lost, gap = row->noise.largest_gap;
    if (!row_is_ok(row))
        add_remark(&f, REMARK_STATUS, "", "%.20s: %.400s", row->status ? row->status : "",
                   row->reason ? row->reason : "");
    if (unchecked)
        add_remark(&f, REMARK_UNCHECKED, "", "%.400s", unchecked);
    for (size_t p = 0; p < TIMED; p++)
        find_in_program(&f, p);
    if (lost >= DISTURBANCE_LOST || gap >= DISTURBANCE_GAP) {
        char longest[UNITS_TEXT];
        units_format(longest, fmax(gap, 0), UNITS_SI, "s"); /* fmax ignores NAN */
        add_remark(&f, REMARK_LOST, "", "%.1f %% of the time, in gaps of up to %s", 100 * fmax(lost, 0),
                   longest);
    }
    if (exceptions && *exceptions)
        add_remark(&f, REMARK_ERRORS, "", "%.400s", exceptions);
    qsort(remarks, f.count, sizeof *remarks, by_kind);
    return f.count;
}
