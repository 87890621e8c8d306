/*
 * Which rows of two result files did the same work under the same conditions.
 *
 * The hash `work` must agree, and so must the axes, for not all of them are in it (attention that keeps its
 * scores does the same work). Where it ran is left open: `device` and `threads` belong to the machine, and
 * two machines have different ones by default. They must agree only where a file holds several of them, since
 * its rows could not be told apart else. An axis that a row does not have at all, because an older program
 * wrote it, agrees with whatever the other row says: the hash has decided.
 */
#ifndef GTMARK_ANALYSIS_MATCH_H
#define GTMARK_ANALYSIS_MATCH_H

#include "analysis/record/axes.h"
#include "analysis/record/row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATCH_NONE SIZE_MAX

/* The axes that must agree beside the work. */
struct match_rule {
    size_t count;
    const struct field *axes[AXES_MAX];
};

/*
 * The rule for files with these arrays of rows. `ignored` is the paths of axes that need not agree, up to its
 * null, or null.
 */
struct match_rule match_rule(const struct rows *const *rows, size_t files, const char *const *ignored);

bool match(const struct match_rule *rule, const struct row *a, const struct row *b);

/* The index of the row that matches: the first that is ok, else the first; MATCH_NONE if there is none. */
size_t match_find(const struct match_rule *rule, const struct rows *rows, const struct row *row);

/* Why no row matches: "nodes 500, not 1000", by the row that is nearest. One line. */
void match_explain(const struct match_rule *rule, const struct rows *rows, const struct row *row,
                   char text[AXES_TEXT]);

#endif
