#include "analysis/tables/columns.h"

#include "analysis/record/schema.h"
#include "analysis/tables/cells.h"
#include "analysis/tables/units.h"

#include <string.h>

static void format_count(struct table_cell *cell, const struct row *row, const char *path)
{
    int64_t count;
    if (row_get_count(row, path, &count))
        snprintf(cell->text, CELL_TEXT, "%lld", (long long)count);
}

static void format_real(struct table_cell *cell, const struct row *row, const char *path)
{
    double value;
    if (row_get_real(row, path, &value))
        snprintf(cell->text, CELL_TEXT, "%.3g", value);
}

/* A multiple. */
static void format_times(struct table_cell *cell, const struct row *row, const char *path)
{
    double value;
    if (row_get_real(row, path, &value))
        snprintf(cell->text, CELL_TEXT, "%.2fx", value);
}

/* How many there are. */
static void format_samples(struct table_cell *cell, const struct row *row, const char *path)
{
    size_t n = row_reals_count(row, path);
    if (n > 0)
        snprintf(cell->text, CELL_TEXT, "%zu values", n);
}

static void format_time(struct table_cell *cell, const struct row *row, const char *program)
{
    if (cell_time(cell->text, CELL_TEXT, row, program) && strcmp(program, "encoding") == 0 &&
        row_solved_nothing(row))
        notes_mark(cell->notes, "null space only: no solver ran", cell->text, CELL_TEXT);
}

static void format_small(struct table_cell *cell, const struct row *row, const char *path)
{
    double value;
    if (row_get_real(row, path, &value))
        snprintf(cell->text, CELL_TEXT, "%.1e", value);
}

static void format_rate(struct table_cell *cell, const struct row *row, const char *path)
{
    double rate;
    if (row_get_real(row, path, &rate))
        snprintf(cell->text, CELL_TEXT, "%.*f", units_decimals(rate), rate);
}

static void format_unit(struct table_cell *cell, const struct row *row, const char *path, enum unit_base base,
                        const char *unit)
{
    char text[UNITS_TEXT];
    double value;
    if (row_get_real(row, path, &value)) {
        units_format(text, value, base, unit);
        snprintf(cell->text, CELL_TEXT, "%s", text);
    }
}

static void format_bytes(struct table_cell *cell, const struct row *row, const char *path)
{
    format_unit(cell, row, path, UNITS_BINARY, "B");
}

static void format_flops(struct table_cell *cell, const struct row *row, const char *path)
{
    format_unit(cell, row, path, UNITS_SI, "FLOP");
}

/* Executed FLOPs as a multiple of the analytic ones; a note if others ran than were timed. */
static void format_executed(struct table_cell *cell, const struct row *row, const char *path)
{
    char executed_path[SCHEMA_PATH], analytic_path[SCHEMA_PATH], source_path[SCHEMA_PATH], note[MESSAGE_SIZE];
    const char *source;
    double executed, analytic;
    snprintf(executed_path, sizeof executed_path, "%s.executed", path);
    snprintf(analytic_path, sizeof analytic_path, "%s.analytic", path);
    if (row_get_real(row, executed_path, &executed) && row_get_real(row, analytic_path, &analytic))
        snprintf(cell->text, CELL_TEXT, "%.3fx", executed / analytic);
    else
        return;
    snprintf(source_path, sizeof source_path, "%s.source", path);
    if (row_get_text(row, source_path, &source) && !strstr(source, "as timed")) {
        snprintf(note, sizeof note, "executed FLOPs: %.480s", source);
        notes_mark(cell->notes, note, cell->text, CELL_TEXT);
    }
}

static void put_percent(struct table_cell *cell, double percent)
{
    snprintf(cell->text, CELL_TEXT, "%.*f %%", percent < 99.95 ? 1 : 0, percent);
}

/* A fraction as a percentage. */
static void format_share(struct table_cell *cell, const struct row *row, const char *path)
{
    double share;
    if (row_get_real(row, path, &share))
        put_percent(cell, 100 * share);
}

static void format_percent(struct table_cell *cell, const struct row *row, const char *path)
{
    double percent;
    if (row_get_real(row, path, &percent))
        put_percent(cell, percent);
}

/* With the reason if it is above 100. */
static void format_roof(struct table_cell *cell, const struct row *row, const char *path)
{
    char program[SCHEMA_PATH];
    snprintf(program, sizeof program, "%.*s", (int)strcspn(path, "."), path);
    format_percent(cell, row, path);
    cell_mark_roof(cell->text, CELL_TEXT, row, program, cell->notes);
}

static void format_cold_roof(struct table_cell *cell, const struct row *row, const char *path)
{
    double percent;
    format_percent(cell, row, path);
    if (row_get_real(row, path, &percent) && percent > 100)
        notes_mark(cell->notes, "above the ceiling of DRAM: what was written last is still in a cache",
                   cell->text, CELL_TEXT);
}

static void format_seconds(struct table_cell *cell, const struct row *row, const char *path)
{
    format_unit(cell, row, path, UNITS_SI, "s");
}

static void format_text(struct table_cell *cell, const struct row *row, const char *path)
{
    const char *text;
    if (row_get_text(row, path, &text))
        snprintf(cell->text, CELL_TEXT, "%s", text);
}

/* The rate whose ceiling is the lower one. */
static void format_bounded(struct table_cell *cell, const struct row *row, const char *path)
{
    const char *bound = "";
    double gflops, bandwidth;
    (void)path;
    row_get_text(row, "kernel.roofline.bound", &bound);
    if (!row_get_real(row, "kernel.gflops", &gflops) || !row_get_real(row, "kernel.bandwidth", &bandwidth))
        return;
    bool memory = gflops == 0 || strcmp(bound, "memory") == 0;
    double rate = memory ? bandwidth : gflops;
    snprintf(cell->text, CELL_TEXT, "%.*f %s", units_decimals(rate), rate, memory ? "GB/s" : "GFLOP/s");
}

/* Columns that are not shown as their type and unit say. */
static const struct column columns[] = {
    {"edges", format_count, "graph.edges"},
    {"forward", format_time, "forward"},
    {"GFLOP/s", format_rate, "forward.gflops"},
    {"graphs/s", format_rate, "forward.throughput"},
    {"nodes/s", format_rate, "forward.nodes_per_second"},
    {"edges/s", format_rate, "forward.edges_per_second"},
    {"step", format_time, "step"},
    {"GFLOP/s", format_rate, "step.gflops"},
    {"graphs/s", format_rate, "step.throughput"},
    {"step mem", format_bytes, "step.memory.planned"},
    {"step work", format_flops, "step.flops.analytic"},
    {"executed", format_executed, "forward.flops"},
    {"executed", format_executed, "step.flops"},
    {"executed", format_executed, "kernel.flops"},
    {"encoding", format_time, "encoding"},
    {"method", format_text, "encoding.method"},
    {"peak", format_bytes, "encoding.peak"},
    {"storage", format_bytes, "encoding.storage"},
    {"solved", format_count, "encoding.iterated"},
    {"residual", format_small, "encoding.residual"},
    {"pays after", format_count, "encoding.break_even_step"},
    {"padding", format_share, "graph.padding_waste"},
    {"warm", format_time, "kernel"},
    {"rate", format_bounded, "kernel.rate"},
    {"cold", format_seconds, "kernel.cold.median"},
    {"GFLOP/s", format_rate, "kernel.gflops"},
    {"GB/s", format_rate, "kernel.bandwidth"},
    {"FLOP/B", format_rate, "kernel.intensity"},
    {"bound", format_text, "kernel.roofline.bound"},
    {"roof", format_roof, "forward.roofline.percent"},
    {"roof", format_roof, "step.roofline.percent"},
    {"roof", format_roof, "kernel.roofline.percent"},
    {"/ bound", format_times, "forward.bound.ratio"},
    {"/ bound", format_times, "step.bound.ratio"},
    {"/ bound", format_times, "kernel.bound.ratio"},
    {"cold roof", format_cold_roof, "kernel.cold.percent"},
    {"error", format_small, "error.norm"},
    {"sent", format_bytes, "step.exchange.bytes"},
    {"exchange", format_seconds, "step.exchange.time"},
    {"predicted", format_seconds, "step.exchange.predicted"},
    {"exposed", format_seconds, "step.exchange.exposed"},
    {"at least", format_seconds, "step.exchange.predicted_run"},
    {"imbalance", format_real, "ranks.imbalance"},
    {"rank mem", format_bytes, "ranks.memory"},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* How a field is shown by its type and unit. */
static struct column plain_column(const struct field *f)
{
    bool real = f->type == FIELD_REAL, count = f->type == FIELD_COUNT;
    struct column c = {f->path, format_text, f->path};
    if (is_list(f->type))
        c.format = format_samples;
    else if (count || real)
        c.format = strcmp(f->unit, "B") == 0      ? format_bytes
                   : strcmp(f->unit, "FLOP") == 0 ? format_flops
                   : strcmp(f->unit, "s") == 0    ? format_seconds
                   : strcmp(f->unit, "%") == 0    ? format_percent
                   : count                        ? format_count
                                                  : format_real;
    return c;
}

struct column column_named(const char *name)
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (strcmp(columns[i].path, name) == 0)
            return columns[i];
    const struct field *f = schema_find(name);
    return f ? plain_column(f) : (struct column){.path = NULL};
}

const char *column_summary(size_t i)
{
    for (size_t c = 0; c < COLUMNS; c++)
        if (!schema_find(columns[c].path) && i-- == 0)
            return columns[c].path;
    return NULL;
}

void column_cell(const struct column *c, const struct row *row, struct notes *notes, struct table_cell *cell)
{
    strcpy(cell->text, "-");
    cell->notes = notes;
    c->format(cell, row, c->path);
}
