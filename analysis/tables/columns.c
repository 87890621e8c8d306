#include "analysis/tables/columns.h"

#include "analysis/record/row_range.h"
#include "analysis/record/schema.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"

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

static void format_times(struct table_cell *cell, const struct row *row, const struct column *c)
{
    double value;
    if (field_number(row, c->field, &value))
        snprintf(cell->text, CELL_TEXT, "%.2fx", value);
}

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

static void format_words(struct table_cell *cell, const struct row *row, const struct column *c)
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
        format_words(cell, row, c);
}

/* The rate whose ceiling is the lower one. */
static void format_bounded(struct table_cell *cell, const struct row *row, const struct column *c)
{
    const struct row_program *k = &row->kernel;
    (void)c;
    if (isnan(k->gflops) || isnan(k->bandwidth))
        return;
    bool memory = k->gflops == 0 || same_text(k->roofline.bound, "memory");
    double rate = memory ? k->bandwidth : k->gflops;
    snprintf(cell->text, CELL_TEXT, "%.*f %s", units_decimals(rate), rate, memory ? "GB/s" : "GFLOP/s");
}

/*
 * The columns, in the order of tables. P is any program that a column of its own does not name. Columns that
 * are not here are shown as the type and unit of their field say. Last is how late a column gives way where
 * the screen is narrow, 1 the first; 0: never.
 */
#define COLUMN(...)                                                                                          \
    {                                                                                                        \
        __VA_ARGS__, TIMED, NULL                                                                             \
    }
static const struct column columns[] = {
    COLUMN("batch", "batch", format_count, IN_PRESETS, 0),
    COLUMN("nodes", "nodes", format_count, IN_PRESETS | IN_CSV, 0),
    COLUMN("device", "device", format_words, IN_CSV, 0),
    COLUMN("threads", "threads", format_count, IN_CSV, 0),
    COLUMN("graph.edges", "edges", format_count, IN_CSV, 0),
    COLUMN("encoding", "encoding", format_time, IN_ENCODINGS | IN_CSV | IN_PAGE, 0),
    COLUMN("encoding.method", "method", format_method, IN_ENCODINGS | IN_PAGE, 20),
    COLUMN("encoding.peak", "peak", format_bytes, IN_ENCODINGS | IN_CSV | IN_PAGE, 16),
    COLUMN("encoding.residual", "residual", format_small, IN_ENCODINGS | IN_CSV | IN_PAGE, 4),
    COLUMN("encoding.break_even_step", "pays after", format_count, IN_ENCODINGS | IN_PAGE, 17),
    COLUMN("encoding.iterated", "solved", format_count, 0, 0),
    COLUMN("forward", "inference", format_time, IN_TABLE | IN_CSV | IN_PAGE, 19),
    COLUMN("step", "training step", format_time, IN_TABLE | IN_CSV | IN_PAGE, 0),
    COLUMN("kernel", "time", format_time, IN_TABLE | IN_CSV | IN_PAGE, 0),
    COLUMN("forward.predicted.time", "inference >=", format_seconds, IN_PLAN, 0),
    COLUMN("step.predicted.time", "step >=", format_seconds, IN_PLAN, 0),
    COLUMN("kernel.predicted.time", "time >=", format_seconds, IN_PLAN, 0),
    COLUMN("kernel.throughput", "graphs/s", format_rate, IN_TABLE | OF_LEAD | OF_BATCHES, 15),
    COLUMN("P.throughput", "graphs/s", format_rate, IN_TABLE | OF_LEAD | OF_BATCHES | IN_CSV | IN_PAGE, 15),
    COLUMN("P.nodes_per_second", "nodes/s", format_rate, 0, 0),
    COLUMN("P.edges_per_second", "edges/s", format_rate, 0, 0),
    COLUMN("kernel.rate", "rate", format_bounded, IN_TABLE | IN_PAGE, 21),
    COLUMN("kernel.gflops", "GFLOP/s", format_rate, IN_CSV, 8), /* rate says it */
    COLUMN("P.gflops", "GFLOP/s", format_rate, IN_TABLE | OF_LEAD | IN_CSV | IN_PAGE, 8),
    COLUMN("P.bandwidth", "GB/s", format_rate, IN_CSV, 0),
    COLUMN("P.roofline.percent", "roof", format_roof, IN_TABLE | OF_LEAD | IN_CSV | IN_PAGE, 9),
    COLUMN("kernel.roofline.bound", "bound", format_words, IN_PAGE, 0),
    COLUMN("step.flops.analytic", "FLOPs", format_flops, IN_PLAN | OF_LEAD | IN_CSV | IN_PAGE, 0),
    COLUMN("P.flops.analytic", "FLOPs", format_flops, IN_PLAN | OF_LEAD | IN_CSV, 0),
    COLUMN("P.bytes", "bytes", format_bytes, IN_PLAN | OF_LEAD, 6),
    COLUMN("P.intensity", "FLOP/B", format_rate, IN_PLAN | OF_LEAD, 5),
    COLUMN("P.memory.planned", "memory", format_bytes, IN_TABLE | IN_PLAN | OF_LEAD | IN_CSV | IN_PAGE, 7),
    COLUMN("step.memory.resident", "resident", format_bytes, IN_PAGE, 0),
    COLUMN("graph.padding_waste", "padding", format_share, IN_TABLE | OF_BATCHES | IN_PAGE, 1),
    COLUMN("kernel.bound.ratio", "/ bound", format_times, IN_TABLE, 3),
    COLUMN("P.bound.ratio", "/ bound", format_times, 0, 0),
    COLUMN("kernel.cold.median", "cold", format_seconds, IN_TABLE | IN_CSV | IN_PAGE, 2),
    COLUMN("kernel.cold.percent", "cold roof", format_cold_roof, 0, 0),
    COLUMN("P.flops.executed", "FLOPs executed", format_flops, IN_CSV, 0),
    COLUMN("forward.flops", "executed", format_executed, IN_TABLE | OF_LEAD, 18),
    COLUMN("step.flops", "executed", format_executed, IN_TABLE | OF_LEAD | IN_PAGE, 18),
    COLUMN("kernel.flops", "executed", format_executed, IN_TABLE | OF_LEAD | IN_PAGE, 18),
    COLUMN("P.time.cpu", "cpu", format_cpu, 0, 0),
    COLUMN("encoding.bound.flops", "encoding <=", format_bound, IN_PLAN, 0),
    COLUMN("encoding.storage", "storage", format_bytes, IN_PLAN | IN_PAGE, 0),
    COLUMN("step.communication.bytes", "sent", format_bytes, IN_TABLE | IN_PLAN, 0),
    COLUMN("step.communication.time", "exchange", format_seconds, IN_TABLE | IN_PLAN, 14),
    COLUMN("step.communication.predicted", "predicted", format_seconds, IN_TABLE | IN_PLAN, 13),
    COLUMN("step.communication.exposed", "exposed", format_seconds, IN_TABLE | IN_PLAN, 11),
    COLUMN("step.communication.predicted_run", "at least", format_seconds, IN_TABLE | IN_PLAN, 12),
    COLUMN("ranks.imbalance", "imbalance", format_real, IN_TABLE | IN_PLAN, 10),
    COLUMN("ranks.memory", "rank mem", format_bytes, IN_TABLE | IN_PLAN, 0),
    COLUMN("error.norm", "error", format_small, IN_CSV | IN_PAGE, 0),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* How a field is shown by its type and unit. */
static struct column plain_column(const struct field *f)
{
    bool real = f->type == FIELD_REAL, count = f->type == FIELD_COUNT;
    struct column c = {.title = f->path, .format = format_words, .path = f->path};
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

static bool is_of_any(const struct column *c)
{
    return strncmp(c->path, "P.", 2) == 0;
}

/* The one of this name; null: none. */
static const struct column *kind_named(const char *name)
{
    const char *rest = strchr(name, '.');
    bool program = false;
    for (size_t p = 0; p < TIMED_ENCODING; p++)
        program = program || schema_is_under(name, program_name(p));
    for (size_t i = 0; i < COLUMNS; i++)
        if (strcmp(columns[i].path, name) == 0 ||
            (program && rest && is_of_any(&columns[i]) && strcmp(columns[i].path + 1, rest) == 0))
            return &columns[i];
    return NULL;
}

struct column column_named(const char *name)
{
    const struct field *f = schema_find(name);
    const struct column *kind = kind_named(name);
    struct column c = kind ? *kind : f ? plain_column(f) : (struct column){.path = NULL};
    c.path = f ? f->path : c.path;
    c.field = f;
    c.program = TIMED;
    for (size_t p = 0; p < TIMED; p++)
        if (schema_is_under(name, program_name(p)))
            c.program = p;
    return c;
}

/* What stands for any program as it is of one; path null if another column is that. */
static struct column of_program(const struct column *kind, size_t program)
{
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s%s", program_name(program), kind->path + 1);
    return kind_named(path) == kind ? column_named(path) : (struct column){.path = NULL};
}

/* By program, the encoding first, what is of none last. */
static int place_of(const struct column *c)
{
    static const int places[] = {
        [TIMED_ENCODING] = 0, [TIMED_FORWARD] = 1, [TIMED_STEP] = 2, [TIMED_KERNEL] = 3, [TIMED] = 4};
    return places[c->program];
}

size_t columns_chosen(unsigned where, size_t lead, struct column list[COLUMNS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t p = 0; p < (is_of_any(&columns[i]) ? TIMED_ENCODING : 1); p++) {
            struct column c =
                is_of_any(&columns[i]) ? of_program(&columns[i], p) : column_named(columns[i].path);
            bool other = lead < TIMED && c.where & OF_LEAD && c.program != lead;
            if (!c.path || !(c.where & where) || other)
                continue;
            size_t at = n++;
            for (; lead == TIMED && at > 0 && place_of(&list[at - 1]) > place_of(&c); at--)
                list[at] = list[at - 1];
            list[at] = c;
        }
    return n;
}

bool column_is_time(const struct column *c)
{
    return c->format == format_time;
}

const char *column_summary(size_t i)
{
    for (size_t c = 0; c < COLUMNS; c++)
        if (!is_of_any(&columns[c]) && !schema_find(columns[c].path) && i-- == 0)
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
    *value = column_is_time(c) ? row_timed(row, c->program)->median : NAN;
    return !isnan(*value);
}
