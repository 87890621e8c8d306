/*
 * A row: one configuration and everything measured about it, as a JSON object with the fields of schema.def.
 *
 * Every field is there. What was not measured is null, never 0, and the row's object "reasons" says why,
 * under the field's path or under a group above it ("step": "not asked for").
 *
 * Setters abort on a path that the schema lacks or that has another type: a mistake in the program. A value
 * that JSON cannot hold (infinite, not a number) becomes null with that reason, and in a text a byte that is
 * not UTF-8 a question mark.
 */
#ifndef GTMARK_ANALYSIS_ROW_H
#define GTMARK_ANALYSIS_ROW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MESSAGE_SIZE = 512 }; /* bytes of a message buffer: one line, without newline */

void row_set_text(json_t *row, const char *path, const char *value);
void row_set_count(json_t *row, const char *path, int64_t value);
void row_set_real(json_t *row, const char *path, double value);
void row_set_reals(json_t *row, const char *path, const double *values, size_t n);

/* Field or group `path` was not measured; of a group, all fields become null under one reason. */
void row_set_null(json_t *row, const char *path, const char *reason);

/* Makes every field that was not set so far null, for this reason. */
void row_set_rest_null(json_t *row, const char *reason);

/* The samples in seconds and all statistics of them, under a group such as "step.time"; n >= 1. */
void row_set_samples(json_t *row, const char *group, const double *samples, size_t n);

/* Getters: false, and nothing written, where the field is null, absent or of another type. */
bool row_get_text(const json_t *row, const char *path, const char **value);
bool row_get_count(const json_t *row, const char *path, int64_t *value);
bool row_get_real(const json_t *row, const char *path, double *value); /* of a count, too: rounded */
bool row_get_reals(const json_t *row, const char *path, double *values, size_t capacity, size_t *n);

/* The JSON value at a path, borrowed; null where the row has none. JSON null is a value. */
const json_t *row_get(const json_t *row, const char *path);

/* The reason for a null field, the nearest above it if it has none of its own; null if there is none. */
const char *row_reason(const json_t *row, const char *path);

bool row_is_ok(const json_t *row);

/* Whether the row is complete and well formed; if not, says what is wrong in error[MESSAGE_SIZE]. */
bool row_validate(const json_t *row, char *error);

/* Whether it is an object whose status is known, with a reason unless that is ok; fields may be missing. */
bool row_validate_status(const json_t *row, char *error);

/* Writes the row as JSON on one line, with its newline. False if the stream failed. */
bool row_write(const json_t *row, FILE *out);

#endif
