/* Rows grouped by what they agree in: the one way in which rows that differ in something are put side by
 * side. */
#ifndef GTMARK_ANALYSIS_SLICES_H
#define GTMARK_ANALYSIS_SLICES_H

#include "analysis/record/axes.h"

struct slice {
    size_t count, first; /* first: the least index */
    const struct slice_row {
        const struct row *row;
        size_t index;
    } * rows; /* by ascending value of the axis along, equal ones in their order */
};

struct slices {
    size_t axes_count, count;
    const struct field *axes[AXES_MAX]; /* in which the rows of one agree */
    struct slice *list;                 /* in the order of their first rows */
    size_t *of;                         /* for each row the index of its slice */
    struct slice_row *rows;
};

/*
 * Rows that agree in every axis but `along` and those of the paths `any` (null-terminated; null: none): along
 * an axis those of axes_beside; along: null: those of axes_varying, and rows stay in their order. They refer
 * to the rows.
 */
struct slices slices_of(const struct rows *rows, const struct field *along, const char *const *any);
/* The axes in which the rows of one would agree; returns how many. */
size_t slices_axes(const struct rows *rows, const struct field *along, const char *const *any,
                   const struct field *axes[AXES_MAX]);
void slices_free(struct slices *s);

/* The slice of a row. */
const struct slice *slice_with(const struct slices *s, const struct row *row);

/* The values in which the rows of a slice agree, as axes_describe_all. */
void slice_name(const struct slices *s, const struct slice *one, char text[AXES_TEXT]);

#endif
