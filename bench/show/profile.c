/*
 * The time of an entry is its median over the runs; the rows of a table are sums over the entries with one
 * key. A mark after each entry costs tens of nanoseconds, on a device microseconds, so the sum is slightly
 * larger than the time of a run without marks.
 */
#include "bench/show/profile.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/statistics.h"
#include "analysis/tables/grid.h"
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

enum { KEY_WIDTH = 41 }; /* columns of the longest key */

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

/* Columns, and those to leave out first if there is no room. */
enum { COLUMNS = 10, WORK = 4, INTENSITY = 7 };

static void add_percent(struct grid *table, double percent)
{
    grid_add(table, "%.*f %%", percent < 99.95 ? 1 : 0, percent);
}

/* The share of the roofline and the lower ceiling of a group; its working set is taken as the minimum bytes
 * of its largest entry. */
static void add_roofline(struct grid *table, const struct group *g, const struct calibration *c)
{
    if (!c || g->cost.flops < 0 || g->cost.bytes <= 0 || g->seconds <= 0) {
        grid_add(table, "-");
        grid_add(table, "-");
        return;
    }
    struct roofline r = roofline_place(c, &g->cost, g->seconds, g->largest);
    add_percent(table, r.percent);
    grid_add(table, "%s", bound_name(r.bound));
}

static void add_group(struct grid *table, const struct group *g, double total, const struct calibration *c)
{
    char time[UNITS_TEXT], flops[UNITS_TEXT];
    double rates[] = {(double)g->cost.flops / g->seconds / 1e9, (double)g->cost.bytes / g->seconds / 1e9,
                      (double)g->cost.flops / (double)g->cost.bytes};
    units_format(time, g->seconds, UNITS_SI, "s");
    units_format(flops, (double)g->cost.flops, UNITS_SI, "FLOP");
    grid_add(table, "%-*s", KEY_WIDTH, g->key);
    grid_add(table, "%d", g->calls);
    grid_add(table, "%s", time);
    add_percent(table, 100 * g->seconds / total);
    grid_add(table, "%s", flops);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        grid_add(table, "%.*f", units_decimals(rates[i]), rates[i]);
    add_roofline(table, g, c);
}

static void add_titles(struct grid *table, const char *key)
{
    static const char *const titles[COLUMNS - 1] = {"calls", "time",   "share", "work", "GFLOP/s",
                                                    "GB/s",  "FLOP/B", "roof",  "bound"};
    grid_add(table, "%-*s", KEY_WIDTH, key);
    for (size_t i = 0; i < COLUMNS - 1; i++)
        grid_add(table, "%s", titles[i]);
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
    struct grid grid = {.columns = COLUMNS, .spare = (size_t[]){INTENSITY, WORK}, .spares = 2};
    add_titles(&grid, table->heading);
    for (int i = 0; i < count && i < table->most; i++)
        add_group(&grid, &groups[i], total, c);
    putc('\n', out);
    grid_print(&grid, TABLE_TERMINAL, out);
    grid_free(&grid);
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
    fprintf(out, "\nprofile of %s, medians of %d run%s\n", title, runs, runs == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        print_table(t, seconds, &tables[i], ceilings, out);
    free(seconds);
}
