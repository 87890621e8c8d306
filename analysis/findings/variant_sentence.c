/* Which variant wins, and from where on. */
#include "analysis/compare/crossing.h"
#include "analysis/findings/sentences.h"

/* How much a crossing matters: one that was found before one of memory, then one that wins everywhere, or
 * somewhere and loses nowhere; training steps before inference before single ops. 0: not at all, as what
 * ranges leave open, and encodings, which have a sentence of their own. */
static int rank_of(const struct crossing *c)
{
    static const int kinds[] = {
        [CROSSING_FOUND] = 12, [CROSSING_MEMORY] = 9, [CROSSING_NONE] = 6, [CROSSING_NEVER] = 3};
    static const int programs[TIMED] = {[TIMED_FORWARD] = 1, [TIMED_STEP] = 2};
    int rank = c->kind == CROSSING_OPEN || !crossing_is_settled(c) ? 0 : kinds[c->kind];
    if (rank == 0 || c->kind == CROSSING_MEMORY)
        return rank;
    bool same = c->program[0] == c->program[1] && c->program[0] != TIMED_ENCODING;
    return same ? rank + programs[c->program[0]] : 0;
}

double sentence_variants(FILE *out, const struct facts *facts, struct basis *basis)
{
    struct crossings c = crossings_find(facts->rows);
    const struct crossing *best = NULL;
    for (size_t i = 0; i < c.count; i++)
        if (rank_of(&c.list[i]) > (best ? rank_of(best) : 0))
            best = &c.list[i];
    int rank = best ? rank_of(best) : 0;
    if (best)
        crossing_print(out, best);
    basis->rows = best ? 2 * best->count : 0;
    crossings_free(&c);
    return rank;
}
