/*
 * Of repeated rows, the first that is ok is compared. The mean of ratios is geometric, so that it does not
 * depend on which file is the baseline (Fleming and Wallace, "How not to lie with statistics", CACM 29,
 * 1986).
 */
#include "analysis/compare/comparison.h"

#include "analysis/record/result_file.h"

/* Adds a row of a file with its partners in the others, if it has any and none of them was here before. */
static void add_line(struct comparison *c, size_t file, struct row *row)
{
    struct row *found[COMPARED_MAX];
    size_t partners = 0;
    for (size_t f = 0; f < c->count; f++) {
        const struct rows *rows = c->files[f].rows;
        found[f] = f == file ? row : rows_at(rows, match_find(&c->rule, rows, row));
        partners += f != file && found[f];
        if (found[f] && file != c->lead && (f == c->lead || f < file))
            return;
    }
    for (size_t f = 0; f < c->count && partners > 0; f++)
        rows_append(c->matched[f], found[f]);
}

static void add_lines(struct comparison *c, size_t file)
{
    const struct rows *rows = c->files[file].rows;
    for (size_t i = 0; i < rows_count(rows); i++)
        if (!comparison_repeats(c, file, i))
            add_line(c, file, rows_at(rows, i));
}

bool comparison_repeats(const struct comparison *c, size_t file, size_t i)
{
    const struct rows *rows = c->files[file].rows;
    size_t first = match_find(&c->rule, rows, rows_at(rows, i));
    return first != i && first != MATCH_NONE;
}

size_t comparison_alone(const struct comparison *c, size_t file)
{
    const struct rows *rows = c->files[file].rows, *others = c->files[!file].rows;
    size_t alone = 0;
    for (size_t i = 0; i < rows_count(rows); i++)
        alone +=
            !comparison_repeats(c, file, i) && match_find(&c->rule, others, rows_at(rows, i)) == MATCH_NONE;
    return alone;
}

static bool has_time(const struct row *row, size_t program)
{
    return !isnan(row_timed(row, program)->median);
}

static void find_timed(struct comparison *c)
{
    bool any = false;
    for (size_t p = 0; p < TIMED; p++) {
        for (size_t f = 0; f < c->count; f++)
            for (size_t i = 0; i < rows_count(c->files[f].rows); i++)
                c->timed[p] = c->timed[p] || has_time(rows_at(c->files[f].rows, i), p);
        any = any || c->timed[p];
    }
    c->timed[TIMED_FORWARD] = c->timed[TIMED_FORWARD] || !any;
    c->timed[TIMED_STEP] = c->timed[TIMED_STEP] || !any;
}

static void match_rows(struct comparison *c, const char *const *ignored)
{
    const struct rows *rows[COMPARED_MAX];
    for (size_t f = 0; f < c->count; f++) {
        c->files[f].letter = (char)('A' + f);
        c->matched[f] = rows_new_view();
        rows[f] = c->files[f].rows;
    }
    find_timed(c);
    c->rule = match_rule(rows, c->count, ignored);
    add_lines(c, c->lead);
    for (size_t f = 0; f < c->count; f++)
        if (f != c->lead)
            add_lines(c, f);
}

static struct comparison empty(void)
{
    return (struct comparison){.limits = verdict_across, .programs = {true, true, true, true}};
}

static const struct rows *rows_of_runs(const struct file_runs *runs)
{
    struct rows *all = rows_new_view();
    for (size_t r = 0; r < runs->count; r++)
        for (size_t i = 0; i < rows_count(record_rows(runs->list[r])); i++)
            rows_append(all, rows_at(record_rows(runs->list[r]), i));
    return all;
}

bool comparison_load(struct comparison *c, const char *const *paths, size_t count, const char *const *ignored,
                     char *error)
{
    *c = empty();
    while (c->count < count) {
        struct compared *file = &c->files[c->count];
        file->path = paths[c->count++];
        if (!runs_load(file->path, &file->runs, stderr, error))
            return false;
        file->record = file->runs.list[0];
        for (size_t r = 1; r < file->runs.count; r++)
            if (strcmp(record_processor(record_head(file->runs.list[r])),
                       record_processor(record_head(file->record))) != 0) {
                snprintf(error, MESSAGE_SIZE, "%.300s: has runs of several machines: give each a file",
                         file->path);
                return false;
            }
        file->rows = rows_of_runs(&file->runs);
        processor_text(record_head(file->record), file->name);
        processor_short(record_head(file->record), file->brand);
    }
    match_rows(c, ignored);
    return true;
}

void comparison_of_rows(struct comparison *c, const struct rows *base, const struct rows *rows)
{
    *c = empty();
    c->count = 2;
    c->lead = 1;
    c->files[0].rows = base;
    c->files[1].rows = rows;
    match_rows(c, NULL);
}

void comparison_free(struct comparison *c)
{
    for (size_t f = 0; f < c->count; f++) {
        rows_free(c->matched[f]);
        if (c->files[f].path)
            rows_free((struct rows *)c->files[f].rows);
        runs_free(&c->files[f].runs);
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

const struct row *comparison_any(const struct comparison *c, size_t line)
{
    size_t f = 0;
    while (!comparison_row(c, f, line))
        f++;
    return comparison_row(c, f, line);
}

bool comparison_shows(const struct comparison *c, size_t line, size_t program)
{
    bool any = false;
    for (size_t f = 0; f < c->count && c->programs[program]; f++) {
        const struct row *row = comparison_row(c, f, line);
        any = any || (row && (has_time(row, program) || (c->timed[program] && !row_is_ok(row))));
    }
    return any;
}

struct rows *comparison_runs(const struct comparison *c, size_t file, size_t line)
{
    const struct rows *sources[] = {c->files[file].rows, c->files[file].also};
    struct row *row = rows_at(c->matched[file], line);
    struct rows *all = rows_new_view();
    if (row)
        rows_append(all, row);
    for (size_t s = 0; s < 2 && sources[s] && row && !c->paired; s++)
        for (size_t i = 0; i < rows_count(sources[s]); i++)
            if (rows_at(sources[s], i) != row && match(&c->rule, row, rows_at(sources[s], i)))
                rows_append(all, rows_at(sources[s], i));
    return all;
}

double comparison_time(const struct comparison *c, size_t file, size_t line, size_t program)
{
    struct rows *runs = comparison_runs(c, file, line);
    double median = rows_range(runs, program).median;
    rows_free(runs);
    return median;
}

struct rows *comparison_rows(const struct comparison *c, size_t file)
{
    struct rows *rows = rows_new_view();
    for (size_t i = 0; i < comparison_lines(c); i++)
        if (rows_at(c->matched[file], i))
            rows_append(rows, rows_at(c->matched[file], i));
    return rows;
}

bool comparison_varies(const struct comparison *c, size_t file, const struct field *axis)
{
    struct rows *rows = comparison_rows(c, file);
    bool varies = axes_vary(rows, axis);
    rows_free(rows);
    return varies;
}

static bool has_anything(const struct comparison *c, const struct pair *p)
{
    const struct row *base = comparison_row(c, p->base, p->line), *row = comparison_row(c, p->file, p->line);
    return c->programs[p->program] && base && row &&
           (has_time(base, p->program) || has_time(row, p->program) ||
            (c->timed[p->program] && !(row_is_ok(base) && row_is_ok(row))));
}

bool comparison_next(const struct comparison *c, struct pair *p)
{
    do {
        if (++p->file >= c->count) {
            p->file = 1;
            p->program++;
        }
        if (p->program >= TIMED) {
            p->program = 0;
            p->line++;
        }
    } while (p->line < comparison_lines(c) && !has_anything(c, p));
    return p->line < comparison_lines(c);
}

struct verdict comparison_judge(const struct comparison *c, const struct pair *p)
{
    struct verdict_limits limits = c->limits;
    limits.machines = strcmp(c->files[p->base].name, c->files[p->file].name) != 0;
    if (c->paired)
        return c->paired(comparison_row(c, p->base, p->line), comparison_row(c, p->file, p->line),
                         p->program);
    struct rows *base = comparison_runs(c, p->base, p->line), *rows = comparison_runs(c, p->file, p->line);
    struct verdict v = rows_verdict(base, rows, p->program, limits);
    rows_free(base);
    rows_free(rows);
    return v;
}

struct tally comparison_tally(const struct comparison *c, size_t file, size_t program)
{
    struct tally t = {.mean = NAN};
    double logarithms = 0;
    for (struct pair p = {0}; comparison_next(c, &p);) {
        if ((p.file != file && file < COMPARED_MAX) || (p.program != program && program < TIMED))
            continue;
        struct verdict v = comparison_judge(c, &p);
        t.pairs++;
        t.verdicts[v.kind]++;
        t.judged += isfinite(v.low);
        if (isnan(v.ratio))
            continue;
        t.ratios++;
        logarithms += log(v.ratio);
    }
    if (t.ratios > 0)
        t.mean = exp(logarithms / (double)t.ratios);
    return t;
}
