/* What names in statements about fields mean (tests/fields.def). */
#ifndef GTMARK_TESTS_FIELDS_NAMES_H
#define GTMARK_TESTS_FIELDS_NAMES_H

#include "tests/fields.h"
#include "tests/fields_expression.h"

/* What the letter P, M, S or T of a pattern stands for; empty if it has none. */
struct field_match {
    const char *letter;
    char group[SCHEMA_PATH];
};
bool field_matches(const char *path, const char *pattern, struct field_match *match);

/* A field of a row, as a statement sees it. */
struct field_view {
    const struct field_runs *all;
    const struct field_rows *of;
    size_t place; /* of the row */
    const struct row *row;
    const char *path;
    struct field_match match;
};

/* Of a struct field_view. */
name_value field_named;

/* What follows from a row without the code under test; unknown if there is no such name. Of the samples of a
 * group of times: `reported`, those of the turns of repetition_medians; `matched`, how many of these there
 * are; `far`, outliers; `slow`, slow samples at the start; `change` and `chance`, of a drift. */
struct operand_value field_derived(const struct row *row, struct memory *m, const char *group,
                                   const char *name);

/* Of its graph, drawn again for so many nodes: `edges`, `min`, `loops`, ..., and with ways of batching
 * `packed_rows`, `packed_pairs`. */
struct operand_value graph_derived(const struct row *row, struct memory *m, int64_t nodes, const char *name);

#endif
