/*
 * Records as files of lines (lines.h), and read from those or from a document. Functions return false (or
 * null) on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_RESULT_FILE_H
#define GTMARK_ANALYSIS_RESULT_FILE_H

#include "analysis/record/lines.h"

/* Writes its lines. False if the stream failed. */
bool record_write_lines(const struct record *record, FILE *out);

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

#endif
