#include "analysis/tables/columns.h"

#include "analysis/record/row_range.h"
#include "analysis/record/schema.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <string.h>

static void format_count(struct table_cell *cell, const struct row *row, const struct column *c)
{
    if (row_has_field(row, c->field))
        snprintf(cell->text, CELL_TEXT, "%lld", (long long)*field_count(row, c->field));
}

static void format_real(struct table_cell *cell, const struct row *row, const struct column *c)
{
    double value;
    if (field_number(row, c->field, &value))
        snprintf(cell->text, CELL_TEXT, "%.3g", value);
}

/* A multiple. */
static void format_times(struct table_cell *cell, const struct row *row, const struct column *c)
{
    double value;
    if (field_number(row, c->field, &value))
        snprintf(cell->text, CELL_TEXT, "%.2fx", value);
}

/* How many there are. */
static void format_samples(struct table_cell *cell, const struct row *row, const struct column *c)
{
    if (field_items(row, c->field)->count > 0)
        snprintf(cell->text, CELL_TEXT, "%zu values", field_items(row, c->field)->count);
}

/* The median and, unless `brief`, its 95 % interval, if it has one. */
static void format_time(struct table_cell *cell, const struct row *row, const struct column *c)
{
    struct range r = row_range(row, c->program);
    bool range = !cell->brief && r.turns > 1;
    char text[UNITS_TEXT];
    if (isnan(r.median))
        return;
    units_format_interval(text, r.median, range ? r.low : NAN, range ? r.high : NAN, "s");
    snprintf(cell->text, CELL_TEXT, "%s%s", row_noisy(row, c->program) ? "~" : "", text);
}

static void format_small(struct table_cell *cell, const struct row *row, const struct column *c)
{
    double value;
    if (field_number(row, c->field, &value))
        snprintf(cell->text, CELL_TEXT, "%.1e", value);
}

static void format_rate(struct table_cell *cell, const struct row *row, const struct column *c)
{
    double rate;
    if (field_number(row, c->field, &rate))
        snprintf(cell->text, CELL_TEXT, "%.*f", units_decimals(rate), rate);
}

static void format_unit(struct table_cell *cell, const struct row *row, const struct column *c,
                        enum unit_base base, const char *unit)
{
    char text[UNITS_TEXT];
    double value;
    if (field_number(row, c->field, &value)) {
        units_format(text, value, base, unit);
        snprintf(cell->text, CELL_TEXT, "%s", text);
    }
}

static void format_bytes(struct table_cell *cell, const struct row *row, const struct column *c)
{
    format_unit(cell, row, c, UNITS_BINARY, "B");
}

static void format_flops(struct table_cell *cell, const struct row *row, const struct column *c)
{
    format_unit(cell, row, c, UNITS_SI, "FLOP");
}

/* Unknown, with the reason, where a solver iterates. */
static void format_bound(struct table_cell *cell, const struct row *row, const struct column *c)
{
    const char *why = row->encoding.bound.label;
    format_flops(cell, row, c);
    if (row_has_field(row, c->field) || !why)
        return;
    snprintf(cell->text, CELL_TEXT, "unknown");
    notes_add(cell->notes, why, NULL);
}

static void put_percent(struct table_cell *cell, double percent)
{
    snprintf(cell->text, CELL_TEXT, "%.*f %%", percent < 9.95 ? 1 : 0, percent);
}

/* CPU time as a share of what the threads could take in the time of a run. */
static void format_cpu(struct table_cell *cell, const struct row *row, const struct column *c)
{
    const struct row_times *time = row_timed(row, c->program);
    double elapsed = 0;
    for (size_t i = 0; i < time->samples.count; i++)
        elapsed += time->samples.reals[i] / (double)time->samples.count;
    if (!isnan(time->cpu) && elapsed > 0 && row->threads > 0)
        put_percent(cell, 100 * time->cpu / elapsed / (double)row->threads);
}

/* Executed FLOPs as a multiple of the analytic ones; a note if others ran than were timed. */
static void format_executed(struct table_cell *cell, const struct row *row, const struct column *c)
{
    const struct row_program *p = row_program(row, c->program);
    double multiple = count_real(p->flops.executed) / count_real(p->flops.analytic);
    if (p->flops.executed == COUNT_ABSENT || p->flops.analytic == COUNT_ABSENT)
        return;
    snprintf(cell->text, CELL_TEXT, "%.3fx", multiple);
    if (p->flops.source && !strstr(p->flops.source, "as timed")) {
        char note[MESSAGE_SIZE];
        snprintf(note, sizeof note, "executed: %.480s", p->flops.source);
        notes_add(cell->notes, note, NULL);
    }
}

/* A fraction as a percentage. */
static void format_share(struct table_cell *cell, const struct row *row, const struct column *c)
{
    double share;
    if (field_number(row, c->field, &share))
        put_percent(cell, 100 * share);
}

static void format_percent(struct table_cell *cell, const struct row *row, const struct column *c)
{
    double percent;
    if (field_number(row, c->field, &percent))
        put_percent(cell, percent);
}

/* With the reason if it is above 100, or absent from a good row whose user did not ask for that. */
static void format_roof(struct table_cell *cell, const struct row *row, const struct column *c)
{
    const struct row_program *program = row_program(row, c->program);
    const char *fault = program ? program->roofline.fault : NULL;
    const char *why = row_has_field(row, c->field) || !row_is_ok(row) ? NULL : row_reason(row, c->path);
    char note[MESSAGE_SIZE] = "";
    format_percent(cell, row, c);
    if (fault && *fault)
        snprintf(note, sizeof note, "roof above 100 %%: %.480s", fault);
    else if (why && !strstr(why, "--no-roofline"))
        snprintf(note, sizeof note, "roof absent: %.480s", why);
    if (*note)
        notes_add(cell->notes, note, NULL);
}

static void format_cold_roof(struct table_cell *cell, const struct row *row, const struct column *c)
{
    double percent;
    format_percent(cell, row, c);
    if (field_number(row, c->field, &percent) && percent > 100)
        notes_add(
            cell->notes,
            "cold roof above 100 %: above the peak rate of DRAM, what was written last is still in a cache",
            NULL);
}

static void format_seconds(struct table_cell *cell, const struct row *row, const struct column *c)
{
    format_unit(cell, row, c, UNITS_SI, "s");
}

static void format_text(struct table_cell *cell, const struct row *row, const struct column *c)
{
    if (row_has_field(row, c->field))
        snprintf(cell->text, CELL_TEXT, "%s", *field_text(row, c->field));
}

/* The solver that ran, or how walks and heat were computed. */
static void format_method(struct table_cell *cell, const struct row *row, const struct column *c)
{
    if (row_solved_nothing(row))
        strcpy(cell->text, "no solver");
    else
        format_text(cell, row, c);
}

/* The rate whose ceiling is the lower one. */
static void format_bounded(struct table_cell *cell, const struct row *row, const struct column *c)
{
    const struct row_program *k = &row->kernel;
    (void)c;
    if (isnan(k->gflops) || isnan(k->bandwidth))
        return;
    bool memory = k->gflops == 0 || (k->roofline.bound && strcmp(k->roofline.bound, "memory") == 0);
    double rate = memory ? k->bandwidth : k->gflops;
    snprintf(cell->text, CELL_TEXT, "%.*f %s", units_decimals(rate), rate, memory ? "GB/s" : "GFLOP/s");
}

/* Columns that are not shown as their type and unit say. */
static const struct {
    const char *title;
    void (*format)(struct table_cell *cell, const struct row *row, const struct column *c);
    const char *path;
} columns[] = {
    {"edges", format_count, "graph.edges"},
    {"inference", format_time, "forward"},
    {"GFLOP/s", format_rate, "forward.gflops"},
    {"graphs/s", format_rate, "forward.throughput"},
    {"nodes/s", format_rate, "forward.nodes_per_second"},
    {"edges/s", format_rate, "forward.edges_per_second"},
    {"training step", format_time, "step"},
    {"GFLOP/s", format_rate, "step.gflops"},
    {"graphs/s", format_rate, "step.throughput"},
    {"memory", format_bytes, "step.memory.planned"},
    {"FLOPs", format_flops, "step.flops.analytic"},
    {"FLOPs", format_flops, "forward.flops.analytic"},
    {"FLOPs", format_flops, "kernel.flops.analytic"},
    {"bytes", format_bytes, "forward.bytes"},
    {"bytes", format_bytes, "step.bytes"},
    {"bytes", format_bytes, "kernel.bytes"},
    {"FLOP/B", format_rate, "forward.intensity"},
    {"FLOP/B", format_rate, "step.intensity"},
    {"memory", format_bytes, "forward.memory.planned"},
    {"memory", format_bytes, "kernel.memory.planned"},
    {"inference >=", format_seconds, "forward.predicted.time"},
    {"step >=", format_seconds, "step.predicted.time"},
    {"time >=", format_seconds, "kernel.predicted.time"},
    {"encoding <=", format_bound, "encoding.bound.flops"},
    {"cpu", format_cpu, "forward.time.cpu"},
    {"cpu", format_cpu, "step.time.cpu"},
    {"cpu", format_cpu, "kernel.time.cpu"},
    {"executed", format_executed, "forward.flops"},
    {"executed", format_executed, "step.flops"},
    {"executed", format_executed, "kernel.flops"},
    {"encoding", format_time, "encoding"},
    {"method", format_method, "encoding.method"},
    {"peak", format_bytes, "encoding.peak"},
    {"storage", format_bytes, "encoding.storage"},
    {"solved", format_count, "encoding.iterated"},
    {"residual", format_small, "encoding.residual"},
    {"pays after", format_count, "encoding.break_even_step"},
    {"padding", format_share, "graph.padding_waste"},
    {"time", format_time, "kernel"},
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
    {"sent", format_bytes, "step.communication.bytes"},
    {"exchange", format_seconds, "step.communication.time"},
    {"predicted", format_seconds, "step.communication.predicted"},
    {"exposed", format_seconds, "step.communication.exposed"},
    {"at least", format_seconds, "step.communication.predicted_run"},
    {"imbalance", format_real, "ranks.imbalance"},
    {"rank mem", format_bytes, "ranks.memory"},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

/* How a field is shown by its type and unit. */
static struct column plain_column(const struct field *f)
{
    bool real = f->type == FIELD_REAL, count = f->type == FIELD_COUNT;
    struct column c = {.title = f->path, .format = format_text, .path = f->path, .field = f};
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
    const struct field *f = schema_find(name);
    struct column c = f ? plain_column(f) : (struct column){.path = NULL};
    for (size_t i = 0; i < COLUMNS; i++)
        if (strcmp(columns[i].path, name) == 0) {
            c.title = columns[i].title;
            c.format = columns[i].format;
            c.path = columns[i].path;
        }
    for (size_t p = 0; p < TIMED; p++)
        if (schema_is_under(name, program_name(p)))
            c.program = p;
    return c;
}

const char *column_summary(size_t i)
{
    for (size_t c = 0; c < COLUMNS; c++)
        if (!schema_find(columns[c].path) && i-- == 0)
            return columns[c].path;
    return NULL;
}

void column_cell(const struct column *c, const struct row *row, struct table_cell *cell)
{
    strcpy(cell->text, "-");
    c->format(cell, row, c);
}

bool column_number(const struct column *c, const struct row *row, double *value)
{
    if (c->field)
        return field_number(row, c->field, value);
    *value = c->format == format_time ? row_timed(row, c->program)->median : NAN;
    return !isnan(*value);
}
