/*
 * A lock that one process at a time can hold: a file beside what it protects, locked by flock. The kernel
 * releases it when the process ends, however it ends; programs that it starts do not inherit it.
 */
#ifndef GTMARK_ANALYSIS_LOCK_H
#define GTMARK_ANALYSIS_LOCK_H

enum lock_result {
    LOCK_TAKEN,
    LOCK_HELD,       /* by another process */
    LOCK_UNKNOWN,    /* the file system has no locks */
    LOCK_IMPOSSIBLE, /* the file cannot be opened: see errno */
};

/* Takes the lock, without waiting. *file is to be released, unless LOCK_HELD or LOCK_IMPOSSIBLE. */
enum lock_result lock_take(const char *path, int *file);

/* Removes the file and releases the lock. */
void lock_release(const char *path, int file);

#endif
