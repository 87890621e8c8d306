
#include <string.h>

#include "analysis/compare/compare.h"
#include "bench/sweep/gates.h"

_Static_assert(PROGRAMS + 1 == TIMED && (int)PROGRAM_FORWARD == TIMED_FORWARD &&
                   (int)PROGRAM_STEP == TIMED_STEP && (int)PROGRAM_KERNEL == TIMED_KERNEL,
               "the programs, and the encoding");

/* Rows match whatever device and threads they ran on, so a difference is reported. */
static void note_place(const struct row *base, const struct row *row, FILE *out)
{
    static const char *const places[] = {"device", "threads"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char then[AXES_TEXT], now[AXES_TEXT];
        axes_text(base, schema_find(places[i]), then);
        axes_text(row, schema_find(places[i]), now);
        if (strcmp(then, now) != 0)
            fprintf(out, "note: %s %s, in the baseline %s: this is no comparison of builds\n", places[i], now,
                    then);
    }
}

static void note_rest(const struct comparison *c, FILE *out)
{
    size_t others = comparison_alone(c, 0);
    if (others > 0)
        fprintf(out, "note: %zu of %zu rows of the baseline %s not of this run\n", others,
                rows_count(c->files[0].rows), others == 1 ? "is" : "are");
    for (size_t i = 0; i < comparison_lines(c); i++)
        note_place(comparison_row(c, 0, i), comparison_row(c, 1, i), out);
}

static bool any_encoded(const struct rows *rows)
{
    size_t i = 0;
    while (i < rows_count(rows) && rows_at(rows, i)->encoding.time.samples.count == 0)
        i++;
    return i < rows_count(rows);
}

int baseline_judge_exact(const struct record *base, const struct record *now, const struct rows *rows,
                         const bool programs[PROGRAMS], struct lenience how, FILE *out)
{
    struct comparison c;
    comparison_of_rows(&c, record_rows(base), rows);
    memcpy(c.programs, programs, PROGRAMS * sizeof *programs);
    struct exact found = exact_compare(&c, exact_counts_alike(base, now));
    fputs("\nA: the baseline; B: this run\n", out);
    exact_table(out, TABLE_TERMINAL, &c, &found);
    if (found.alone + found.fallen > 0)
        compare_left_over(out, &c, 1);
    int misses = gate_exact(out, &found, how);
    note_rest(&c, out);
    exact_free(&found);
    comparison_free(&c);
    return misses;
}

int baseline_judge(const struct rows *base, const struct rows *rows, const bool programs[PROGRAMS],
                   struct lenience how, FILE *out)
{
    struct comparison c;
    comparison_of_rows(&c, base, rows);
    memcpy(c.programs, programs, PROGRAMS * sizeof *programs);
    c.programs[PROGRAMS] = any_encoded(rows) || any_encoded(base);
    fputs("\nA: the baseline; B: this run\n", out);
    int misses = gate_pairs(out, &c, how);
    note_rest(&c, out);
    comparison_free(&c);
    return misses;
}

/* Prints a line if there are any; returns the number of misses. */
static size_t say(FILE *out, size_t count, bool miss, const char *what)
{
    if (count > 0)
        fprintf(out, "%s: %zu %s\n", miss ? "missed" : "note", count, what);
    return miss ? count : 0;
}

static size_t say_uncompared(FILE *out, size_t count, struct lenience how)
{
    return say(out, count, !how.allow_uncompared,
               how.allow_uncompared ? "not compared (--gate allow-uncompared)"
                                    : "not compared; --gate allow-uncompared accepts this");
}

int gate_exact(FILE *out, const struct exact *found, struct lenience how)
{
    size_t misses = say(out, found->more, true, "more than in the baseline");
    misses += say(out, found->fallen, true, "no longer ok");
    say(out, found->less, false, "less than in the baseline: keep this file as the next one");
    misses += say_uncompared(out, found->alone, how);
    if (misses == 0 && found->equal + found->less > 0)
        fprintf(out, "exact: %zu figures as in the baseline\n", found->equal);
    if (misses == 0 && found->equal + found->less == 0)
        misses += say(out, 1, true, "comparison: nothing could be compared");
    return (int)misses;
}

int gate_pairs(FILE *out, const struct comparison *c, struct lenience how)
{
    struct tally all = compare_two(out, c);
    size_t uncompared = comparison_alone(c, 1), open = 0, not_slower = 0, misses;
    for (struct pair p = {0}; comparison_next(c, &p);) {
        struct verdict v = comparison_judge(c, &p);
        uncompared += v.uncompared;
        open += v.kind == VERDICT_INCONCLUSIVE && !v.uncompared && !v.not_slower;
        not_slower += v.not_slower;
    }
    misses = say(out, all.verdicts[VERDICT_SLOWER], true, "slower");
    misses += say_uncompared(out, uncompared, how);
    say(out, not_slower, false, "inconclusive, but not slower");
    misses +=
        say(out, open, how.strict,
            how.strict ? "inconclusive (--gate strict)" : "inconclusive; --gate strict makes this a miss");
    return (int)misses + (misses == 0 && all.judged == 0);
}
