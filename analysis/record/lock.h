/*
 * A file that one process at a time can hold, locked by flock. The kernel releases it when the process ends,
 * however it ends; programs that it starts do not inherit it.
 */
#ifndef GTMARK_ANALYSIS_LOCK_H
#define GTMARK_ANALYSIS_LOCK_H

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

#endif
