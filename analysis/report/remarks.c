#include "analysis/report/remarks.h"

#include "analysis/statistics/disturbance.h"
#include "analysis/statistics/robust.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* In a table, and as a heading. */
static const struct {
    const char *word, *text;
} kinds[] = {
    [REMARK_STATUS] = {"not ok", "not ok"},
    [REMARK_UNCHECKED] = {"unchecked", "results not checked"},
    [REMARK_NOISY] = {"noisy", "noisy time, which supports no finding"},
    [REMARK_ROOF] = {"above roof", "faster than its ceiling"},
    [REMARK_STATES] = {"other states", "turns left out, in other states of the machine"},
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

/* A text of the row; "" if it has none. */
static const char *text_in(const struct row *row, const char *program, const char *name)
{
    char path[SCHEMA_PATH];
    const char *text = "";
    snprintf(path, sizeof path, "%s%s", program, name);
    row_get_text(row, path, &text);
    return text;
}

/* A number of the row; 0 if it has none. */
static double number_in(const struct row *row, const char *program, const char *name)
{
    char path[SCHEMA_PATH];
    double number = 0;
    snprintf(path, sizeof path, "%s%s", program, name);
    row_get_real(row, path, &number);
    return number;
}

/* What shows in the samples in the order in which they were taken. */
static void find_in_samples(struct finder *f, const char *program)
{
    char path[SCHEMA_PATH];
    size_t n;
    snprintf(path, sizeof path, "%s.time.samples", program);
    n = row_reals_count(f->row, path);
    double *samples = calloc(n + 1, sizeof *samples), seconds = 0;
    if (!samples)
        abort();
    row_get_reals(f->row, path, samples, n, &n);
    for (size_t i = 0; i < n; i++)
        seconds += samples[i];
    struct drift drift = drift_find(samples, n);
    struct slow_start slow = slow_start_find(samples, n);
    free(samples);
    double switches = number_in(f->row, program, ".noise.involuntary"),
           faults = number_in(f->row, program, ".noise.minor_faults");
    if (drift.found)
        add_remark(f, REMARK_DRIFT, program, "by %+.1f %% from first to last", 100 * drift.change);
    if (slow.runs > 0)
        add_remark(f, REMARK_START, program, "the first sample takes %.2f times the later median",
                   slow.ratio);
    if (seconds > 0 && switches > DISTURBANCE_FEWEST && switches > DISTURBANCE_SWITCHES * seconds)
        add_remark(f, REMARK_PREEMPTED, program, "%.0f times per second", switches / seconds);
    if (n > 0 && faults > DISTURBANCE_FAULTS * (double)n)
        add_remark(f, REMARK_FAULTS, program, "%.0f page faults per run", faults / (double)n);
}

static void find_in_program(struct finder *f, const char *program)
{
    const char *noisy = row_noisy(f->row, program), *fault = text_in(f->row, program, ".roofline.fault");
    double others = number_in(f->row, program, ".time.other_turns"),
           disk = number_in(f->row, program, ".noise.major_faults"),
           throttled = number_in(f->row, program, ".gpu.throttled");
    if (noisy)
        add_remark(f, REMARK_NOISY, program, "%.300s", noisy);
    if (*fault)
        add_remark(f, REMARK_ROOF, program, "%.300s", fault);
    if (others > 0)
        add_remark(f, REMARK_STATES, program, "%.0f of %.0f", others,
                   others + number_in(f->row, program, ".time.turns"));
    if (disk > 0)
        add_remark(f, REMARK_DISK, program, "%.0f while it was timed", disk);
    if (throttled > 0)
        add_remark(f, REMARK_THROTTLED, program, "%.0f samples kept (%.200s)", throttled,
                   text_in(f->row, program, ".gpu.throttle"));
    find_in_samples(f, program);
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
    const char *unchecked = row_unchecked(row), *exceptions = text_in(row, "error", ".exceptions");
    double lost = number_in(row, "noise", ".lost"), gap = number_in(row, "noise", ".largest_gap");
    char longest[UNITS_TEXT];
    units_format(longest, gap, UNITS_SI, "s");
    if (!row_is_ok(row))
        add_remark(&f, REMARK_STATUS, "", "%.20s: %.400s", text_in(row, "status", ""),
                   text_in(row, "reason", ""));
    if (unchecked)
        add_remark(&f, REMARK_UNCHECKED, "", "%.400s", unchecked);
    for (size_t p = 0; p < TIMED; p++)
        find_in_program(&f, program_name(p));
    if (lost >= DISTURBANCE_LOST || gap >= DISTURBANCE_GAP)
        add_remark(&f, REMARK_LOST, "", "%.1f %% of the time, in gaps of up to %s", 100 * lost, longest);
    if (*exceptions)
        add_remark(&f, REMARK_ERRORS, "", "%.400s", exceptions);
    qsort(remarks, f.count, sizeof *remarks, by_kind);
    return f.count;
}
