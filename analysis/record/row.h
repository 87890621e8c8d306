/*
 * A row: one configuration and everything measured about it, in the fields of schema.def; and sequences of
 * rows.
 *
 * Every field is there. What was not measured is null, never 0, and the row has a reason for it, under the
 * field's path or under a group above it ("step": "not asked for").
 *
 * Setters abort on a path that the schema lacks or that has another type: a mistake in the program. A value
 * that a file cannot hold (infinite, not a number) becomes null with that reason, and in a text a byte that
 * is not UTF-8 a question mark.
 */
#ifndef GTMARK_ANALYSIS_ROW_H
#define GTMARK_ANALYSIS_ROW_H

#include "analysis/record/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a row has times of, as "step.time.median": the programs of the benchmarks, in their order there, and
 * the encoding. */
enum { TIMED = 4 };
const char *program_name(size_t index);

struct row;

struct row *row_new(void); /* no field is set */
struct row *row_copy(const struct row *row);
void row_free(struct row *row); /* null is allowed */

void row_set_text(struct row *row, const char *path, const char *value);
void row_set_count(struct row *row, const char *path, int64_t value);
void row_set_real(struct row *row, const char *path, double value);
void row_set_reals(struct row *row, const char *path, const double *values, size_t n);

/* Field or group `path` was not measured; of a group, all fields become null under one reason. */
void row_set_null(struct row *row, const char *path, const char *reason);

/* Makes every field that was not set so far null, for this reason. */
void row_set_rest_null(struct row *row, const char *reason);

/* The samples in seconds and all statistics of them, under a group such as "step.time"; n >= 1. */
void row_set_samples(struct row *row, const char *group, const double *samples, size_t n);

/* Getters: false, and nothing written, where the field is null, absent or of another type, or the row is
 * null. */
bool row_get_text(const struct row *row, const char *path, const char **value);
bool row_get_count(const struct row *row, const char *path, int64_t *value);
bool row_get_real(const struct row *row, const char *path, double *value); /* of a count, too: rounded */
bool row_get_reals(const struct row *row, const char *path, double *values, size_t capacity, size_t *n);

/* How many numbers a field of type REALS has; 0 where row_get_reals would fail. */
size_t row_reals_count(const struct row *row, const char *path);

/* Whether the row has the field at all, null or not: rows of other versions may lack it. */
bool row_has(const struct row *row, const char *path);

/* Whether the field is there and null. */
bool row_is_null(const struct row *row, const char *path);

/* Whether a field is alike in both: the same value, null, or absent. */
bool row_same(const struct row *a, const struct row *b, const char *path);

/* Whether all fields and reasons are alike. */
bool row_equal(const struct row *a, const struct row *b);

/* The reason for a null field, the nearest above it if it has none of its own; null if there is none. */
const char *row_reason(const struct row *row, const char *path);

bool row_is_ok(const struct row *row);

/* Whether the row is complete and well formed; if not, says what is wrong in error[MESSAGE_SIZE]. */
bool row_validate(const struct row *row, char *error);

/* Whether its status is known, with a reason unless that is ok; fields may be missing. */
bool row_validate_status(const struct row *row, char *error);

/* Writes the row as JSON on one line, with its newline. False if the stream failed. */
bool row_write(const struct row *row, FILE *out);

/*
 * A sequence of rows. One of rows_new owns them, and takes over what is put into it; a view refers to rows of
 * others, which must outlive it, and may have places without a row (null).
 */
struct rows;

struct rows *rows_new(void);
struct rows *rows_new_view(void);
void rows_free(struct rows *rows); /* null is allowed */

size_t rows_count(const struct rows *rows);
struct row *rows_at(const struct rows *rows, size_t i); /* null beyond the end */

void rows_append(struct rows *rows, struct row *row);
void rows_insert(struct rows *rows, size_t i, struct row *row); /* before row i, or at the end */
void rows_replace(struct rows *rows, size_t i, struct row *row);

/* Removes row i, which is the caller's then. */
struct row *rows_take(struct rows *rows, size_t i);

#endif
