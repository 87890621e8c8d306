/* Findings about variants: where one overtakes another. */
#include "analysis/compare/crossing.h"
#include "analysis/findings/sentences.h"

void sentences_crossings(FILE *out, const struct facts *facts)
{
    /* The kinds in their order, and the number of sentences after which no more of a kind are written. */
    static const struct {
        enum crossing_kind kind;
        size_t most;
    } order[] = {{CROSSING_FOUND, 6}, {CROSSING_MEMORY, 6}, {CROSSING_NONE, 2}, {CROSSING_OPEN, 2}};
    struct crossings c = crossings_find(facts->rows);
    size_t shown = 0;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < c.count && shown < order[k].most; i++)
            if (c.list[i].kind == order[k].kind && crossing_is_settled(&c.list[i])) {
                crossing_print(out, &c.list[i]);
                shown++;
            }
    crossings_free(&c);
}
