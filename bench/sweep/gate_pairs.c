#include "bench/sweep/gate_pairs.h"

#include "analysis/compare/compare_notes.h"

/* The rows of this run without a partner. They are named below the table. */
static size_t alone(const struct comparison *c)
{
    const struct rows *rows = c->files[c->lead].rows;
    size_t single = 0;
    for (size_t i = 0; i < rows_count(rows); i++)
        single += !comparison_repeats(c, c->lead, i);
    return single - comparison_lines(c);
}

/* Prints a line if there are any; returns the number of misses. */
static size_t say(FILE *out, size_t count, bool miss, const char *what)
{
    if (count > 0)
        fprintf(out, "%s: %zu %s\n", miss ? "missed" : "note", count, what);
    return miss ? count : 0;
}

int gate_pairs(FILE *out, const struct comparison *c, struct lenience how)
{
    struct tally all = compare_two(out, c);
    size_t unjudged = alone(c), open = 0, misses;
    for (struct pair p = {0}; comparison_next(c, &p);) {
        struct verdict v = comparison_judge(c, &p);
        unjudged += v.unjudged;
        open += v.kind == VERDICT_INCONCLUSIVE && !v.unjudged && !v.not_slower;
    }
    misses = say(out, all.verdicts[VERDICT_SLOWER], true, "slower");
    misses += say(out, unjudged, !how.allow_uncompared,
                  how.allow_uncompared ? "not compared (--gate allow-uncompared)"
                                       : "not compared; --gate allow-uncompared accepts this");
    misses +=
        say(out, open, how.strict,
            how.strict ? "inconclusive (--gate strict)" : "inconclusive; --gate strict makes this a miss");
    return (int)misses + (misses == 0 && all.judged == 0);
}
