/*
 * Comparisons. A row that is there several times is represented by the first that is ok; the lines are the
 * baseline's rows, in its order. The mean of ratios is geometric, so that it does not depend on which file is
 * the baseline (Fleming and Wallace, "How not to lie with statistics", CACM 29, 1986).
 */
#include "analysis/compare/comparison.h"

#include "analysis/record/record.h"

#include <math.h>

const char *comparison_program(size_t index)
{
    static const char *const names[COMPARED_PROGRAMS] = {"forward", "step", "kernel", "encoding"};
    return names[index];
}

/* The GPU's name where the device is one, else the processor's. */
static void name_of(const struct record *record, char name[AXES_TEXT])
{
    const struct value *head = record_head(record), *device = value_at(value_get(head, "devices"), 0);
    const char *text = "unknown processor";
    if (!value_get_text(device, "name", &text))
        value_get_text(head, "host.cpu", &text);
    snprintf(name, AXES_TEXT, "%s", text);
}

/* The rows of all files that match a row of the baseline, if there are any. */
static void add_line(struct comparison *c, const struct row *row)
{
    size_t found[COMPARED_MAX], partners = 0;
    for (size_t f = 1; f < c->count; f++) {
        found[f] = match_find(&c->rule, c->files[f].rows, row);
        partners += found[f] != MATCH_NONE;
    }
    if (partners == 0)
        return;
    rows_append(c->matched[0], (struct row *)row);
    for (size_t f = 1; f < c->count; f++)
        rows_append(c->matched[f], rows_at(c->files[f].rows, found[f]));
}

bool comparison_repeats(const struct comparison *c, size_t file, size_t i)
{
    const struct rows *rows = c->files[file].rows;
    size_t first = match_find(&c->rule, rows, rows_at(rows, i));
    return first != i && first != MATCH_NONE;
}

static bool has_time(const struct row *row, size_t program)
{
    char path[SCHEMA_PATH];
    double median;
    snprintf(path, sizeof path, "%s.time.median", comparison_program(program));
    return row_get_real(row, path, &median);
}

static void find_timed(struct comparison *c)
{
    bool any = false;
    for (size_t p = 0; p < COMPARED_PROGRAMS; p++) {
        for (size_t f = 0; f < c->count; f++)
            for (size_t i = 0; i < rows_count(c->files[f].rows); i++)
                c->timed[p] = c->timed[p] || has_time(rows_at(c->files[f].rows, i), p);
        any = any || c->timed[p];
    }
    c->timed[0] = c->timed[0] || !any;
    c->timed[1] = c->timed[1] || !any;
}

bool comparison_load(struct comparison *c, const char *const *paths, size_t count, const char *const *ignored,
                     char *error)
{
    const struct rows *rows[COMPARED_MAX];
    *c = (struct comparison){.limits = verdict_limits_default(), .programs = {true, true, true, true}};
    for (; c->count < count; c->count++) {
        struct compared *file = &c->files[c->count];
        file->letter = (char)('A' + c->count);
        file->path = paths[c->count];
        file->record = record_load_any(file->path, error);
        if (!file->record)
            return false;
        file->rows = rows[c->count] = record_rows(file->record);
        name_of(file->record, file->name);
        c->matched[c->count] = rows_new_view();
    }
    find_timed(c);
    c->rule = match_rule(rows, count, ignored);
    for (size_t i = 0; i < rows_count(rows[0]); i++)
        if (!comparison_repeats(c, 0, i))
            add_line(c, rows_at(rows[0], i));
    return true;
}

void comparison_free(struct comparison *c)
{
    for (size_t f = 0; f < c->count; f++) {
        rows_free(c->matched[f]);
        record_free(c->files[f].record);
    }
}

size_t comparison_lines(const struct comparison *c)
{
    return rows_count(c->matched[0]);
}

const struct row *comparison_row(const struct comparison *c, size_t file, size_t line)
{
    return rows_at(c->matched[file], line);
}

bool comparison_has(const struct comparison *c, size_t file, size_t line, size_t program)
{
    const struct row *base = comparison_row(c, 0, line), *row = comparison_row(c, file, line);
    return c->programs[program] && row &&
           (has_time(base, program) || has_time(row, program) ||
            (c->timed[program] && !(row_is_ok(base) && row_is_ok(row))));
}

struct verdict comparison_judge(const struct comparison *c, size_t file, size_t line, size_t program)
{
    return verdict_rows(comparison_row(c, 0, line), comparison_row(c, file, line),
                        comparison_program(program), c->limits);
}

struct tally comparison_tally(const struct comparison *c, size_t file, size_t program)
{
    struct tally t = {.mean = NAN};
    double logarithms = 0;
    for (size_t i = 0; i < comparison_lines(c); i++) {
        if (!comparison_has(c, file, i, program))
            continue;
        struct verdict v = comparison_judge(c, file, i, program);
        t.verdicts[v.kind]++;
        if (isnan(v.ratio))
            continue;
        t.ratios++;
        logarithms += log(v.ratio);
    }
    if (t.ratios > 0)
        t.mean = exp(logarithms / (double)t.ratios);
    return t;
}
