/*
 * The axes of a sweep, found in its rows.
 */
#ifndef GTMARK_ANALYSIS_AXES_H
#define GTMARK_ANALYSIS_AXES_H

#include "analysis/record/row.h"
#include "analysis/record/schema.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    AXES_MAX = 32, /* more than schema.def has axes */
    AXES_TEXT = 256
};

/* Whether the axis has more than one value in `rows`; one that no row has does not. */
bool axes_vary(const struct rows *rows, const struct field *axis);

/* Puts the axes with more than one value in `rows` into varying[AXES_MAX], in schema order; returns how many.
 */
size_t axes_varying(const struct rows *rows, const struct field *varying[AXES_MAX]);

/* Whether `other`, with numbers, has one value for each of `axis`: as an FFN of twice the width has. */
bool axes_follows(const struct rows *rows, const struct field *axis, const struct field *other);

/* The axes that vary beside `axis`, without those that only follow it, and without those that some rows do
 * not have and the others have alike: a solver, where some encodings need none. */
size_t axes_beside(const struct rows *rows, const struct field *axis, const struct field *beside[AXES_MAX]);

/* The axis's symbol in formulas, "N"; "x" if it has none or is null. */
const char *axes_symbol(const struct field *axis);

/* A row's values of axes[n], as in "512 channels, gelu"; "" if n is 0. */
void axes_describe_all(const struct row *row, const struct field *const *axes, size_t n,
                       char text[AXES_TEXT]);

/* The axis that a chart runs over: the first with numbers that varies; nodes if none does. */
const struct field *axes_default(const struct rows *rows);

/* An axis' value in a row as a text without unit: "500", "2.5", "gelu"; "" if it is null. */
void axes_text(const struct row *row, const struct field *axis, char text[AXES_TEXT]);

/* The value with its unit or name: "512 channels", "gelu", "seed 43"; "" if it is null. */
void axes_describe(const struct row *row, const struct field *axis, char text[AXES_TEXT]);

#endif
