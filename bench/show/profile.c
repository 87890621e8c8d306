/*
 * The time of an entry is its median over the runs; the rows of a table are sums over the entries with one
 * key. A mark after each entry costs tens of nanoseconds, on a device microseconds, so the sum is slightly
 * larger than the time of a run without marks.
 */
#include "bench/show/profile.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/statistics.h"
#include "analysis/tables/units.h"
#include "bench/machine/roofline.h"
#include "bench/time/stopwatch.h"
#include "kernels/arithmetic.h"

static void mark_entry(void *watch, int entry)
{
    stopwatch_mark(watch, entry + 1);
}

/* Medians over the runs, per entry; to be freed. */
static double *entry_times(struct tape *t, int runs)
{
    int entries = tape_entry_count(t);
    double *all = malloc((size_t)runs * (size_t)entries * sizeof *all);
    double *column = malloc((size_t)runs * sizeof *column),
           *medians = malloc((size_t)entries * sizeof *medians);
    if (!all || !column || !medians)
        abort();
    struct stopwatch watch = stopwatch_open(t, entries + 1);
    for (int r = 0; r < runs; r++) {
        stopwatch_mark(&watch, 0);
        tape_run_marked(t, mark_entry, &watch);
        stopwatch_resolve(&watch, entries + 1);
        for (int e = 0; e < entries; e++)
            all[(size_t)r * (size_t)entries + (size_t)e] = watch.at[e + 1] - watch.at[e];
    }
    stopwatch_close(&watch);
    for (int e = 0; e < entries; e++) {
        for (int r = 0; r < runs; r++)
            column[r] = all[(size_t)r * (size_t)entries + (size_t)e];
        medians[e] = summarize(column, (size_t)runs).median;
    }
    free(all);
    free(column);
    return medians;
}

struct group {
    char key[64];
    int calls;
    double seconds;
    struct cost cost;
    int64_t largest; /* largest minimum bytes of one entry */
};

typedef void (*key_function)(const struct entry *e, char key[64]);

static void key_op(const struct entry *e, char key[64])
{
    snprintf(key, 64, "%s", op_info(e->op)->name);
}

/* The outermost span: layer1, input, head. */
static void key_layer(const struct entry *e, char key[64])
{
    snprintf(key, 64, "%.*s", (int)strcspn(e->span, "."), e->span);
}

/* The span within the layer, which all layers share, and the op: "ffn.up linear". */
static void key_part(const struct entry *e, char key[64])
{
    const char *dot = strchr(e->span, '.');
    snprintf(key, 64, "%s %s", dot ? dot + 1 : e->span, op_info(e->op)->name);
}

static void key_phase(const struct entry *e, char key[64])
{
    snprintf(key, 64, "%s", phase_name(e->phase));
}

/* A single entry, unless two entries of an op share a span. */
static void key_entry(const struct entry *e, char key[64])
{
    snprintf(key, 64, "%.40s %s", e->span, op_info(e->op)->name);
}

/* A table of the profile, with at most `most` lines. */
struct profile_table {
    const char *heading;
    key_function key_of;
    bool sorted;
    int most;
};

static int slowest_first(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static struct group *group_of(struct group *groups, int *count, const char *key)
{
    int i = 0;
    while (i < *count && strcmp(groups[i].key, key) != 0)
        i++;
    if (i == *count)
        snprintf(groups[(*count)++].key, sizeof groups[i].key, "%s", key);
    return &groups[i];
}

/*
 * The share of the roofline and the lower ceiling of a group; its working set is taken as the minimum bytes
 * of its largest entry. "-" without ceilings.
 */
static void print_roofline(const struct group *g, const struct calibration *c, FILE *out)
{
    if (!c || g->cost.flops < 0 || g->cost.bytes <= 0 || g->seconds <= 0) {
        fprintf(out, " %8s %8s\n", "-", "-");
        return;
    }
    struct roofline r = roofline_place(c, g->cost.flops, g->cost.bytes, g->seconds, g->largest);
    fprintf(out, " %6.1f %% %8s\n", r.percent, bound_name(r.bound));
}

static void print_group(const struct group *g, double total, const struct calibration *c, FILE *out)
{
    char time[UNITS_TEXT], flops[UNITS_TEXT], bytes[UNITS_TEXT], rate[UNITS_TEXT], bandwidth[UNITS_TEXT];
    double intensity = (double)g->cost.flops / (double)g->cost.bytes;
    units_format(time, g->seconds, UNITS_SI, "s");
    units_format(flops, (double)g->cost.flops, UNITS_SI, "FLOP");
    units_format(bytes, (double)g->cost.bytes, UNITS_BINARY, "B");
    units_format(rate, (double)g->cost.flops / g->seconds, UNITS_SI, "FLOP/s");
    units_format(bandwidth, (double)g->cost.bytes / g->seconds, UNITS_SI, "B/s");
    fprintf(out, "  %-40s %6d %12s %6.1f %% %14s %10s %8.2f %16s %14s", g->key, g->calls, time,
            100 * g->seconds / total, flops, bytes, intensity, rate, bandwidth);
    print_roofline(g, c, out);
}

static void print_heading(const char *heading, FILE *out)
{
    fprintf(out, "  %-40s %6s %12s %8s %14s %10s %8s %16s %14s %8s %8s\n", heading, "calls", "time", "share",
            "analytic", "min. bytes", "FLOP/B", "rate", "min. bytes/s", "roof", "bound");
}

static void print_table(const struct tape *t, const double *seconds, const struct profile_table *table,
                        const struct calibration *c, FILE *out)
{
    int entries = tape_entry_count(t), count = 0;
    struct group *groups = calloc((size_t)entries, sizeof *groups);
    if (!groups)
        abort();
    double total = 0;
    for (int i = 0; i < entries; i++) {
        const struct entry *e = tape_entry(t, i);
        char key[64];
        table->key_of(e, key);
        struct group *g = group_of(groups, &count, key);
        g->calls++;
        g->seconds += seconds[i];
        g->cost = cost_add(g->cost, entry_cost(e));
        g->largest = max_of(g->largest, e->bytes);
        total += seconds[i];
    }
    if (table->sorted)
        qsort(groups, (size_t)count, sizeof *groups, slowest_first);
    print_heading(table->heading, out);
    for (int i = 0; i < count && i < table->most; i++)
        print_group(&groups[i], total, c, out);
    free(groups);
}

void profile_print(struct tape *t, int runs, const char *title, const struct calibration *ceilings, FILE *out)
{
    enum { ALL = 1 << 30, TOP = 10 };
    static const struct profile_table tables[] = {
        {"op", key_op, true, ALL},
        {"part of a layer, op", key_part, true, ALL},
        {"layer", key_layer, false, ALL},
        {"phase", key_phase, false, ALL},
        {"entry, the slowest 10", key_entry, true, TOP},
    };
    double *seconds = entry_times(t, runs);
    fprintf(out, "\nprofile of %s, medians of %d runs\n", title, runs);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        print_table(t, seconds, &tables[i], ceilings, out);
    free(seconds);
}
