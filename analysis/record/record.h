/*
 * The record: one run of a benchmark, its context and its rows. As a file it is JSON lines (lines.h); as one
 * JSON document
 *
 *     {"schema": 2, "benchmark": ..., "command": ..., "started": ..., "host": {...}, ..., "rows": [...]}
 *
 * The fields beside the rows are the HEAD lines of schema.def; additional ones are allowed. Functions return
 * false (or null) on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_RECORD_H
#define GTMARK_ANALYSIS_RECORD_H

#include "analysis/record/row.h"

/* The time now, to the second: UTC, ISO 8601, "2026-01-31T12:00:00Z". */
enum { UTC_TEXT = 32 }; /* bytes, terminator included */
void utc_now(char text[UTC_TEXT]);

struct record;

/*
 * A record without rows, started now. Takes ownership of `context`, an object with all other fields (host,
 * devices, ...).
 */
struct record *record_new(const char *benchmark, const char *command, struct value *context);
struct record *record_of_head(struct value *head); /* of which it takes ownership */
void record_rename(
    struct record *record); /* members of fits and settings that the version before called otherwise */
void record_free(struct record *record); /* null is allowed */

/* The head, an object with everything beside the rows; and the rows. Both may be changed in place. */
struct value *record_head(const struct record *record);
struct rows *record_rows(const struct record *record);

/*
 * The processor in a head: "family 26, model 2, AMD EPYC, stepping 1". Older files have the family and the
 * model, which virtual machines omit from the name, only in their calibrations.
 */
const char *record_processor(const struct value *head);

/* What measured a result file: its GPU, or the processor with its name, "Zen 4 (family 25, model 17, AMD
 * EPYC, stepping 1)"; as "Zen 4" or "family 25, model 17", empty if there are no such numbers. */
enum { PROCESSOR_TEXT = 256 };
void processor_text(const struct value *head, char text[PROCESSOR_TEXT]);
void processor_short(const struct value *head, char text[PROCESSOR_TEXT]);

/*
 * Inserts a row before an index up to the number of rows, or replaces the row there, and takes ownership.
 * Refuses an invalid one.
 */
bool record_put(struct record *record, size_t index, bool replace, struct row *row, char *error);

/* Whether schema version, head fields and all rows are valid. */
bool record_validate(const struct record *record, char *error);

/* Writes the document to a stream. False if the stream failed. */
bool record_write(const struct record *record, FILE *out);

#endif
