#include "analysis/compare/score.h"

#include <stdarg.h>

#include "analysis/record/row_range.h"

static const char *const classes[SCORE_CLASSES] = {
#define CLASS(id, name) name,
#define WORK(class_id, name, hash, forward, step)
#include "analysis/compare/score.def"
};

/* A work of the score, and its seconds that are 100. */
struct score_work {
    enum score_class class;
    const char *name, *hash;
    double seconds[2]; /* by TIMED_FORWARD, TIMED_STEP */
};

static const struct score_work works[] = {
#define CLASS(id, name)
#define WORK(class_id, name, hash, forward, step) {SCORE_##class_id, name, hash, {forward, step}},
#include "analysis/compare/score.def"
};
enum { WORKS = sizeof works / sizeof *works };

/* Keeps the first reason why there is no score. Returns false. */
__attribute__((format(printf, 2, 3))) static bool no_score(struct score *s, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (!*s->why)
        vsnprintf(s->why, sizeof s->why, format, values);
    va_end(values);
    return false;
}

static bool check_head(struct score *s, const struct record *record)
{
    const struct value *head = record_head(record);
    const char *commit = value_text_or(head, "commit", "unknown");
    if (value_size(value_get(head, "settings.impl")) > 0)
        return no_score(s, "kernels were chosen (--impl)");
    if (strstr(commit, "-dirty") || strcmp(commit, "unknown") == 0)
        return no_score(s, "the build is of no commit (%.60s)", commit);
    return true;
}

static bool check_same(struct score *s, const struct record *a, const struct record *b)
{
    static const char *const same[] = {"commit", "host.name", "host.processor", "compiler"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *x = value_text_or(record_head(a), same[i], "unknown"),
                   *y = value_text_or(record_head(b), same[i], "unknown");
        if (strcmp(x, y) != 0)
            return no_score(s, "the files differ in %s: %.100s and %.100s", same[i], x, y);
    }
    return true;
}

static bool check_row(struct score *s, const char *name, const struct row *row)
{
    if (!row_is_ok(row))
        return no_score(s, "%s is %s: %.300s", name, row->status, row->reason ? row->reason : "");
    if (row_unchecked(row))
        return no_score(s, "%s was not checked: %.300s", name, row_unchecked(row));
    if (!row->dtype || strcmp(row->dtype, "f32") != 0)
        return no_score(s, "%s is not in f32", name);
    if (row_is_planned(row))
        return no_score(s, "%s was only planned", name);
    return true;
}

/* The last row of a work; null: there is none. */
static const struct row *row_of(struct record *const *records, size_t count, const struct score_work *w)
{
    const struct row *found = NULL;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < rows_count(record_rows(records[i])); k++) {
            const struct row *row = rows_at(record_rows(records[i]), k);
            if (row->work && strcmp(row->work, w->hash) == 0)
                found = row;
        }
    return found;
}

/* Logarithms: sums over the times of a class, and the mean of the classes. */
struct sums {
    double of[SCORE_CLASSES], low, high;
};

static double times_in(enum score_class class)
{
    int works_in = 0;
    for (int w = 0; w < WORKS; w++)
        works_in += works[w].class == class;
    return 2 * works_in;
}

/* Adds a time, and the least and the most that it may be. */
static bool add_seconds(struct score *s, struct sums *sums, const struct score_work *w, const struct row *row,
                        size_t kind)
{
    struct range r = row_range(row, kind);
    double floor = range_floor(&r), weight = 1 / times_in(w->class);
    if (!(r.median > 0))
        return no_score(s, "%s: %s was not timed", w->name, program_name(kind));
    if (!(floor > 0))
        return no_score(s, "%s: all of the time may have been lost to other programs", w->name);
    sums->of[w->class] += weight * log(w->seconds[kind] / r.median);
    sums->low += weight / SCORE_CLASSES * log(w->seconds[kind] / r.high);
    sums->high += weight / SCORE_CLASSES * log(w->seconds[kind] / floor);
    return true;
}

static bool add_work(struct score *s, struct sums *sums, const struct score_work *w, const struct row *row)
{
    if (!row)
        return no_score(s, "no row of %s", w->name);
    return check_row(s, w->name, row) && add_seconds(s, sums, w, row, TIMED_FORWARD) &&
           add_seconds(s, sums, w, row, TIMED_STEP);
}

static bool check_place(struct score *s, const struct row *a, const struct row *b)
{
    return (a->threads == b->threads && strcmp(a->device, b->device) == 0) ||
           no_score(s, "rows of %s with %lld threads and of %s with %lld", a->device, (long long)a->threads,
                    b->device, (long long)b->threads);
}

struct score score_of(struct record *const *records, size_t count)
{
    struct score s = {.all = NAN};
    const struct row *first = row_of(records, count, &works[0]);
    struct sums sums = {.low = 0};
    double all = 0;
    for (size_t i = 0; i < count; i++)
        if (!check_head(&s, records[i]) || !check_same(&s, records[0], records[i]))
            return s;
    for (int w = 0; w < WORKS; w++) {
        const struct row *row = row_of(records, count, &works[w]);
        if (!add_work(&s, &sums, &works[w], row) || !check_place(&s, first, row))
            return s;
    }
    for (int c = 0; c < SCORE_CLASSES; c++) {
        s.of[c] = 100 * exp(sums.of[c]);
        all += sums.of[c] / SCORE_CLASSES;
    }
    s.all = 100 * exp(all);
    s.low = 100 * exp(sums.low);
    s.high = 100 * exp(sums.high);
    return s;
}

void score_write(const struct score *s, struct record *const *records, size_t count, FILE *out)
{
    char processor[PROCESSOR_TEXT];
    const struct row *row = row_of(records, count, &works[0]);
    processor_text(record_head(records[0]), processor);
    fprintf(out, "score %d: %.0f [%.0f, %.0f] (", SCORE_VERSION, s->all, s->low, s->high);
    for (int c = 0; c < SCORE_CLASSES; c++)
        fprintf(out, "%s%s %.0f", c ? ", " : "", classes[c], s->of[c]);
    fprintf(out, "); %s, %lld threads, %s, %s, commit %s\n", row->dtype, (long long)row->threads, row->device,
            processor, value_text_or(record_head(records[0]), "commit", "unknown"));
}

void score_write_line(const struct score *s, struct record *const *records, size_t count, const char *name,
                      FILE *out)
{
    char processor[PROCESSOR_TEXT];
    const struct row *row = row_of(records, count, &works[0]);
    processor_text(record_head(records[0]), processor);
    fprintf(out, "| [%s](%s) | %s | %s | %lld |", name, name, processor, row->device,
            (long long)row->threads);
    for (int c = 0; c < SCORE_CLASSES; c++)
        fprintf(out, " %.0f |", s->of[c]);
    fprintf(out, " %.0f [%.0f, %.0f] | %d, %s |\n", s->all, s->low, s->high, SCORE_VERSION,
            value_text_or(record_head(records[0]), "commit", "unknown"));
}
