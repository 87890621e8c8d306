/* The text of a statement has only names from the lists of columns; what a user gives is bound to question
 * marks. */
#include "analysis/database/ask.h"
#include "analysis/database/database.h"
#include "analysis/statistics/allocate.h"

/* By increasing values of these, the best is first. */
static const char *const ranks[MEASURES] = {
    [MEASURE_LATENCY] = "median",
    [MEASURE_THROUGHPUT] = "-throughput",
    [MEASURE_MEMORY] = "memory",
    [MEASURE_EFFICIENCY] = "-efficiency",
};

/* A statement that is being written: its text, and the values of its question marks. */
struct draft {
    FILE *sql;
    int count;
    struct {
        const char *text; /* null: a number */
        double number;
    } values[2 * CONDITIONS_MAX + 16];
};

static void add_text(struct draft *d, const char *sql, const char *value)
{
    fputs(sql, d->sql);
    d->values[d->count++].text = value;
}

static void add_number(struct draft *d, const char *sql, double value)
{
    fputs(sql, d->sql);
    d->values[d->count].text = NULL;
    d->values[d->count++].number = value;
}

/* The columns, of the tables or of a subquery. */
static void add_columns(struct draft *d, bool tables)
{
    fputs(tables ? "SELECT m.name AS machine, f.started, f.\"commit\", p.median, p.low, p.high, p.throughput,"
                   " p.memory, p.efficiency, r.status, p.noisy, r.work"
                 : "SELECT machine, started, \"commit\", median, low, high, throughput, memory, efficiency,"
                   " status, noisy, work",
          d->sql);
    for (size_t i = 0; i < axis_columns_count; i++)
        fprintf(d->sql, ", %s\"%s\"", tables ? "r." : "", axis_columns[i].name);
}

/*
 * The rows of a machine: the newest of each configuration; those of a work, to be found by it; or all. CROSS
 * JOIN keeps SQLite from another order of the tables.
 */
static void add_rows(struct draft *d, const struct question *q, int64_t machine)
{
    bool newest = !q->all && !q->history;
    const char *join = newest || q->history ? "CROSS JOIN" : "JOIN";
    fprintf(d->sql, " FROM %s %s files f ON f.id = r.file %s machines m ON m.id = f.machine",
            newest ? "latest l CROSS JOIN rows r ON r.id = l.\"row\"" : "rows r", join, join);
    add_text(d, " LEFT JOIN programs p ON p.\"row\" = r.id AND p.program = ?", q->program);
    add_number(d, " WHERE m.id = ?", (double)machine);
    if (newest) {
        add_number(d, " AND l.machine = ?", (double)machine);
        add_text(d, " AND l.program = ?", q->program);
    }
    if (q->history) {
        add_text(d, " AND r.work >= ?", q->history);
        add_text(d, " AND r.work < ? || 'g'", q->history); /* above all digits */
        fputs(q->all ? "" : " AND r.status = 'ok' AND p.median IS NOT NULL", d->sql);
    }
}

/* Conditions of one axis, or of one tag, are alternatives. */
static void add_conditions(struct draft *d, const struct question *q)
{
    for (size_t i = 0; i < q->conditions_count; i++) {
        const struct condition *c = &q->conditions[i];
        bool goes_on = i > 0 && c->tag == c[-1].tag && strcmp(c->name, c[-1].name) == 0;
        fputs(goes_on ? " OR " : i > 0 ? ") AND (" : " AND (", d->sql);
        if (c->tag) {
            add_text(d, "EXISTS (SELECT 1 FROM tags t WHERE t.file = f.id AND t.key = ?", c->name);
            add_text(d, " AND t.value GLOB ?)", c->pattern);
            continue;
        }
        fprintf(d->sql, "r.\"%s\"", c->name);
        if (c->number)
            add_number(d, " = ?", c->value);
        else
            add_text(d, " GLOB ?", c->pattern);
    }
    fputs(q->conditions_count ? ")" : "", d->sql);
    if (!isnan(q->max_latency))
        add_number(d, " AND p.median <= ?", q->max_latency);
    if (!isnan(q->max_memory))
        add_number(d, " AND p.memory <= ?", q->max_memory);
    if (!isnan(q->min_throughput))
        add_number(d, " AND p.throughput >= ?", q->min_throughput);
    if (!isnan(q->min_efficiency))
        add_number(d, " AND p.efficiency >= ?", 100 * q->min_efficiency);
}

/* A row is left out if one that is better by the first measure is as good by the second, or if one that is as
 * good by the first is better by the second. Equal rows stay. */
static void add_pareto(struct draft *d, const struct question *q, int64_t machine)
{
    const char *x = ranks[q->against[0]], *y = ranks[q->against[1]];
    add_columns(d, false);
    fputs(" FROM (", d->sql);
    add_columns(d, true);
    fprintf(
        d->sql,
        ", r.id, MIN(%1$s) OVER (ORDER BY %2$s GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS best, "
        "MIN(%1$s) OVER (PARTITION BY %2$s) AS equals",
        y, x);
    add_rows(d, q, machine);
    add_conditions(d, q);
    fprintf(d->sql,
            " AND %1$s IS NOT NULL AND %2$s IS NOT NULL)"
            " WHERE %2$s = equals AND (best IS NULL OR %2$s < best) ORDER BY %1$s, id",
            x, y);
    add_number(d, " LIMIT ?", q->top ? q->top : -1);
}

static void add_question(struct draft *d, const struct question *q, int64_t machine)
{
    enum { TOP = 10 };
    const char *rank = ranks[q->by < 0 ? MEASURE_LATENCY : q->by];
    if (q->pareto) {
        add_pareto(d, q, machine);
        return;
    }
    add_columns(d, true);
    add_rows(d, q, machine);
    add_conditions(d, q);
    if (q->history) {
        fputs(" ORDER BY f.started, r.id", d->sql);
        return;
    }
    fprintf(d->sql, "%s%s%s ORDER BY %s IS NULL, %s, r.id", q->all ? "" : " AND ", q->all ? "" : rank,
            q->all ? "" : " IS NOT NULL", rank, rank);
    add_number(d, " LIMIT ?", q->top ? q->top : TOP);
}

sqlite3_stmt *draft_prepare(sqlite3 *db, const struct question *q, int64_t machine, char *error)
{
    struct draft d = {0};
    char *text;
    size_t size;
    d.sql = open_text(&text, &size);
    add_question(&d, q, machine);
    fclose(d.sql);
    sqlite3_stmt *s = database_prepare(db, text, error);
    for (int i = 0; i < d.count && s; i++)
        if (d.values[i].text)
            sqlite3_bind_text(s, i + 1, d.values[i].text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_double(s, i + 1, d.values[i].number);
    free(text);
    return s;
}
