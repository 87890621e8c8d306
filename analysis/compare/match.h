/*
 * Which rows of two result files did the same work under the same conditions.
 *
 * The hash `work` must be equal, and so must the axes, since not all of them are in the hash (attention that
 * keeps its scores does the same work). `device` and `threads` may differ, because they differ between
 * machines, unless they vary within a file. An axis that a row lacks, because an older program wrote it,
 * matches any value: the hash decides. If axes are ignored, all others decide without the hash.
 */
#ifndef GTMARK_ANALYSIS_MATCH_H
#define GTMARK_ANALYSIS_MATCH_H

#include "analysis/record/axes.h"

#define MATCH_NONE SIZE_MAX

/* The axes that must be equal, and whether the hash must be: not if an axis may differ. */
struct match_rule {
    bool work;
    size_t count;
    const struct field *axes[AXES_MAX];
};

/*
 * The rule for files with these rows. `ignored`: paths of axes that may differ, null-terminated, or null.
 */
struct match_rule match_rule(const struct rows *const *rows, size_t files, const char *const *ignored);

bool match(const struct match_rule *rule, const struct row *a, const struct row *b);

/* The index of the first matching row that is ok, or else the first matching row, or MATCH_NONE. */
size_t match_find(const struct match_rule *rule, const struct rows *rows, const struct row *row);

/* Why no row matches: the differences from the nearest row, "nodes 500, not 1000". One line. */
void match_explain(const struct match_rule *rule, const struct rows *rows, const struct row *row,
                   char text[AXES_TEXT]);

#endif
