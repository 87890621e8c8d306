/* Columns that a profile lacks are empty, and so left out: times and rates of one that is only planned,
 * shares of work, bytes and predicted time of one that was measured. */
#include "analysis/tables/profile_table.h"

#include <stdlib.h>

#include "analysis/tables/csv.h"
#include "analysis/tables/grid.h"
#include "analysis/tables/html.h"
#include "analysis/tables/wrap.h"

static const char *const titles[] = {"calls",   "time", "share",  "FLOPs",     "share", "bytes", "share",
                                     "GFLOP/s", "GB/s", "FLOP/B", "predicted", "share", "roof",  "bound"};
enum { COLUMNS = 1 + sizeof titles / sizeof *titles, CALLS = 1, WORK = 4, INTENSITY = 10, BOUND = 14 };

static void add_percent(struct grid *table, double part, double whole)
{
    double percent = whole > 0 ? 100 * part / whole : NAN;
    grid_add_rounded(table, percent < 99.95, percent, " %");
}

static void add_rate(struct grid *table, double rate)
{
    grid_add_rounded(table, units_decimals(rate), rate, "");
}

static void add_group(struct grid *table, const struct profile_group *g, const struct profile_group *total,
                      int width)
{
    bool planned = isnan(g->seconds);
    double flops = g->flops < 0 ? NAN : (double)g->flops, bytes = g->bytes < 0 ? NAN : (double)g->bytes;
    double of_plan = planned ? 1 : NAN;
    grid_add(table, "%-*s", width, g->key);
    grid_add(table, "%d", g->calls);
    grid_add_value(table, g->seconds, UNITS_SI, "s");
    add_percent(table, g->seconds, total->seconds);
    grid_add_value(table, flops, UNITS_SI, "FLOP");
    add_percent(table, of_plan * flops, (double)total->flops);
    grid_add_value(table, of_plan * bytes, UNITS_BINARY, "B");
    add_percent(table, of_plan * bytes, (double)total->bytes);
    add_rate(table, flops / g->seconds / 1e9);
    add_rate(table, bytes / g->seconds / 1e9);
    add_rate(table, flops / bytes);
    grid_add_value(table, of_plan * g->least, UNITS_SI, "s");
    add_percent(table, of_plan * g->least, total->least);
    add_percent(table, g->least, g->seconds);
    grid_add(table, "%s", isnan(g->least) ? "-" : g->memory > g->least / 2 ? "memory" : "compute");
}

struct heading {
    const char *text;
    enum profile_key key;
    enum profile_order order;
    size_t most;
};

static size_t print_table(const struct profile *p, const struct heading *heading, enum table_style style,
                          FILE *out)
{
    size_t all;
    struct profile_group total = profile_total(p),
                         *groups = profile_groups(p, heading->key, heading->order, &all);
    struct grid grid = {.columns = COLUMNS,
                        .class = "profile",
                        .spare = p->runs > 0 ? (size_t[]){INTENSITY, WORK, CALLS}
                                             : (size_t[]){CALLS, INTENSITY, BOUND},
                        .spares = 3};
    int width = (int)strlen(heading->text);
    size_t count = all < heading->most ? all : heading->most;
    for (size_t i = 0; i < count; i++)
        width = (int)strlen(groups[i].key) > width ? (int)strlen(groups[i].key) : width;
    grid_add(&grid, "%-*s", width, heading->text);
    for (size_t i = 0; i + 1 < COLUMNS; i++)
        grid_add(&grid, "%s", titles[i]);
    for (size_t i = 0; i < count; i++)
        add_group(&grid, &groups[i], &total, width);
    putc('\n', out);
    grid_print(&grid, style, out);
    grid_free(&grid);
    free(groups);
    return all;
}

void profile_print_page(const struct profile *p, FILE *out)
{
    enum { SHOWN = 16 };
    static const struct heading headings[] = {{"op", PROFILE_OP, PROFILE_LONGEST, SHOWN},
                                              {"part of a layer, op", PROFILE_PART, PROFILE_LONGEST, SHOWN}};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        size_t all = print_table(p, &headings[i], TABLE_HTML, out);
        if (all > SHOWN)
            html(out, "<p class=\"note\">and %zu more in the file</p>\n", all - SHOWN);
    }
}

static void print_total(const struct profile *p, const char *title, FILE *out)
{
    struct profile_group total = profile_total(p);
    char text[PROFILE_CEILINGS + 512], measured[UNITS_TEXT], predicted[UNITS_TEXT], launches[UNITS_TEXT];
    bool known = isfinite(total.least), ran = p->runs > 0;
    units_format(measured, total.seconds, UNITS_SI, "s");
    units_format(predicted, total.least, UNITS_SI, "s");
    units_format(launches, p->launches, UNITS_SI, "s");
    putc('\n', out);
    if (ran)
        fprintf(out, "profile of %s, medians of %lld run%s\n", title, (long long)p->runs,
                p->runs == 1 ? "" : "s");
    if (ran && known && total.seconds > 0)
        snprintf(text, sizeof text, "%s in all, where the peak rates allow %s (%.1f %%): %s", measured,
                 predicted, 100 * total.least / total.seconds, p->ceilings);
    else if (ran)
        return;
    else if (known)
        snprintf(text, sizeof text,
                 "plan of %s, not run: predicted %s, %.1f %% of it bound by memory%s%s, at %s", title,
                 predicted, total.least > 0 ? 100 * total.memory / total.least : 0,
                 p->launches > 0 ? ", and for launches " : "", p->launches > 0 ? launches : "", p->ceilings);
    else
        snprintf(text, sizeof text, "plan of %s, not run; %s", title,
                 *p->ceilings ? "the work exceeds 63 bits, so no time is predicted"
                              : "--peaks predicts times");
    wrap_text(out, text, 0, 4);
}

/* The kernels of each op, as its slowest entry launched them. */
static void print_launched(const struct profile *p, FILE *out)
{
    size_t ops = 0;
    if (*p->why_not_seen)
        fprintf(out, "\nkernels that ops launched are not known: %s\n", p->why_not_seen);
    if (p->count == 0 || !p->entries[0].launched)
        return;
    putc('\n', out);
    struct profile_group *group = profile_groups(p, PROFILE_OP, PROFILE_LONGEST, &ops);
    for (size_t i = 0; i < ops; i++) {
        const struct profile_entry *slowest = NULL;
        for (size_t e = 0; e < p->count; e++)
            if (strcmp(p->entries[e].op, group[i].key) == 0 &&
                (!slowest || p->entries[e].seconds > slowest->seconds))
                slowest = &p->entries[e];
        char text[2048];
        if (!slowest)
            continue;
        snprintf(text, sizeof text, "%s (%s) launches %s", slowest->op, slowest->span, slowest->launched);
        wrap_text(out, text, 0, 4);
    }
    free(group);
}

void profile_print(const struct profile *p, const char *title, FILE *out)
{
    bool ran = p->runs > 0, predicted = !isnan(profile_total(p).least);
    enum profile_order first = ran || predicted ? PROFILE_LONGEST : PROFILE_MOST_FLOPS;
    const struct heading headings[] = {
        {"op", PROFILE_OP, first, SIZE_MAX},
        {"part of a layer, op", PROFILE_PART, first, SIZE_MAX},
        {"layer", PROFILE_LAYER, PROFILE_AS_RUN, SIZE_MAX},
        {"phase", PROFILE_PHASE, PROFILE_AS_RUN, SIZE_MAX},
        {"intensity", PROFILE_INTENSITY, PROFILE_RISING, ran ? 0 : SIZE_MAX},
        {"bound", PROFILE_BOUND, first, !ran && predicted ? SIZE_MAX : 0},
        {ran ? "entry, the slowest 10" : "entry, the 10 with most FLOPs", PROFILE_ENTRY,
         ran ? PROFILE_LONGEST : PROFILE_MOST_FLOPS, 10},
    };
    print_total(p, title, out);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (headings[i].most > 0)
            print_table(p, &headings[i], TABLE_TERMINAL, out);
    print_launched(p, out);
}

/* --- sections */

void profile_print_sections(const struct row *row, const char *program, FILE *out)
{
    struct grid grid = {.columns = 4};
    int width = 0;
    for (size_t i = 0; i < row->sections.name.count; i++)
        width = (int)fmax(width, (double)strlen(row->sections.name.texts[i]));
    grid_add(&grid, "%-*s", width, "section");
    grid_add_texts(&grid, "calls", "time", "metadata", NULL);
    for (size_t i = 0; i < row->sections.name.count; i++) {
        const char *name = row->sections.name.texts[i];
        if (!schema_is_under(name, program))
            continue;
        grid_add(&grid, "%-*s", width, name);
        grid_add(&grid, "%.*f", units_decimals(row->sections.calls.reals[i]), row->sections.calls.reals[i]);
        grid_add_value(&grid, row->sections.seconds.reals[i], UNITS_SI, "s");
        grid_add(&grid, "%s", *row->sections.metadata.texts[i] ? row->sections.metadata.texts[i] : "-");
    }
    if (grid.count > grid.columns) {
        putc('\n', out);
        grid_print(&grid, TABLE_TERMINAL, out);
    }
    grid_free(&grid);
}

/* --- memory */

/* Bytes of activations and of workspace, the last two categories; the others are the same all the time. */
enum { ACTIVATIONS = PROFILE_CATEGORIES - 2, WORKSPACE };

static void make_stage(const struct profile_entry *e, char text[PROFILE_KEY])
{
    snprintf(text, PROFILE_KEY, "%.20s %.*s", e->phase, (int)strcspn(e->span, "."), e->span);
}

static void add_stage(struct grid *table, const struct profile_entry *e, int64_t peak)
{
    enum { BAR = 32 };
    static const char bar[BAR + 1] = "################################";
    const int64_t bytes[] = {e->live, e->live_of[ACTIVATIONS], e->live_of[WORKSPACE]};
    char stage[PROFILE_KEY];
    make_stage(e, stage);
    grid_add(table, "%-24s", stage);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        grid_add_value(table, bytes[i] < 0 ? NAN : (double)bytes[i], UNITS_BINARY, "B");
    grid_add(table, "%.*s", e->live > 0 ? (int)(BAR * (double)e->live / (double)peak) : 0, bar);
}

void profile_print_memory(const struct profile *p, FILE *out)
{
    struct grid grid = {.columns = 5};
    int64_t peak = 0;
    for (size_t i = 0; i < p->count; i++)
        peak = p->entries[i].live > peak ? p->entries[i].live : peak;
    grid_add(&grid, "%-24s", "memory over the program");
    grid_add_texts(&grid, "live", "activations", "workspace", "of the peak", NULL);
    for (size_t i = 0, next; i < p->count; i = next) {
        char stage[PROFILE_KEY], other[PROFILE_KEY];
        const struct profile_entry *most = &p->entries[i];
        make_stage(most, stage);
        for (next = i; next < p->count; next++) {
            make_stage(&p->entries[next], other);
            if (strcmp(stage, other) != 0)
                break;
            most = p->entries[next].live > most->live ? &p->entries[next] : most;
        }
        add_stage(&grid, most, peak);
    }
    putc('\n', out);
    grid_print(&grid, TABLE_TERMINAL, out);
    grid_free(&grid);
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
        if (!profile_read(&p, row, i))
            continue;
        for (size_t e = 0; e < p.count; e++) {
            put_axes(out, row);
            fprintf(out, "%s,%zu", program_name(i), e);
            put_entry(out, &p.entries[e]);
        }
        profile_free(&p);
    }
}
