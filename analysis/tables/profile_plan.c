/* What is known of a program that does not run. Predicted times are labelled as such, with their ceilings. */
#include "analysis/tables/profile_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables/grid.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"

/* Columns, and those to leave out first if there is no room. */
enum { COLUMNS = 10, CALLS = 1, INTENSITY = 6, BOUND = 9 };

/* A count with its unit, and its share of the whole. */
static void add_count(struct grid *table, int64_t count, int64_t whole, enum unit_base base, const char *unit)
{
    char text[UNITS_TEXT];
    units_format(text, (double)count, base, unit);
    grid_add(table, "%s", count < 0 ? "-" : text);
    if (count < 0 || whole <= 0)
        grid_add(table, "-");
    else
        grid_add(table, "%.1f %%", 100 * (double)count / (double)whole);
}

static void add_predicted(struct grid *table, const struct profile_group *g, double whole)
{
    char text[UNITS_TEXT];
    units_format(text, g->least, UNITS_SI, "s");
    if (isnan(whole)) {
        for (int i = 0; i < 3; i++)
            grid_add(table, "-");
        return;
    }
    grid_add(table, "%s", text);
    grid_add(table, "%.1f %%", whole > 0 ? 100 * g->least / whole : 0);
    grid_add(table, "%s", g->memory > g->least / 2 ? "memory" : "compute");
}

static void add_planned(struct grid *table, const struct profile_group *g, const struct profile_group *total,
                        int width)
{
    double intensity = (double)g->flops / (double)g->bytes;
    grid_add(table, "%-*s", width, g->key);
    grid_add(table, "%d", g->calls);
    add_count(table, g->flops, total->flops, UNITS_SI, "FLOP");
    add_count(table, g->bytes, total->bytes, UNITS_BINARY, "B");
    if (g->flops < 0 || g->bytes <= 0)
        grid_add(table, "-");
    else
        grid_add(table, "%.*f", units_decimals(intensity), intensity);
    add_predicted(table, g, total->least);
}

/* A table with at most `most` lines. */
struct heading {
    const char *text;
    enum profile_key key;
    enum profile_order order;
    size_t most;
};

static void print_shares(const struct profile *p, const struct heading *heading, FILE *out)
{
    static const char *const titles[COLUMNS - 1] = {"calls",  "work",      "share", "bytes", "share",
                                                    "FLOP/B", "predicted", "share", "bound"};
    size_t count;
    struct profile_group total = profile_total(p),
                         *groups = profile_groups(p, heading->key, heading->order, &count);
    struct grid grid = {.columns = COLUMNS, .spare = (size_t[]){CALLS, INTENSITY, BOUND}, .spares = 3};
    int width = (int)strlen(heading->text);
    count = count < heading->most ? count : heading->most;
    for (size_t i = 0; i < count; i++)
        width = (int)strlen(groups[i].key) > width ? (int)strlen(groups[i].key) : width;
    grid_add(&grid, "%-*s", width, heading->text);
    for (size_t i = 0; i < COLUMNS - 1; i++)
        grid_add(&grid, "%s", titles[i]);
    for (size_t i = 0; i < count; i++)
        add_planned(&grid, &groups[i], &total, width);
    putc('\n', out);
    grid_print(&grid, TABLE_TERMINAL, out);
    grid_free(&grid);
    free(groups);
}

/* The line above the tables. */
static void print_total(const struct profile *p, const char *title, FILE *out)
{
    struct profile_group total = profile_total(p);
    char text[PROFILE_CEILINGS + 512], predicted[UNITS_TEXT];
    units_format(predicted, total.least, UNITS_SI, "s");
    if (isnan(total.least))
        snprintf(text, sizeof text, "plan of %s, not run; %s", title,
                 *p->ceilings ? "the work exceeds 63 bits, so no time is predicted"
                              : "--ceilings predicts times");
    else
        snprintf(text, sizeof text, "plan of %s, not run: predicted %s, %.1f %% of it bound by memory, at %s",
                 title, predicted, total.least > 0 ? 100 * total.memory / total.least : 0, p->ceilings);
    putc('\n', out);
    wrap_text(out, text, 0, 4);
}

void profile_print_plan(const struct profile *p, const char *title, FILE *out)
{
    enum profile_order first = isnan(profile_total(p).least) ? PROFILE_MOST_FLOPS : PROFILE_LONGEST;
    const struct heading headings[] = {
        {"op", PROFILE_OP, first, SIZE_MAX},
        {"part of a layer, op", PROFILE_PART, first, SIZE_MAX},
        {"layer", PROFILE_LAYER, PROFILE_AS_RUN, SIZE_MAX},
        {"phase", PROFILE_PHASE, PROFILE_AS_RUN, SIZE_MAX},
        {"intensity", PROFILE_INTENSITY, PROFILE_RISING, SIZE_MAX},
        {"bound", PROFILE_BOUND, first, first == PROFILE_LONGEST ? SIZE_MAX : 0},
        {"entry, the 10 with most FLOPs", PROFILE_ENTRY, PROFILE_MOST_FLOPS, 10},
    };
    print_total(p, title, out);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (headings[i].most > 0)
            print_shares(p, &headings[i], out);
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
    char stage[PROFILE_KEY], text[UNITS_TEXT];
    make_stage(e, stage);
    grid_add(table, "%-24s", stage);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        units_format(text, (double)bytes[i], UNITS_BINARY, "B");
        grid_add(table, "%s", bytes[i] < 0 ? "-" : text);
    }
    grid_add(table, "%.*s", e->live > 0 ? (int)(BAR * (double)e->live / (double)peak) : 0, bar);
}

void profile_print_memory(const struct profile *p, FILE *out)
{
    struct grid grid = {.columns = 5};
    int64_t peak = 0;
    for (size_t i = 0; i < p->count; i++)
        peak = p->entries[i].live > peak ? p->entries[i].live : peak;
    grid_add(&grid, "%-24s", "memory over the program");
    grid_add(&grid, "live");
    grid_add(&grid, "activations");
    grid_add(&grid, "workspace");
    grid_add(&grid, "of the peak");
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
