#include "analysis/tables/columns.h"

#include "analysis/record/row_range.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"

static void format_count(struct table_cell *cell, const struct row *row, const struct column *c)
{
    if (row_has_field(row, c->field))
        snprintf(cell->text, CELL_TEXT, "%lld", (long long)*field_count(row, c->field));
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

static void put_percent(struct table_cell *cell, double percent)
{
    snprintf(cell->text, CELL_TEXT, "%.*f %%", percent < 9.95, percent);
}

static const char *const units[AS_KINDS] = {[AS_BYTES] = "B", [AS_FLOPS] = "FLOP", [AS_SECONDS] = "s"};

static void format_number(struct table_cell *cell, const struct row *row, const struct column *c)
{
    static const char *const formats[AS_KINDS] = {
        [AS_REAL] = "%.3g", [AS_TIMES] = "%.2fx", [AS_SMALL] = "%.1e"};
    double value;
    if (!field_number(row, c->field, &value))
        return;
    if (formats[c->number])
        snprintf(cell->text, CELL_TEXT, formats[c->number], value);
    else if (units[c->number])
        units_format(cell->text, value, c->number == AS_BYTES ? UNITS_BINARY : UNITS_SI, units[c->number]);
    else if (c->number == AS_RATE)
        snprintf(cell->text, CELL_TEXT, "%.*f", units_decimals(value), value);
    else
        put_percent(cell, value * (c->number == AS_SHARE ? 100 : 1));
}

/* Unknown, with the reason, where a solver iterates. */
static void format_bound(struct table_cell *cell, const struct row *row, const struct column *c)
{
    const char *why = row->encoding.bound.label;
    format_number(cell, row, c);
    if (row_has_field(row, c->field) || !why)
        return;
    snprintf(cell->text, CELL_TEXT, "unknown");
    notes_add(cell->notes, why, NULL);
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

/* With the reason if it is above 100, or absent from a good row whose user did not ask for that. */
static void format_roof(struct table_cell *cell, const struct row *row, const struct column *c)
{
    const struct row_program *program = row_program(row, c->program);
    const char *fault = program ? program->roofline.fault : NULL;
    const char *why = row_has_field(row, c->field) || !row_is_ok(row) ? NULL : row_reason(row, c->path);
    char note[MESSAGE_SIZE] = "";
    format_number(cell, row, c);
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
    format_number(cell, row, c);
    if (field_number(row, c->field, &percent) && percent > 100)
        notes_add(
            cell->notes,
            "cold roof above 100 %: above the peak rate of DRAM, what was written last is still in a cache",
            NULL);
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
#define COLUMN(path, title, format, where, yields)                                                           \
    {                                                                                                        \
        path, title, format, 0, where, yields, TIMED, NULL                                                   \
    }
#define NUMBER(path, title, number, where, yields)                                                           \
    {                                                                                                        \
        path, title, format_number, AS_##number, where, yields, TIMED, NULL                                  \
    }
static const struct column columns[] = {
    COLUMN("batch", "batch", format_count, IN_PRESETS, 0),
    COLUMN("nodes", "nodes", format_count, IN_PRESETS | IN_CSV, 0),
    COLUMN("device", "device", format_words, IN_CSV, 0),
    COLUMN("threads", "threads", format_count, IN_CSV, 0),
    COLUMN("graph.edges", "edges", format_count, IN_CSV, 0),
    COLUMN("encoding", "encoding", format_time, IN_ENCODINGS | IN_CSV | IN_PAGE, 0),
    COLUMN("encoding.method", "method", format_method, IN_ENCODINGS | IN_PAGE, 20),
    NUMBER("encoding.peak", "peak", BYTES, IN_ENCODINGS | IN_CSV | IN_PAGE, 16),
    NUMBER("encoding.residual", "residual", SMALL, IN_ENCODINGS | IN_CSV | IN_PAGE, 4),
    COLUMN("encoding.break_even_step", "pays after", format_count, IN_ENCODINGS | IN_PAGE, 17),
    COLUMN("encoding.iterated", "solved", format_count, 0, 0),
    COLUMN("forward", "inference", format_time, IN_TABLE | IN_CSV | IN_PAGE, 19),
    COLUMN("step", "training step", format_time, IN_TABLE | IN_CSV | IN_PAGE, 0),
    COLUMN("kernel", "time", format_time, IN_TABLE | IN_CSV | IN_PAGE, 0),
    NUMBER("forward.predicted.time", "inference >=", SECONDS, IN_PLAN, 0),
    NUMBER("step.predicted.time", "step >=", SECONDS, IN_PLAN, 0),
    NUMBER("kernel.predicted.time", "time >=", SECONDS, IN_PLAN, 0),
    NUMBER("kernel.throughput", "graphs/s", RATE, IN_TABLE | OF_LEAD | OF_BATCHES, 15),
    NUMBER("P.throughput", "graphs/s", RATE, IN_TABLE | OF_LEAD | OF_BATCHES | IN_CSV | IN_PAGE, 15),
    NUMBER("P.nodes_per_second", "nodes/s", RATE, 0, 0),
    NUMBER("P.edges_per_second", "edges/s", RATE, 0, 0),
    COLUMN("kernel.rate", "rate", format_bounded, IN_TABLE | IN_PAGE, 21),
    NUMBER("kernel.gflops", "GFLOP/s", RATE, IN_CSV, 8), /* rate says it */
    NUMBER("P.gflops", "GFLOP/s", RATE, IN_TABLE | OF_LEAD | IN_CSV | IN_PAGE, 8),
    NUMBER("P.bandwidth", "GB/s", RATE, IN_CSV, 0),
    {"P.roofline.percent", "roof", format_roof, AS_PERCENT, IN_TABLE | OF_LEAD | IN_CSV | IN_PAGE, 9, TIMED,
     NULL},
    COLUMN("kernel.roofline.bound", "bound", format_words, IN_PAGE, 0),
    NUMBER("step.flops.analytic", "FLOPs", FLOPS, IN_PLAN | OF_LEAD | IN_CSV | IN_PAGE, 0),
    NUMBER("P.flops.analytic", "FLOPs", FLOPS, IN_PLAN | OF_LEAD | IN_CSV, 0),
    NUMBER("P.bytes", "bytes", BYTES, IN_PLAN | OF_LEAD, 6),
    NUMBER("P.intensity", "FLOP/B", RATE, IN_PLAN | OF_LEAD, 5),
    NUMBER("P.memory.planned", "memory", BYTES, IN_TABLE | IN_PLAN | OF_LEAD | IN_CSV | IN_PAGE, 7),
    NUMBER("step.memory.resident", "resident", BYTES, IN_PAGE, 0),
    NUMBER("graph.padding_waste", "padding", SHARE, IN_TABLE | OF_BATCHES | IN_PAGE, 1),
    NUMBER("kernel.bound.ratio", "/ bound", TIMES, IN_TABLE, 3),
    NUMBER("P.bound.ratio", "/ bound", TIMES, 0, 0),
    NUMBER("kernel.cold.median", "cold", SECONDS, IN_TABLE | IN_CSV | IN_PAGE, 2),
    {"kernel.cold.percent", "cold roof", format_cold_roof, AS_PERCENT, 0, 0, TIMED, NULL},
    NUMBER("P.flops.executed", "FLOPs executed", FLOPS, IN_CSV, 0),
    COLUMN("forward.flops", "executed", format_executed, IN_TABLE | OF_LEAD, 18),
    COLUMN("step.flops", "executed", format_executed, IN_TABLE | OF_LEAD | IN_PAGE, 18),
    COLUMN("kernel.flops", "executed", format_executed, IN_TABLE | OF_LEAD | IN_PAGE, 18),
    COLUMN("P.time.cpu", "cpu", format_cpu, 0, 0),
    {"encoding.bound.flops", "encoding <=", format_bound, AS_FLOPS, IN_PLAN, 0, TIMED, NULL},
    NUMBER("encoding.storage", "storage", BYTES, IN_PLAN | IN_PAGE, 0),
    NUMBER("step.communication.bytes", "sent", BYTES, IN_TABLE | IN_PLAN, 0),
    NUMBER("step.communication.time", "exchange", SECONDS, IN_TABLE | IN_PLAN, 14),
    NUMBER("step.communication.predicted", "predicted", SECONDS, IN_TABLE | IN_PLAN, 13),
    NUMBER("step.communication.exposed", "exposed", SECONDS, IN_TABLE | IN_PLAN, 11),
    NUMBER("step.communication.predicted_run", "at least", SECONDS, IN_TABLE | IN_PLAN, 12),
    NUMBER("ranks.imbalance", "imbalance", REAL, IN_TABLE | IN_PLAN, 10),
    NUMBER("ranks.memory", "rank mem", BYTES, IN_TABLE | IN_PLAN, 0),
    NUMBER("error.norm", "error", SMALL, IN_CSV | IN_PAGE, 0),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static struct column plain_column(const struct field *f)
{
    bool real = f->type == FIELD_REAL, count = f->type == FIELD_COUNT;
    struct column c = {.title = f->path, .format = format_words, .path = f->path};
    if (is_list(f->type))
        c.format = format_samples;
    else if (count || real)
        c.format = count ? format_count : format_number;
    for (enum number n = 0; n < AS_KINDS && (count || real); n++)
        if (strcmp(f->unit, units[n] ? units[n] : n == AS_PERCENT ? "%" : "none") == 0) {
            c.format = format_number;
            c.number = n;
        }
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
