/*
 * A result file that grows line by line (lines.h). A killed process loses nothing that was saved; a power
 * failure at most the lines of one second, since data is flushed to disk at most once a second and at the
 * end.
 *
 * Functions return false (or null) on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_WRITER_H
#define GTMARK_ANALYSIS_WRITER_H

#include "analysis/record/record.h"

#include <stddef.h>

struct writer;

/*
 * Takes the lock of the file, which no two writers have at a time, and creates it if there is none. Where the
 * file system has no locks: a warning to `warnings`.
 */
struct writer *writer_open(const char *path, FILE *warnings, char *error);

/* Saves the record, which must outlive the writer, whole; with `keep` what was there is kept (record_keep).
 */
bool writer_begin(struct writer *writer, const struct record *record, bool keep, char *error);

/* Saves row `index` of the record as it is now. */
bool writer_row(struct writer *writer, size_t index, char *error);

/* Saves a member of the record's head. */
bool writer_head(struct writer *writer, const char *name, char *error);

/*
 * Leaves one line of each row, if it was begun: the file is rewritten beside its place, and renamed. Releases
 * the lock and frees the writer in any case. Null is allowed.
 */
bool writer_close(struct writer *writer, char *error);

#endif
