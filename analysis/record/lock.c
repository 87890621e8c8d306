/*
 * The holder may replace the file. Another process may have opened it before, and would then lock a file that
 * no third process can find; so whoever gets the lock checks that the path still names its file, and
 * otherwise tries again.
 */
#include "analysis/record/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the path names the open file. */
static bool is_at(int file, const char *path)
{
    struct stat ours, there;
    return fstat(file, &ours) == 0 && lstat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

static int lock_without_waiting(int file)
{
    int failed;
    do
        failed = flock(file, LOCK_EX | LOCK_NB);
    while (failed && errno == EINTR);
    return failed ? errno : 0;
}

enum lock_result lock_take(const char *path, int *file)
{
    for (;;) {
        *file = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (*file < 0)
            return LOCK_IMPOSSIBLE;
        int error = lock_without_waiting(*file);
        if (error && error != EWOULDBLOCK)
            return LOCK_UNKNOWN;
        if (!error && is_at(*file, path))
            return LOCK_TAKEN;
        close(*file);
        if (error)
            return LOCK_HELD;
    }
}
