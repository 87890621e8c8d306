#include "bench/show/saved.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "analysis/fits/fits.h"
#include "analysis/tables/profile_table.h"
#include "analysis/tables/table.h"

static bool meets(const struct row *row, const struct condition *c)
{
    const struct field *axis = schema_find(c->path);
    double value;
    if (c->number)
        return field_number(row, axis, &value) && value == c->value;
    return row_has_field(row, axis) && fnmatch(c->pattern, *field_text(row, axis), 0) == 0;
}

/* Conditions of one axis are alternatives. */
static bool meets_all(const struct row *row, const struct question *q)
{
    for (size_t i = 0, end; i < q->conditions_count; i = end) {
        bool any = false;
        for (end = i; end < q->conditions_count && q->conditions[end].path == q->conditions[i].path; end++)
            any = any || meets(row, &q->conditions[end]);
        if (!any)
            return false;
    }
    return true;
}

static bool meets_limits(const struct row *row, const struct question *q)
{
    size_t kind = 0;
    while (kind < TIMED_ENCODING && strcmp(program_name(kind), q->program) != 0)
        kind++;
    const struct row_program *p = row_program(row, kind);
    double memory = count_real(p ? p->memory.planned : row->encoding.peak);
    return (isnan(q->max_latency) || row_timed(row, kind)->median <= q->max_latency) &&
           (isnan(q->max_memory) || memory <= q->max_memory) &&
           (isnan(q->min_throughput) || (p && p->throughput >= q->min_throughput)) &&
           (isnan(q->min_efficiency) || (p && p->roofline.percent >= 100 * q->min_efficiency));
}

size_t saved_keep(struct record *record, const struct question *q)
{
    struct rows *rows = record_rows(record);
    size_t all = rows_count(rows);
    for (size_t i = all; i-- > 0;)
        if (!meets_all(rows_at(rows, i), q) || !meets_limits(rows_at(rows, i), q))
            row_free(rows_take(rows, i));
    if (rows_count(rows) < all)
        value_remove(record_head(record), "fits"); /* of all rows */
    return rows_count(rows);
}

/* Whether one before of its kind, a name or a number, determines an axis: as a model its attention. */
static bool is_determined(const struct rows *rows, const struct field *axis,
                          const struct field *const *before, size_t n)
{
    bool determined = false;
    for (size_t i = 0; i < n; i++)
        determined = determined || ((before[i]->type == FIELD_TEXT) == (axis->type == FIELD_TEXT) &&
                                    axes_determine(rows, before[i], axis));
    return determined;
}

static void find_axes(const struct rows *rows, struct table *t)
{
    const struct field *varying[AXES_MAX];
    size_t n = axes_varying(rows, varying);
    for (size_t i = 0; i < n; i++)
        if (!is_determined(rows, varying[i], t->axes, t->axes_count))
            t->axes[t->axes_count++] = varying[i];
    if (t->axes_count == 0)
        t->axes[t->axes_count++] = schema_find(rows_at(rows, 0)->op ? "op" : "nodes");
}

/* What any row has. Returns whether any was timed. */
static bool find_timed(const struct rows *rows, bool timed[TIMED])
{
    bool any = false;
    for (size_t i = 0; i < rows_count(rows); i++)
        for (size_t kind = 0; kind < TIMED; kind++) {
            const struct row *row = rows_at(rows, i);
            const struct row_program *p = row_program(row, kind);
            bool was = !isnan(row_timed(row, kind)->median);
            timed[kind] = timed[kind] || was || (p && p->memory.planned != COUNT_ABSENT);
            any = any || was;
        }
    return any;
}

static void find_columns(struct printer *p, const struct rows *rows, const struct saved_format *how)
{
    bool ran = find_timed(rows, p->timed);
    p->table.all = how->count > 0;
    for (int i = 0; i < how->count; i++)
        p->table.columns[p->table.count++] = how->columns[i];
    if (how->count == 0)
        table_choose(&p->table, p->timed, !ran);
}

/* Where time and memory go, of as few rows as stand side by side. */
static void print_models(const struct table *t, const struct rows *rows)
{
    bool profiled = false;
    for (size_t i = 0; i < rows_count(rows); i++)
        profiled =
            profiled || rows_at(rows, i)->step.profile.op.count || rows_at(rows, i)->forward.profile.op.count;
    if (profiled && rows_count(rows) <= MODEL_TABLE_ROWS)
        model_table_print(t->out, rows, t->axes, t->axes_count);
}

void saved_print(const struct record *record, const struct saved_format *how)
{
    const struct rows *rows = record_rows(record);
    struct printer p = {.format = how->format, .record = record, .table.out = stdout};
    find_axes(rows, &p.table);
    find_columns(&p, rows, how);
    printer_begin(&p);
    for (size_t i = 0; i < rows_count(rows); i++)
        printer_row(&p, &(struct table_line){.row = rows_at(rows, i)});
    bool whole = how->format == FORMAT_TABLE && how->count == 0;
    struct fits fits = whole ? fits_find(rows) : (struct fits){0};
    printer_table(&p);
    if (whole)
        fits_print(&fits, p.table.out);
    printer_below(&p);
    if (whole)
        print_models(&p.table, rows);
    printer_document(&p);
    printer_free(&p);
    fits_free(&fits);
}
