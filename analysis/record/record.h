/*
 * The record: one run of a benchmark, its context and its rows, as one JSON document and as a file.
 *
 *     {"schema": 1, "benchmark": ..., "command": ..., "started": ..., "host": {...}, ..., "rows": [...]}
 *
 * The fields beside the rows are the HEAD lines of schema.def; additional ones are allowed. Functions return
 * false (or null) on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_RECORD_H
#define GTMARK_ANALYSIS_RECORD_H

#include "analysis/record/row.h"
#include "analysis/record/value.h"

#include <stdbool.h>
#include <stdio.h>

struct record;

/*
 * A record without rows, started now. Takes ownership of `context`, an object with all other fields (host,
 * devices, ...).
 */
struct record *record_new(const char *benchmark, const char *command, struct value *context);
void record_free(struct record *record); /* null is allowed */

/* The head, an object with everything beside the rows; and the rows. Both may be changed in place. */
struct value *record_head(const struct record *record);
struct rows *record_rows(const struct record *record);

/*
 * The processor in a head: "family 26, model 2, AMD EPYC, stepping 1". Older files have the family and the
 * model, which virtual machines omit from the name, only in their calibrations.
 */
const char *record_processor(const struct value *head);

/* Appends a row and takes ownership of it; refuses an invalid one. */
bool record_add(struct record *record, struct row *row, char *error);

/*
 * Inserts a row before an index up to the number of rows, or replaces the row there, and takes ownership.
 * Refuses an invalid one.
 */
bool record_put(struct record *record, size_t index, bool replace, struct row *row, char *error);

/* Whether schema version, head fields and all rows are valid. */
bool record_validate(const struct record *record, char *error);

/* Writes the document to a stream. False if the stream failed. */
bool record_write(const struct record *record, FILE *out);

/*
 * Writes a row on one line, with the head, except fits, under "record": the line is self-contained. False if
 * the stream failed.
 */
bool record_write_line(const struct record *record, const struct row *row, FILE *out);

/* Saves to a file that holds a complete document at every moment (file_save). */
bool record_save(const struct record *record, const char *path, char *error);

/*
 * Keeps an existing file, journal included, as PATH~, unless it is a record without rows, and replaces an
 * earlier one. False with a message on failure.
 */
bool record_keep(const char *path, char *error);

/* Loads a record from a file and its journal (journal.h), or parses it, and validates it; null on error. */
struct record *record_load(const char *path, char *error);
struct record *record_parse(const char *text, char *error);

/*
 * The same for a file of an older or newer version: fields of rows may be missing or unknown. The format
 * version, the head fields and the status of every row are validated.
 */
struct record *record_load_any(const char *path, char *error);

#endif
