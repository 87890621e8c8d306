/*
 * The axes of a sweep, found in its rows.
 */
#ifndef GTMARK_ANALYSIS_AXES_H
#define GTMARK_ANALYSIS_AXES_H

#include "analysis/record/row.h"

enum {
    AXES_MAX = 40, /* more than there are axes */
    AXES_TEXT = 256
};

/* Whether the axis has more than one value in `rows`; false if no row has it. */
bool axes_vary(const struct rows *rows, const struct field *axis);

/* Puts the axes with more than one value in `rows` into varying[AXES_MAX], in schema order; returns how many.
 */
size_t axes_varying(const struct rows *rows, const struct field *varying[AXES_MAX]);

/* The numeric axes that vary, without those that follow an earlier one; returns how many. */
size_t axes_numeric(const struct rows *rows, const struct field *numeric[AXES_MAX]);

/* Whether numeric `other` is determined by `axis`, as an FFN of twice the width is. */
bool axes_follows(const struct rows *rows, const struct field *axis, const struct field *other);

/* The same for any other axis: whether rows with the same value of `axis` have the same value of `other`. */
bool axes_determine(const struct rows *rows, const struct field *axis, const struct field *other);

/*
 * The varying axes other than `axis`, without those determined by it and without those that differ only in
 * being missing from some rows, such as a solver where some encodings need none.
 */
size_t axes_beside(const struct rows *rows, const struct field *axis, const struct field *beside[AXES_MAX]);

/* The axis's symbol in formulas, "N"; "x" if it has none or is null. */
const char *axes_symbol(const struct field *axis);

/* The axis's name in titles: "nodes", "hidden size". */
const char *axes_title(const struct field *axis);

/* A row's values of axes[n], as in "hidden size 512, gelu"; "" if n is 0. */
void axes_describe_all(const struct row *row, const struct field *const *axes, size_t n,
                       char text[AXES_TEXT]);

/*
 * The x axis of charts: the first numeric axis that varies; nodes if none does. Presets are not points on an
 * axis that they determine: if only such axes vary, it is the number of threads.
 */
const struct field *axes_default(const struct rows *rows);

/* An axis's value in a row without unit: "500", "2.5", "gelu"; "" if null. */
void axes_text(const struct row *row, const struct field *axis, char text[AXES_TEXT]);

/* The value with its unit or name: "6 layers", "hidden size 512", "gelu", "seed 43"; "" if null. */
void axes_describe(const struct row *row, const struct field *axis, char text[AXES_TEXT]);

/* The same for a value as axes_text writes it, for a number, and for two: "100 to 5000 nodes". */
void axes_describe_value(const struct field *axis, const char *value, char text[AXES_TEXT]);
void axes_describe_number(const struct field *axis, double x, char text[AXES_TEXT]);
void axes_describe_span(const struct field *axis, double from, const char *joint, double to,
                        char text[AXES_TEXT]);

#endif
