/* The answers of the machines, as tables or as comma-separated values. */
#include "analysis/database/ask.h"

#include "analysis/database/database.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/columns.h"
#include "analysis/tables/wrap.h"

/* An answer, and which of its columns have several values. */
struct shown {
    const struct answer *answer;
    bool varies[FIRST_AXIS + AXES_MAX];
};

static struct shown find_varying(const struct answer *a)
{
    struct shown s = {.answer = a};
    for (size_t c = 0; c < a->columns && c < sizeof s.varies; c++)
        for (size_t i = 1; i < a->count && !s.varies[c]; i++)
            s.varies[c] = strcmp(answer_cell(a, 0, c), answer_cell(a, i, c)) != 0;
    return s;
}

static double number_at(const struct answer *a, size_t line, size_t column)
{
    const char *cell = answer_cell(a, line, column);
    return *cell ? strtod(cell, NULL) : NAN;
}

/* Writes the axes of a line that vary, or those that do not: "gps, 500 nodes". */
static void write_axes(FILE *out, const struct shown *s, size_t line, bool varying)
{
    const char *separator = "";
    for (size_t i = 0; i < axis_columns_count && i < AXES_MAX; i++) {
        const struct field *axis = schema_find(axis_columns[i].path);
        const char *cell = answer_cell(s->answer, line, FIRST_AXIS + i);
        char value[AXES_TEXT], text[AXES_TEXT];
        if (!*cell || s->varies[FIRST_AXIS + i] != varying)
            continue;
        if (axis->type == FIELD_TEXT)
            snprintf(value, sizeof value, "%s", cell);
        else
            snprintf(value, sizeof value, "%.10g", strtod(cell, NULL));
        axes_describe_value(axis, value, text);
        fprintf(out, "%s%s", separator, text);
        separator = ", ";
    }
}

/* What distinguishes a line from the others, and what is wrong with it, as a text to be freed. */
static char *describe_line(const struct shown *s, size_t line)
{
    const char *status = answer_cell(s->answer, line, STATUS);
    char *text;
    size_t size;
    FILE *out = open_text(&text, &size);
    write_axes(out, s, line, true);
    const char *separator = ftell(out) > 0 ? "; " : "";
    if (strcmp(status, "ok") != 0)
        fprintf(out, "%s%s", separator, status);
    fclose(out);
    return text;
}

/* The columns of a table. */
enum { TIME_COLUMN, RATE_COLUMN, MEMORY_COLUMN, ROOF_COLUMN, DATE_COLUMN, NAME_COLUMN, LAST_COLUMN, SHOWN };

static void put_titles(struct grid *g, const struct question *q)
{
    const char *const titles[SHOWN] = {
        [TIME_COLUMN] = column_named(q->program).title,
        [RATE_COLUMN] = "graphs/s",
        [MEMORY_COLUMN] = "memory",
        [ROOF_COLUMN] = "roof",
        [DATE_COLUMN] = "measured",
        [NAME_COLUMN] = q->history ? "commit" : "work id",
        [LAST_COLUMN] = "configuration",
    };
    for (size_t i = 0; i < SHOWN; i++)
        grid_add(g, "%s", titles[i]);
}

static void put_cells(struct grid *g, const struct question *q, const struct shown *s, size_t i)
{
    const struct answer *a = s->answer;
    char time[UNITS_TEXT] = "-", *text = describe_line(s, i);
    bool alone = strcmp(q->program, "kernel") == 0; /* an op by itself makes no graphs */
    double median = number_at(a, i, MEDIAN), rate = alone ? NAN : number_at(a, i, THROUGHPUT),
           roof = number_at(a, i, EFFICIENCY);
    if (!isnan(median))
        units_format_interval(time, median, number_at(a, i, LOW), number_at(a, i, HIGH), "s");
    grid_add(g, "%s%s", *answer_cell(a, i, NOISY) ? "~" : "", time);
    grid_add_rounded(g, units_decimals(rate), rate, "");
    grid_add_value(g, number_at(a, i, MEMORY), UNITS_BINARY, "B");
    grid_add_rounded(g, roof < 9.95, roof, " %");
    grid_add(g, "%.10s", answer_cell(a, i, STARTED));
    if (q->history)
        grid_add(g, "%.12s", answer_cell(a, i, COMMIT));
    else
        grid_add(g, "%.8s", answer_cell(a, i, WORK));
    grid_add(g, "%s", *text ? text : "-");
    free(text);
}

static void explain_marks(const struct asking *how, const struct answer *a)
{
    struct below below = {0};
    for (size_t i = 0; i < a->count; i++)
        if (*answer_cell(a, i, NOISY))
            below_add_noisy(&below, answer_cell(a, i, NOISY));
    below_print(&below, how->out, screen_width(how->out), how->format == FORMAT_MARKDOWN);
}

/* Prints the answer of a machine: its name, what the rows have in common, and a line for each. */
static void print_machine(const struct asking *how, const struct question *q, const struct answer *a)
{
    bool by_roof = q->by == MEASURE_EFFICIENCY;
    size_t spare[] = {by_roof ? RATE_COLUMN : ROOF_COLUMN, by_roof ? DATE_COLUMN : RATE_COLUMN};
    struct grid g = {.columns = SHOWN, .spare = spare, .spares = 2, .phrases = true};
    struct shown s = find_varying(a);
    struct wrap w;
    wrap_begin(&w, how->out);
    w.phrases = true;
    fprintf(w.lines, "%s\n", answer_cell(a, 0, MACHINE));
    write_axes(w.lines, &s, 0, false);
    if (q->history && !s.varies[WORK])
        fprintf(w.lines, "; work id %s", answer_cell(a, 0, WORK));
    fputs("\n\n", w.lines);
    wrap_end(&w);
    put_titles(&g, q);
    for (size_t i = 0; i < a->count; i++)
        put_cells(&g, q, &s, i);
    grid_print(&g, how->format == FORMAT_MARKDOWN ? TABLE_MARKDOWN : TABLE_TERMINAL, how->out);
    grid_free(&g);
    explain_marks(how, a);
}

static bool ask_machine(sqlite3 *db, const struct asking *how, const struct question *q, int64_t machine,
                        bool first, size_t *lines, char *error)
{
    sqlite3_stmt *s = draft_prepare(db, q, machine, error);
    struct answer a = {0};
    if (!s)
        return false;
    int status =
        how->format == FORMAT_CSV ? answer_csv(how->out, s, first, lines) : answer_read(&a, s, SIZE_MAX);
    bool good = status == SQLITE_DONE || database_failed(db, error);
    if (good && a.count > 0) {
        fputs(*lines ? "\n" : "", how->out);
        print_machine(how, q, &a);
        *lines += a.count;
    }
    answer_free(&a);
    sqlite3_finalize(s);
    return good;
}

bool ask_question(const struct asking *how, const struct question *q, size_t *lines, char *error)
{
    sqlite3 *db = database_open(how->store, how->timeout, error);
    sqlite3_stmt *machines =
        db ? database_prepare(db, "SELECT id FROM machines WHERE name GLOB ? ORDER BY name", error) : NULL;
    struct answer a = {0};
    bool good = machines != NULL;
    *lines = 0;
    if (good) {
        sqlite3_bind_text(machines, 1, q->machine ? q->machine : "*", -1, SQLITE_STATIC);
        good = answer_read(&a, machines, SIZE_MAX) == SQLITE_DONE || database_failed(db, error);
    }
    for (size_t i = 0; i < a.count && good; i++)
        good = ask_machine(db, how, q, atoll(answer_cell(&a, i, 0)), i == 0, lines, error);
    answer_free(&a);
    sqlite3_finalize(machines);
    sqlite3_close(db);
    return good;
}
