/*
 * A save writes PATH.PID.tmp in the same directory (rename is atomic only within a file system), flushes it
 * to disk before the rename, and checks every step: a full disk is reported only by fflush, fsync or fclose.
 */
#include "analysis/record/file.h"

#include "analysis/record/plain.h"
#include "analysis/statistics/allocate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_failed(const char *path, char *error)
{
    snprintf(error, MESSAGE_SIZE, "%.300s: cannot be written: %s", path, strerror(errno));
    return false;
}

/* The rest of a stream; null on error. */
static char *read_all(FILE *file, size_t *size)
{
    char part[1 << 16];
    struct buffer text = {0};
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        buffer_put(&text, part, n);
    *size = text.size;
    buffer_char(&text, '\0');
    if (!ferror(file))
        return text.text;
    free(text.text);
    return NULL;
}

char *file_read(const char *path, size_t *size, char *error)
{
    FILE *file = fopen(path, "r");
    char *text = file ? read_all(file, size) : NULL;
    if (!text)
        snprintf(error, MESSAGE_SIZE, "%.300s: cannot be read: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return text;
}

bool file_is_regular(const char *path, char *error)
{
    struct stat there;
    if (stat(path, &there) != 0 || S_ISREG(there.st_mode))
        return true;
    snprintf(error, MESSAGE_SIZE, "%.300s: is not a regular file", path);
    return false;
}

/* Opens a temporary file beside `path` and allocates its name in *beside; null with a message on failure. */
static FILE *open_beside(const char *path, char **beside, char *error)
{
    struct stat there;
    if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        snprintf(error, MESSAGE_SIZE, "%.300s: is not a regular file",
                 path); /* rename would replace /dev/null */
        return NULL;
    }
    *beside = format_text("%s.%ld.tmp", path, (long)getpid());
    int fd = open(*beside, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file)
        setvbuf(file, NULL, _IOFBF, 1 << 18); /* thousands of rows are written at once */
    if (!file) {
        file_failed(path, error);
        free(*beside);
    }
    return file;
}

/* The name of the directory with this file, to be freed. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? copied_part(path, (size_t)(slash - path) + 1) : copied(".");
}

/* Flushes a rename to disk, where the file system can. */
static void sync_directory(const char *path)
{
    char *directory = directory_of(path);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

/* A second handle of a file, which is locked; -1 and errno if there is none. */
static int kept_open(FILE *file)
{
    int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    if (fd >= 0)
        flock(fd, LOCK_EX | LOCK_NB); /* nobody else knows the file yet */
    return fd;
}

bool file_replace(const char *path, bool write(const void *document, FILE *out), const void *document,
                  int *fd, char *error)
{
    char *beside;
    FILE *file = open_beside(path, &beside, error);
    if (fd)
        *fd = -1;
    if (!file)
        return false;
    bool good = write(document, file) && fflush(file) == 0 && fsync(fileno(file)) == 0 &&
                (!fd || (*fd = kept_open(file)) >= 0);
    if (!good)
        file_failed(path, error);
    if (fclose(file) != 0 && good)
        good = file_failed(path, error);
    if (good && rename(beside, path) != 0)
        good = file_failed(path, error);
    if (good)
        sync_directory(path);
    else
        unlink(beside);
    if (!good && fd && *fd >= 0)
        close(*fd);
    free(beside);
    return good;
}

bool file_save(const char *path, bool write(const void *document, FILE *out), const void *document,
               char *error)
{
    return file_replace(path, write, document, NULL, error);
}

/* Removes the temporary files of killed processes: PATH.PID.tmp whose PID no longer exists. */
static void clear_leftovers(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *directory = directory_of(path);
    size_t length = strlen(name);
    DIR *all = directory ? opendir(directory) : NULL;
    for (struct dirent *e; all && (e = readdir(all)) != NULL;) {
        char *end;
        if (strncmp(e->d_name, name, length) != 0 || e->d_name[length] != '.')
            continue;
        long pid = strtol(e->d_name + length + 1, &end, 10);
        if (pid > 0 && pid <= INT_MAX && strcmp(end, ".tmp") == 0 && kill((pid_t)pid, 0) != 0 &&
            errno == ESRCH)
            unlinkat(dirfd(all), e->d_name, 0);
    }
    if (all)
        closedir(all);
    free(directory);
}

bool file_can_save(const char *path, char *error)
{
    char *beside;
    FILE *file = open_beside(path, &beside, error);
    if (!file)
        return false;
    fclose(file);
    unlink(beside);
    free(beside);
    clear_leftovers(path);
    return true;
}

bool file_keep(const char *path, char *error)
{
    char *kept = format_text("%s~", path);
    unlink(kept);
    /* Some file systems have no hard links, and links to other users' files may be forbidden. */
    bool good = link(path, kept) == 0 || rename(path, kept) == 0 || file_failed(kept, error);
    free(kept);
    return good;
}

/*
 * The holder may replace the file. Another process may have opened it before, and would then lock a file that
 * no third process can find; so whoever gets the lock checks that the path still names its file, and
 * otherwise tries again.
 */

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
