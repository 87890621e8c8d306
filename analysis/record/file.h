/*
 * A file that holds a whole document at every moment. Functions return false (or null) and write one line
 * that says why into error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_FILE_H
#define GTMARK_ANALYSIS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All bytes of a file, with a '\0' behind them, to be freed. */
char *file_read(const char *path, size_t *size, char *error);

/*
 * Saves what `write` writes, which returns false if the stream failed: writes beside the file, then renames.
 * An error leaves the file as it was, and nothing beside it.
 */
bool file_save(const char *path, bool write(const void *document, FILE *out), const void *document,
               char *error);

/* Whether file_save could write there: tries it, and leaves nothing behind, nor what a killed process left.
 */
bool file_can_save(const char *path, char *error);

/* Keeps the file under its name and a tilde, in place of what was kept before. */
bool file_keep(const char *path, char *error);

#endif
