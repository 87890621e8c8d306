/* Findings about variants: where one overtakes another. */
#include "analysis/compare/crossing.h"
#include "analysis/findings/sentences.h"

void sentences_crossings(FILE *out, const struct facts *facts)
{
    /* Six sentences are those of three variants and two programs. */
    enum { MOST = 6 };
    static const enum crossing_kind order[] = {CROSSING_FOUND, CROSSING_MEMORY, CROSSING_NONE, CROSSING_OPEN};
    struct crossings c = crossings_find(facts->rows);
    size_t shown = 0;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < c.count && shown < MOST; i++)
            if (c.list[i].kind == order[k] && crossing_is_settled(&c.list[i])) {
                crossing_print(out, &c.list[i]);
                shown++;
            }
    crossings_free(&c);
}
