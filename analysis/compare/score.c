#include "analysis/compare/score.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "analysis/record/processor.h"
#include "analysis/statistics/disturbance.h"

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

static const char *text_in(const struct value *head, const char *path)
{
    const char *text = "unknown";
    value_get_text(head, path, &text);
    return text;
}

static bool check_head(struct score *s, const struct record *record)
{
    const struct value *head = record_head(record);
    const char *commit = text_in(head, "commit");
    if (value_size(value_get(head, "settings.impl")) > 0)
        return no_score(s, "kernels were chosen (--impl)");
    if (strstr(commit, "-dirty") || strcmp(commit, "unknown") == 0)
        return no_score(s, "the build is of no commit (%.60s)", commit);
    return true;
}

/* What must be the same in all files. */
static bool check_same(struct score *s, const struct record *a, const struct record *b)
{
    static const char *const same[] = {"commit", "host.name", "host.processor", "compiler"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *x = text_in(record_head(a), same[i]), *y = text_in(record_head(b), same[i]);
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
    if (strcmp(row->device, "meta") == 0)
        return no_score(s, "%s was only planned", name);
    if (isnan(row->noise.lost))
        return no_score(s, "%s: what other programs took is not known", name);
    if (row->noise.lost > NOISY_LOST)
        return no_score(s, "%s: %.1f %% of the time went to other programs, over %g %%", name,
                        100 * row->noise.lost, 100 * NOISY_LOST);
    return true;
}

static bool check_time(struct score *s, const char *name, const struct row *row, size_t kind)
{
    const struct row_times *t = row_timed(row, kind);
    const char *program = program_name(kind);
    if (!(t->median > 0))
        return no_score(s, "%s: %s was not timed", name, program);
    if (t->turns < REPORTED_MIN)
        return no_score(s, "%s, %s: %lld turns in one state of the machine, fewer than %d", name, program,
                        t->turns == COUNT_ABSENT ? 0 : (long long)t->turns, REPORTED_MIN);
    double width = row_width(t);
    if (!(width <= NOISY_WIDTH))
        return no_score(s, "%s, %s: an interval of %.0f %% of the median, over %g %%", name, program,
                        100 * width, 100 * NOISY_WIDTH);
    return !row_noisy(row, kind) || no_score(s, "%s, %s: %.300s", name, program, row_noisy(row, kind));
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

/* Adds the logarithms of a work's two ratios. */
static bool add_work(struct score *s, const struct score_work *w, const struct row *row, double *sum)
{
    if (!row)
        return no_score(s, "no row of %s", w->name);
    if (!check_row(s, w->name, row) || !check_time(s, w->name, row, TIMED_FORWARD) ||
        !check_time(s, w->name, row, TIMED_STEP))
        return false;
    *sum += log(w->seconds[TIMED_FORWARD] / row->forward.time.median) +
            log(w->seconds[TIMED_STEP] / row->step.time.median);
    return true;
}

/* Whether two rows ran on the same device with as many threads. */
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
    double sums[SCORE_CLASSES] = {0}, all = 0;
    int ratios[SCORE_CLASSES] = {0};
    for (size_t i = 0; i < count; i++)
        if (!check_head(&s, records[i]) || !check_same(&s, records[0], records[i]))
            return s;
    for (int w = 0; w < WORKS; w++) {
        const struct row *row = row_of(records, count, &works[w]);
        if (!add_work(&s, &works[w], row, &sums[works[w].class]) || !check_place(&s, first, row))
            return s;
        ratios[works[w].class] += 2;
    }
    for (int c = 0; c < SCORE_CLASSES; c++) {
        s.of[c] = 100 * exp(sums[c] / ratios[c]);
        all += log(s.of[c]) / SCORE_CLASSES;
    }
    s.all = exp(all);
    return s;
}

void score_write(const struct score *s, struct record *const *records, size_t count, FILE *out)
{
    char processor[PROCESSOR_TEXT];
    const struct row *row = row_of(records, count, &works[0]);
    processor_text(record_head(records[0]), processor);
    fprintf(out, "score %d: %.0f (", SCORE_VERSION, s->all);
    for (int c = 0; c < SCORE_CLASSES; c++)
        fprintf(out, "%s%s %.0f", c ? ", " : "", classes[c], s->of[c]);
    fprintf(out, "); %s, %lld threads, %s, %s, commit %s\n", row->dtype, (long long)row->threads, row->device,
            processor, text_in(record_head(records[0]), "commit"));
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
    fprintf(out, " %.0f | %d, %s |\n", s->all, SCORE_VERSION, text_in(record_head(records[0]), "commit"));
}
