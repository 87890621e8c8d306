/* Each line is one write. What a write that failed has left of its line is cut off again. */
#include "analysis/record/writer.h"

#include "analysis/record/lock.h"
#include "analysis/record/plain.h"
#include "analysis/record/result_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double sync_seconds = 1;

struct writer {
    char *path;
    int file;
    const struct record *record; /* null: not begun */
    bool behind;                 /* a line is missing: the whole file must be rewritten */
    double synced;               /* when data was last flushed to disk */
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reports errno; returns false. */
static bool write_error(const struct writer *writer, char *error)
{
    snprintf(error, MESSAGE_SIZE, "%.300s: cannot be written: %s", writer->path, strerror(errno));
    return false;
}

static void free_writer(struct writer *writer)
{
    free(writer->path);
    free(writer);
}

struct writer *writer_open(const char *path, FILE *warnings, char *error)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer || !(writer->path = strdup(path)))
        abort();
    switch (lock_take(path, &writer->file)) {
    case LOCK_TAKEN:
        return writer;
    case LOCK_UNKNOWN:
        fputs("warning: ", warnings);
        plain_put(warnings, path);
        fputs(": this file system has no locks: make sure that no other program writes the file\n", warnings);
        return writer;
    case LOCK_HELD:
        snprintf(error, MESSAGE_SIZE, "%.300s: another program is writing this file", path);
        break;
    case LOCK_IMPOSSIBLE:
        snprintf(error, MESSAGE_SIZE, "%.300s: cannot be written: %s", path, strerror(errno));
        break;
    }
    free_writer(writer);
    return NULL;
}

/* Rewrites the file; the lock is then that of the new file. */
static bool rewrite(struct writer *writer, char *error)
{
    int file;
    if (!record_replace(writer->record, writer->path, &file, error))
        return false;
    close(writer->file);
    writer->file = file;
    writer->behind = false;
    writer->synced = seconds_now();
    return true;
}

static bool write_all(int fd, const char *text, size_t size)
{
    for (ssize_t n; size > 0; text += n, size -= (size_t)n) {
        do
            n = write(fd, text, size);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return false;
    }
    return true;
}

/* Appends a line, and leaves no part of it there if that fails. */
static bool append(struct writer *writer, const struct buffer *line, char *error)
{
    struct stat before;
    if (fstat(writer->file, &before) == 0 && write_all(writer->file, line->text, line->size))
        return true;
    write_error(writer, error);
    (void)!ftruncate(writer->file, before.st_size);
    return false;
}

/* Flushes data to disk, if the last time is long ago. */
static bool sync_sometimes(struct writer *writer, char *error)
{
    if (seconds_now() - writer->synced < sync_seconds)
        return true;
    bool good = fdatasync(writer->file) == 0 || write_error(writer, error);
    writer->synced = seconds_now();
    return good;
}

/* Adds a line, and frees it. */
static bool save_line(struct writer *writer, struct buffer line, char *error)
{
    bool good = writer->behind ? rewrite(writer, error) : append(writer, &line, error);
    free(line.text);
    writer->behind = !good;
    return good && sync_sometimes(writer, error);
}

bool writer_begin(struct writer *writer, const struct record *record, bool keep, char *error)
{
    writer->record = record;
    return (!keep || record_keep(writer->path, error)) && rewrite(writer, error);
}

bool writer_row(struct writer *writer, size_t index, char *error)
{
    struct buffer line = {0};
    lines_put_row(record_head(writer->record), rows_at(record_rows(writer->record), index), &line);
    return save_line(writer, line, error);
}

bool writer_head(struct writer *writer, const char *name, char *error)
{
    struct buffer line = {0};
    lines_put_member(record_head(writer->record), name, &line);
    return save_line(writer, line, error);
}

/* Removes the file if nothing was ever written to it. */
static void remove_empty(const struct writer *writer)
{
    struct stat there;
    if (!writer->record && fstat(writer->file, &there) == 0 && there.st_size == 0)
        unlink(writer->path);
}

bool writer_close(struct writer *writer, char *error)
{
    if (!writer)
        return true;
    bool good = !writer->record || rewrite(writer, error);
    remove_empty(writer);
    close(writer->file);
    free_writer(writer);
    return good;
}
