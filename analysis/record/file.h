/*
 * Files that hold a complete document at every moment. Functions return false (or null) on failure and write
 * a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_FILE_H
#define GTMARK_ANALYSIS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All bytes of a file, followed by '\0'; the caller frees them. */
char *file_read(const char *path, size_t *size, char *error);

/* Whether the path is that of a file, or of nothing: a directory, pipe or device is neither. */
bool file_is_regular(const char *path, char *error);

/*
 * Saves the output of `write`, which returns false if the stream failed, to a temporary file beside `path`,
 * then renames it. On error the file is unchanged, and the temporary file is removed.
 */
bool file_save(const char *path, bool write(const void *document, FILE *out), const void *document,
               char *error);

/* The same; *fd is the new file, open for appending and locked (lock.h), or -1 on failure. */
bool file_replace(const char *path, bool write(const void *document, FILE *out), const void *document,
                  int *fd, char *error);

/* Whether file_save could write there: tries it and cleans up, also after killed processes. */
bool file_can_save(const char *path, char *error);

/* Keeps the file as PATH~, replacing an earlier one. */
bool file_keep(const char *path, char *error);

#endif
