/*
 * The record: one run of a benchmark, its context and its rows, as one JSON document and as a file.
 *
 *     {"schema": 1, "benchmark": ..., "command": ..., "started": ..., "host": {...}, ..., "rows": [...]}
 *
 * The fields beside the rows are the HEAD lines of schema.def; more of them are allowed. Functions that can
 * fail return false (or null) and write one line that says why into error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_RECORD_H
#define GTMARK_ANALYSIS_RECORD_H

#include "analysis/record/row.h"
#include "analysis/record/value.h"

#include <stdbool.h>
#include <stdio.h>

struct record;

/*
 * A record without rows, started now. `context` is an object with all other fields (host, devices, ...); it
 * is taken over.
 */
struct record *record_new(const char *benchmark, const char *command, struct value *context);
void record_free(struct record *record); /* null is allowed */

/* All that stands beside the rows, an object; and the rows. Both are the record's, and can be changed there.
 */
struct value *record_head(const struct record *record);
struct rows *record_rows(const struct record *record);

/* Appends a row, which is taken over; refuses one that is not valid. */
bool record_add(struct record *record, struct row *row, char *error);

/* Puts a row, which is taken over, at an index up to the number of rows: before the row there, or in its
 * place. Refuses one that is not valid. */
bool record_put(struct record *record, size_t index, bool replace, struct row *row, char *error);

/* Whether schema version, fields and all rows are as they should be. */
bool record_validate(const struct record *record, char *error);

/* Writes the document to a stream. False if the stream failed. */
bool record_write(const struct record *record, FILE *out);

/*
 * Writes a row on one line, with all that the record says beside its rows and fits under "record": a line
 * means the same in any other file. False if the stream failed.
 */
bool record_write_line(const struct record *record, const struct row *row, FILE *out);

/*
 * Saves to a file so that it holds a whole document at every moment: writes beside it, then renames. An
 * error leaves the file as it was, and nothing beside it.
 */
bool record_save(const struct record *record, const char *path, char *error);

/*
 * Keeps what stands in the file, if it is anything but a record without rows, under its name and a tilde, in
 * place of what was kept before. False with a message if that cannot be done.
 */
bool record_keep(const char *path, char *error);

/* The record in a file, or in a text, validated; null on error. */
struct record *record_load(const char *path, char *error);
struct record *record_parse(const char *text, char *error);

/*
 * The same of a file that a program before or after this one may have written: fields of rows may be missing
 * or unknown. The version of the format, the record's own fields and the status of every row are validated.
 */
struct record *record_load_any(const char *path, char *error);

#endif
