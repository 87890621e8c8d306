/*
 * Records as files of lines (lines.h), and read from those or from a document. Functions return false (or
 * null) on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_RESULT_FILE_H
#define GTMARK_ANALYSIS_RESULT_FILE_H

#include "analysis/record/lines.h"

/* Writes the lines of a struct record. False if the stream failed. */
bool record_write_lines(const void *record, FILE *out);

/* Saves its lines to a file that is whole at every moment (file_save). */
bool record_save(const struct record *record, const char *path, char *error);

/* The same; *file is the new file, open for appending and locked (file_replace). */
bool record_replace(const struct record *record, const char *path, int *file, char *error);

/* Keeps an existing file as PATH~, unless it has no rows, and replaces an earlier one. False with a message.
 */
bool record_keep(const char *path, char *error);

/*
 * Loads a file of one run, lines or a document, or parses a text, and validates it; null on error. A last
 * line that is not whole is left out, with a note on stderr.
 */
struct record *record_load(const char *path, char *error);
struct record *record_parse(const char *text, char *error);

/* The length of a path without .jsonl or .json. */
size_t record_name_length(const char *path);

/* Loads all runs of a file; the caller frees them in either case. notes: null: none. */
bool runs_load(const char *path, struct file_runs *runs, FILE *notes, char *error);

/*
 * A result file that grows line by line. A killed process loses nothing that was saved; a power failure at
 * most the lines of one second, since data is flushed to disk at most once a second and at the end.
 */
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
