/*
 * Column widths are fixed, not fitted to the content, so that a line can be printed before the next one is
 * known; a text that is too wide shifts its own line only.
 */
#include "analysis/tables/table.h"

#include "analysis/record/row.h"
#include "analysis/tables/cells.h"
#include "analysis/tables/units.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 2 * MESSAGE_SIZE };

struct column {
    const char *title;
    int width; /* on a terminal, right-aligned; 0 for the last cell of a line */
    void (*format)(char cell[CELL], const struct row *row, const char *path);
    const char *path;
};

static void format_count(char cell[CELL], const struct row *row, const char *path)
{
    int64_t count;
    if (row_get_count(row, path, &count))
        snprintf(cell, CELL, "%lld", (long long)count);
}

static void format_time(char cell[CELL], const struct row *row, const char *program)
{
    cell_time(cell, CELL, row, program);
}

static void format_small(char cell[CELL], const struct row *row, const char *path)
{
    double value;
    if (row_get_real(row, path, &value))
        snprintf(cell, CELL, "%.1e", value);
}

static void format_rate(char cell[CELL], const struct row *row, const char *path)
{
    double rate;
    if (row_get_real(row, path, &rate))
        snprintf(cell, CELL, "%.*f", rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate);
}

static void format_unit(char cell[CELL], const struct row *row, const char *path, enum unit_base base,
                        const char *unit)
{
    char text[UNITS_TEXT];
    double value;
    if (row_get_real(row, path, &value)) {
        units_format(text, value, base, unit);
        snprintf(cell, CELL, "%s", text);
    }
}

static void format_bytes(char cell[CELL], const struct row *row, const char *path)
{
    format_unit(cell, row, path, UNITS_BINARY, "B");
}

static void format_flops(char cell[CELL], const struct row *row, const char *path)
{
    format_unit(cell, row, path, UNITS_SI, "FLOP");
}

/* Executed FLOPs as a multiple of the analytic ones. */
static void format_executed(char cell[CELL], const struct row *row, const char *path)
{
    char executed_path[SCHEMA_PATH], analytic_path[SCHEMA_PATH];
    double executed, analytic;
    snprintf(executed_path, sizeof executed_path, "%s.executed", path);
    snprintf(analytic_path, sizeof analytic_path, "%s.analytic", path);
    if (row_get_real(row, executed_path, &executed) && row_get_real(row, analytic_path, &analytic))
        snprintf(cell, CELL, "%.3fx", executed / analytic);
}

/* Appends to a cell. */
__attribute__((format(printf, 2, 3))) static void append_cell(char cell[CELL], const char *format, ...)
{
    size_t used = strlen(cell);
    va_list values;
    va_start(values, format);
    vsnprintf(cell + used, CELL - used, format, values);
    va_end(values);
}

/* The state in which a program is reported, if some of its turns were in others. */
static void append_state(char cell[CELL], const struct row *row, const char *program)
{
    char path[SCHEMA_PATH], text[UNITS_TEXT];
    double turns, others, ping; /* real: a file may have any counts */
    snprintf(path, sizeof path, "%s.time.other_turns", program);
    if (!row_get_real(row, path, &others) || others == 0)
        return;
    snprintf(path, sizeof path, "%s.time.turns", program);
    if (!row_get_real(row, path, &turns))
        return;
    append_cell(cell, "; %s: %.0f of %.0f turns", program, turns, turns + others);
    snprintf(path, sizeof path, "%s.time.state.ping", program);
    if (row_get_real(row, path, &ping)) {
        units_format(text, ping, UNITS_SI, "s");
        append_cell(cell, " in state %s", text);
    }
}

static void format_status(char cell[CELL], const struct row *row, const char *path)
{
    const char *status = "?", *reason = "", *unchecked = row_unchecked(row);
    row_get_text(row, path, &status);
    row_get_text(row, "reason", &reason);
    snprintf(cell, CELL, "%s%s%s", status, *reason ? ": " : "", reason);
    if (unchecked)
        append_cell(cell, "%sunchecked: %s", *reason ? "; " : ", ", unchecked);
    const char *before = *reason || unchecked ? "; noisy: " : ", noisy: ";
    for (size_t p = 0; p < TIMED; p++)
        if (row_noisy(row, program_name(p))) {
            append_cell(cell, "%s%s", before, program_name(p));
            before = ", ";
        }
    for (size_t p = 0; p < TIMED; p++)
        append_state(cell, row, program_name(p));
}

/* A fraction as a percentage. */
static void format_share(char cell[CELL], const struct row *row, const char *path)
{
    double share;
    if (row_get_real(row, path, &share))
        snprintf(cell, CELL, "%.1f %%", 100 * share);
}

static void format_percent(char cell[CELL], const struct row *row, const char *path)
{
    double percent;
    if (row_get_real(row, path, &percent))
        snprintf(cell, CELL, "%.1f %%", percent);
}

static void format_seconds(char cell[CELL], const struct row *row, const char *path)
{
    format_unit(cell, row, path, UNITS_SI, "s");
}

static void format_text(char cell[CELL], const struct row *row, const char *path)
{
    const char *text;
    if (row_get_text(row, path, &text))
        snprintf(cell, CELL, "%s", text);
}

/* All columns a table can have. */
static const struct column columns[] = {
    {"edges", 8, format_count, "graph.edges"},
    {"forward", 17, format_time, "forward"},
    {"GFLOP/s", 7, format_rate, "forward.gflops"},
    {"graphs/s", 8, format_rate, "forward.throughput"},
    {"nodes/s", 8, format_rate, "forward.nodes_per_second"},
    {"edges/s", 8, format_rate, "forward.edges_per_second"},
    {"step", 17, format_time, "step"},
    {"GFLOP/s", 7, format_rate, "step.gflops"},
    {"graphs/s", 8, format_rate, "step.throughput"},
    {"step mem", 9, format_bytes, "step.memory.planned"},
    {"step work", 10, format_flops, "step.flops.analytic"},
    {"executed", 8, format_executed, "step.flops"},
    {"encoding", 17, format_time, "encoding"},
    {"method", 11, format_text, "encoding.method"},
    {"peak", 9, format_bytes, "encoding.peak"},
    {"storage", 9, format_bytes, "encoding.storage"},
    {"solved", 6, format_count, "encoding.iterated"},
    {"residual", 8, format_small, "encoding.residual"},
    {"pays after", 10, format_count, "encoding.break_even_step"},
    {"padding", 7, format_share, "graph.padding_waste"},
    {"warm", 17, format_time, "kernel"},
    {"cold", 8, format_seconds, "kernel.cold.median"},
    {"GFLOP/s", 7, format_rate, "kernel.gflops"},
    {"GB/s", 5, format_rate, "kernel.bandwidth"},
    {"FLOP/B", 6, format_rate, "kernel.intensity"},
    {"bound", 7, format_text, "kernel.roofline.bound"},
    {"roof", 6, format_percent, "kernel.roofline.percent"},
    {"cold roof", 9, format_percent, "kernel.cold.percent"},
    {"error", 7, format_small, "error.norm"},
    {"status", 0, format_status, "status"},
};

static const char *const usual[] = {
    "graph.edges",         "forward",    "forward.gflops", "step", "step.gflops", "step.memory.planned",
    "step.flops.analytic", "step.flops", "status",         NULL};

/* The i-th column of a table; null past the last. */
static const struct column *column_at(const struct table *t, size_t i)
{
    const char *path = (t->columns ? t->columns : usual)[i];
    for (size_t c = 0; path && c < sizeof columns / sizeof *columns; c++)
        if (strcmp(columns[c].path, path) == 0)
            return &columns[c];
    if (path) {
        fprintf(stderr, "table: there is no column %s\n", path);
        abort();
    }
    return NULL;
}

static int axis_width(const struct field *axis)
{
    enum { OP = 26 }; /* the longest names */
    int title = (int)strlen(axis->path);
    int value = strcmp(axis->path, "op") == 0 ? OP : axis->type == FIELD_TEXT ? 10 : 6;
    return title > value ? title : value;
}

void table_header(const struct table *t)
{
    const struct column *c;
    size_t count = t->axes_count;
    for (size_t i = 0; i < t->axes_count; i++)
        cell_put(t->out, t->style, t->axes[i]->path, axis_width(t->axes[i]), i == 0);
    for (size_t i = 0; (c = column_at(t, i)) != NULL; i++, count++)
        cell_put(t->out, t->style, c->title, c->width, count == 0);
    putc('\n', t->out);
    if (t->style == TABLE_MARKDOWN) {
        for (size_t i = 0; i + 1 < count; i++)
            fputs(i == 0 ? "|--:|" : "--:|", t->out);
        fputs(":--|\n", t->out);
    }
}

void table_row(const struct table *t, const struct row *row)
{
    const struct column *c;
    char axis[AXES_TEXT];
    for (size_t i = 0; i < t->axes_count; i++) {
        axes_text(row, t->axes[i], axis);
        cell_put(t->out, t->style, axis, axis_width(t->axes[i]), i == 0);
    }
    for (size_t i = 0; (c = column_at(t, i)) != NULL; i++) {
        char cell[CELL] = "-"; /* if not measured */
        c->format(cell, row, c->path);
        cell_put(t->out, t->style, cell, c->width, t->axes_count + i == 0);
    }
    putc('\n', t->out);
}
