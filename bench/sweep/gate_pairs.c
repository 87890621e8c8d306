#include "bench/sweep/gate_pairs.h"

#include "analysis/compare/compare.h"

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
