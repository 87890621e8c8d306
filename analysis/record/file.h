/*
 * Files that hold a complete document at every moment, and files that one process holds. Functions return
 * false (or null) on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_FILE_H
#define GTMARK_ANALYSIS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes "PATH: cannot be written: ", and why by errno. Returns false. */
bool file_failed(const char *path, char *error);

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

/* The same; *fd is the new file, open for appending and locked, or -1 on failure. */
bool file_replace(const char *path, bool write(const void *document, FILE *out), const void *document,
                  int *fd, char *error);

/*
 * A file that one process at a time can hold, locked by flock. The kernel releases it when the process ends,
 * however it ends; programs that it starts do not inherit it.
 */
enum lock_result {
    LOCK_TAKEN,
    LOCK_HELD,       /* by another process */
    LOCK_UNKNOWN,    /* the file system has no locks */
    LOCK_IMPOSSIBLE, /* the file cannot be opened: see errno */
};

/*
 * Opens a file to append to it, and creates it if there is none; takes the lock, without waiting. Closing
 * *file releases it; it is open unless LOCK_HELD or LOCK_IMPOSSIBLE.
 */
enum lock_result lock_take(const char *path, int *file);

/* Whether file_save could write there: tries it and cleans up, also after killed processes. */
bool file_can_save(const char *path, char *error);

/* Keeps the file as PATH~, replacing an earlier one. */
bool file_keep(const char *path, char *error);

#endif
