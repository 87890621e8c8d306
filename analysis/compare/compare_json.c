#include "analysis/compare/compare.h"

static struct value *letter_of(const struct compared *file)
{
    return value_new_text((const char[]){file->letter, '\0'});
}

static struct value *count_or_null(int64_t count)
{
    return count == COUNT_ABSENT ? value_new_null() : value_new_count(count);
}

static struct value *value_of(const struct row *row, const struct field *axis)
{
    return axis->type == FIELD_TEXT    ? value_new_text(*field_text(row, axis))
           : axis->type == FIELD_COUNT ? value_new_count(*field_count(row, axis))
                                       : value_new_real(*field_real(row, axis));
}

static struct value *files_of(const struct comparison *c)
{
    struct value *files = value_new_array();
    for (size_t f = 0; f < c->count; f++) {
        const struct compared *file = &c->files[f];
        struct value *entry = value_new_object(), *commit = value_get(record_head(file->record), "commit");
        value_set(entry, "file", letter_of(file));
        value_set_text(entry, "path", file->path);
        value_set_text(entry, "name", file->name);
        value_set_count(entry, "rows", (int64_t)rows_count(file->rows));
        value_set(entry, "commit", commit ? value_copy(commit) : value_new_null());
        value_append(files, entry);
    }
    return files;
}

/* The axes of a row; if `except` is a row, only those that differ from its axes. */
static struct value *axes_of(const struct row *row, const struct row *except)
{
    struct value *axes = value_new_object();
    for (const struct field *f = schema_fields; schema_has(f); f++)
        if (f->symbol && row_has_field(row, f) && !(except && row_order(row, except, f) == 0))
            value_set(axes, f->path, value_of(row, f));
    return axes;
}

/* The number of samples is of one run. */
static struct value *times_of_pair(const struct comparison *c, const struct pair *p, size_t file)
{
    const struct row *row = comparison_row(c, file, p->line);
    struct value *time = value_new_object();
    struct rows *runs = comparison_runs(c, file, p->line);
    struct range r = rows_range(runs, p->program);
    bool ok = row_is_ok(row), one = ok && rows_count(runs) == 1;
    value_set(time, "status", row->status ? value_new_text(row->status) : value_new_null());
    value_set_count(time, "runs", (int64_t)rows_count(runs));
    value_set_real(time, "median", ok ? r.median : NAN);
    value_set_real(time, "low", ok ? r.low : NAN);
    value_set_real(time, "high", ok ? r.high : NAN);
    value_set(time, "n", count_or_null(one ? row_timed(row, p->program)->n : COUNT_ABSENT));
    rows_free(runs);
    return time;
}

static struct value *pairs_of(const struct comparison *c)
{
    struct value *pairs = value_new_array();
    for (struct pair p = {0}; comparison_next(c, &p);) {
        const struct row *base = comparison_row(c, 0, p.line), *row = comparison_row(c, p.file, p.line);
        struct verdict v = comparison_judge(c, &p);
        struct value *pair = value_new_object();
        value_set(pair, "file", letter_of(&c->files[p.file]));
        value_set_text(pair, "program", program_name(p.program));
        value_set(pair, "axes", axes_of(row, NULL));
        value_set(pair, "baseline_axes", axes_of(base, row));
        value_set(pair, "baseline", times_of_pair(c, &p, 0));
        value_set(pair, "time", times_of_pair(c, &p, p.file));
        value_set_real(pair, "ratio", v.ratio);
        value_set_real(pair, "low", v.low);
        value_set_real(pair, "high", v.high);
        value_set_text(pair, "verdict", verdict_name(v.kind));
        value_set_text(pair, "reason", v.reason);
        value_append(pairs, pair);
    }
    return pairs;
}

static struct value *tallies_of(const struct comparison *c)
{
    struct value *tallies = value_new_array();
    for (size_t f = 1; f < c->count; f++)
        for (size_t p = 0; p < TIMED; p++) {
            struct tally t = comparison_tally(c, f, p);
            if (t.pairs == 0)
                continue;
            struct value *entry = value_new_object();
            value_set(entry, "file", letter_of(&c->files[f]));
            value_set_text(entry, "program", program_name(p));
            for (int k = VERDICT_INCONCLUSIVE; k < VERDICTS; k++)
                value_set_count(entry, verdict_name((enum verdict_kind)k), (int64_t)t.verdicts[k]);
            value_set_real(entry, "mean", t.mean);
            value_append(tallies, entry);
        }
    return tallies;
}

static void print_document(FILE *out, struct value *document)
{
    value_write_indented(document, 1, out);
    putc('\n', out);
    value_free(document);
}

void compare_json(FILE *out, const struct comparison *c)
{
    struct value *document = value_new_object();
    value_set(document, "files", files_of(c));
    value_set_real(document, "margin", c->limits.margin);
    value_set_real(document, "same", c->limits.same);
    value_set(document, "pairs", pairs_of(c));
    value_set(document, "tally", tallies_of(c));
    print_document(out, document);
}

static struct value *difference_of(const struct comparison *c, const struct exact_difference *d)
{
    struct value *difference = value_new_object();
    value_set_text(difference, "program", program_name(d->program));
    value_set(difference, "axes", axes_of(comparison_row(c, 1, d->line), NULL));
    value_set_text(difference, "figure", d->figure);
    value_set_text(difference, "unit", d->unit);
    value_set(difference, "baseline", count_or_null(d->was));
    value_set(difference, "value", count_or_null(d->is));
    value_set_text(difference, "verdict",
                   d->was == COUNT_ABSENT || d->is == COUNT_ABSENT ? "not compared"
                   : d->is > d->was                                ? "more"
                                                                   : "less");
    value_set(difference, "entry", *d->grown ? value_new_text(d->grown) : value_new_null());
    return difference;
}

static struct value *lacking_rows(const struct comparison *c)
{
    struct value *rows = value_new_array();
    char reason[MESSAGE_SIZE];
    for (size_t f = 0; f < c->count; f++)
        for (size_t i = 0; i < rows_count(c->files[f].rows); i++) {
            if (!compare_lacks(c, f, i, reason))
                continue;
            struct value *row = value_new_object();
            value_set(row, "file", letter_of(&c->files[f]));
            value_set(row, "axes", axes_of(rows_at(c->files[f].rows, i), NULL));
            value_set_text(row, "reason", reason);
            value_append(rows, row);
        }
    return rows;
}

void compare_json_exact(FILE *out, const struct comparison *c, const struct exact *found)
{
    struct value *document = value_new_object(), *differences = value_new_array();
    for (size_t i = 0; i < found->count; i++)
        value_append(differences, difference_of(c, &found->list[i]));
    value_set(document, "files", files_of(c));
    value_set_count(document, "equal", (int64_t)found->equal);
    value_set_count(document, "more", (int64_t)found->more);
    value_set_count(document, "less", (int64_t)found->less);
    value_set_count(document, "not_compared", (int64_t)found->alone);
    value_set_count(document, "no_longer_ok", (int64_t)found->fallen);
    value_set(document, "rows", lacking_rows(c));
    value_set(document, "differences", differences);
    print_document(out, document);
}
