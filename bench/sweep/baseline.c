#include "bench/sweep/baseline.h"

#include <string.h>

#include "analysis/compare/compare.h"
#include "bench/sweep/gate_pairs.h"

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
