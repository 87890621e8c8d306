#include "analysis/tables/profile_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/axes.h"
#include "analysis/tables/csv.h"
#include "analysis/tables/grid.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"

enum { KEY_WIDTH = 41 }; /* columns of the longest key */

/* Columns, and those to leave out first if there is no room. */
enum { COLUMNS = 10, WORK = 4, INTENSITY = 7 };

static void add_percent(struct grid *table, double percent)
{
    grid_add(table, "%.*f %%", percent < 99.95 ? 1 : 0, percent);
}

/* The share of the roofline, and the lower ceiling for most of the work; "-" where not known. */
static void add_roofline(struct grid *table, const struct profile_group *g)
{
    if (isnan(g->least) || !(g->seconds > 0)) {
        grid_add(table, "-");
        grid_add(table, "-");
        return;
    }
    add_percent(table, 100 * g->least / g->seconds);
    grid_add(table, "%s", g->memory > g->least / 2 ? "memory" : "compute");
}

static void add_rate(struct grid *table, int64_t amount, double scale)
{
    double rate = (double)amount / scale;
    if (amount < 0 || !isfinite(rate))
        grid_add(table, "-");
    else
        grid_add(table, "%.*f", units_decimals(rate), rate);
}

static void add_group(struct grid *table, const struct profile_group *g, double total)
{
    char time[UNITS_TEXT], flops[UNITS_TEXT];
    units_format(time, g->seconds, UNITS_SI, "s");
    units_format(flops, (double)g->flops, UNITS_SI, "FLOP");
    grid_add(table, "%-*s", KEY_WIDTH, g->key);
    grid_add(table, "%d", g->calls);
    grid_add(table, "%s", time);
    add_percent(table, 100 * g->seconds / total);
    grid_add(table, "%s", g->flops < 0 ? "-" : flops);
    add_rate(table, g->flops, g->seconds * 1e9);
    add_rate(table, g->bytes, g->seconds * 1e9);
    add_rate(table, g->bytes < 0 ? -1 : g->flops, (double)g->bytes);
    add_roofline(table, g);
}

static void add_titles(struct grid *table, const char *key)
{
    static const char *const titles[COLUMNS - 1] = {"calls", "time",   "share", "work", "GFLOP/s",
                                                    "GB/s",  "FLOP/B", "roof",  "bound"};
    grid_add(table, "%-*s", KEY_WIDTH, key);
    for (size_t i = 0; i < COLUMNS - 1; i++)
        grid_add(table, "%s", titles[i]);
}

/* A table with at most `most` lines. */
struct heading {
    const char *text;
    enum profile_key key;
    enum profile_order order;
    size_t most;
};

static void print_table(const struct profile *p, const struct heading *heading, FILE *out)
{
    size_t count;
    struct profile_group *groups = profile_groups(p, heading->key, heading->order, &count);
    double total = profile_total(p).seconds;
    struct grid grid = {.columns = COLUMNS, .spare = (size_t[]){INTENSITY, WORK}, .spares = 2};
    add_titles(&grid, heading->text);
    for (size_t i = 0; i < count && i < heading->most; i++)
        add_group(&grid, &groups[i], total);
    putc('\n', out);
    grid_print(&grid, TABLE_TERMINAL, out);
    grid_free(&grid);
    free(groups);
}

/* What the entries would take at the ceilings, beside what they took. */
static void print_predicted(const struct profile *p, FILE *out)
{
    struct profile_group total = profile_total(p);
    char text[PROFILE_CEILINGS + 2 * UNITS_TEXT + 64], measured[UNITS_TEXT], predicted[UNITS_TEXT];
    if (!isfinite(total.least) || !(total.seconds > 0))
        return;
    units_format(measured, total.seconds, UNITS_SI, "s");
    units_format(predicted, total.least, UNITS_SI, "s");
    snprintf(text, sizeof text, "%s in all, where the ceilings allow %s (%.1f %%): %s", measured, predicted,
             100 * total.least / total.seconds, p->ceilings);
    wrap_text(out, text, 0, 4);
}

void profile_print(const struct profile *p, const char *title, FILE *out)
{
    static const struct heading headings[] = {
        {"op", PROFILE_OP, PROFILE_LONGEST, SIZE_MAX},
        {"part of a layer, op", PROFILE_PART, PROFILE_LONGEST, SIZE_MAX},
        {"layer", PROFILE_LAYER, PROFILE_AS_RUN, SIZE_MAX},
        {"phase", PROFILE_PHASE, PROFILE_AS_RUN, SIZE_MAX},
        {"entry, the slowest 10", PROFILE_ENTRY, PROFILE_LONGEST, 10},
    };
    if (p->runs == 0) {
        profile_print_plan(p, title, out);
        return;
    }
    fprintf(out, "\nprofile of %s, medians of %lld run%s\n", title, (long long)p->runs,
            p->runs == 1 ? "" : "s");
    print_predicted(p, out);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        print_table(p, &headings[i], out);
}

/* --- comma-separated values */

/* The axes, without the op and variant of a single op, which its entry has too. */
static bool is_column(const struct field *f)
{
    return f->symbol && strcmp(f->path, "op") != 0 && strcmp(f->path, "variant") != 0;
}

void profile_csv_header(FILE *out)
{
    for (size_t i = 0; i < schema_fields_count; i++)
        if (is_column(&schema_fields[i]))
            fprintf(out, "%s,", schema_fields[i].path);
    fputs("program,entry,span,op,variant,phase,seconds,least,bound,flops,bytes,live", out);
    for (size_t c = 0; c < PROFILE_CATEGORIES; c++)
        fprintf(out, ",live_%s", profile_categories[c]);
    putc('\n', out);
}

/* Seconds and exact counts; empty if they are not known. */
static void put_seconds(FILE *out, double real)
{
    char text[VALUE_REAL_TEXT] = "";
    if (isfinite(real))
        value_format_real(text, real);
    fprintf(out, ",%s", text);
}

static void put_count(FILE *out, int64_t count)
{
    if (count < 0)
        putc(',', out);
    else
        fprintf(out, ",%lld", (long long)count);
}

static void put_entry(FILE *out, const struct profile_entry *e)
{
    const char *const names[] = {e->span, e->op, e->variant, e->phase};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        putc(',', out);
        csv_text(out, names[i]);
    }
    put_seconds(out, e->seconds);
    put_seconds(out, e->least);
    putc(',', out);
    if (e->bound)
        csv_text(out, e->bound);
    put_count(out, e->flops);
    put_count(out, e->bytes);
    put_count(out, e->live);
    for (size_t c = 0; c < PROFILE_CATEGORIES; c++)
        put_count(out, e->live_of[c]);
    putc('\n', out);
}

static void put_axes(FILE *out, const struct row *row)
{
    for (size_t i = 0; i < schema_fields_count; i++)
        if (is_column(&schema_fields[i])) {
            char text[AXES_TEXT];
            axes_text(row, &schema_fields[i], text);
            if (*text)
                csv_text(out, text);
            putc(',', out);
        }
}

void profile_csv(FILE *out, const struct row *row)
{
    for (size_t i = 0; i + 1 < TIMED; i++) { /* encodings have no tape */
        struct profile p;
        if (!profile_read(&p, row, program_name(i)))
            continue;
        for (size_t e = 0; e < p.count; e++) {
            put_axes(out, row);
            fprintf(out, "%s,%zu", program_name(i), e);
            put_entry(out, &p.entries[e]);
        }
        profile_free(&p);
    }
}
