/* Each line is one write. What a write that failed has left of its line is cut off again. */
#include "analysis/record/store.h"

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

struct store {
    char *path;
    int file;
    const struct record *record; /* null: not begun */
    bool behind;                 /* a line is missing: only writing the file anew helps */
    double synced;               /* when data was last flushed to disk */
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reports errno; returns false. */
static bool write_error(const struct store *store, char *error)
{
    snprintf(error, MESSAGE_SIZE, "%.300s: cannot be written: %s", store->path, strerror(errno));
    return false;
}

static void free_store(struct store *store)
{
    free(store->path);
    free(store);
}

struct store *store_open(const char *path, FILE *warnings, char *error)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store || !(store->path = strdup(path)))
        abort();
    switch (lock_take(path, &store->file)) {
    case LOCK_TAKEN:
        return store;
    case LOCK_UNKNOWN:
        fputs("warning: ", warnings);
        plain_put(warnings, path);
        fputs(": this file system has no locks: make sure that no other program writes the file\n", warnings);
        return store;
    case LOCK_HELD:
        snprintf(error, MESSAGE_SIZE, "%.300s: another program is writing this file", path);
        break;
    case LOCK_IMPOSSIBLE:
        snprintf(error, MESSAGE_SIZE, "%.300s: cannot be written: %s", path, strerror(errno));
        break;
    }
    free_store(store);
    return NULL;
}

/* Writes the file anew; the lock is then that of the new file. */
static bool write_anew(struct store *store, char *error)
{
    int file;
    if (!record_replace(store->record, store->path, &file, error))
        return false;
    close(store->file);
    store->file = file;
    store->behind = false;
    store->synced = seconds_now();
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
static bool append(struct store *store, const struct buffer *line, char *error)
{
    struct stat before;
    if (fstat(store->file, &before) == 0 && write_all(store->file, line->text, line->size))
        return true;
    write_error(store, error);
    (void)!ftruncate(store->file, before.st_size);
    return false;
}

/* Flushes data to disk, if the last time is long ago. */
static bool sync_sometimes(struct store *store, char *error)
{
    if (seconds_now() - store->synced < sync_seconds)
        return true;
    bool good = fdatasync(store->file) == 0 || write_error(store, error);
    store->synced = seconds_now();
    return good;
}

/* Adds a line, and frees it. */
static bool save_line(struct store *store, struct buffer line, char *error)
{
    bool good = store->behind ? write_anew(store, error) : append(store, &line, error);
    free(line.text);
    store->behind = !good;
    return good && sync_sometimes(store, error);
}

bool store_begin(struct store *store, const struct record *record, bool keep, char *error)
{
    store->record = record;
    return (!keep || record_keep(store->path, error)) && write_anew(store, error);
}

bool store_row(struct store *store, size_t index, char *error)
{
    struct buffer line = {0};
    lines_put_row(record_head(store->record), rows_at(record_rows(store->record), index), &line);
    return save_line(store, line, error);
}

bool store_head(struct store *store, const char *name, char *error)
{
    struct buffer line = {0};
    lines_put_member(record_head(store->record), name, &line);
    return save_line(store, line, error);
}

/* Removes the file if nothing was ever written to it. */
static void remove_empty(const struct store *store)
{
    struct stat there;
    if (!store->record && fstat(store->file, &there) == 0 && there.st_size == 0)
        unlink(store->path);
}

bool store_close(struct store *store, char *error)
{
    if (!store)
        return true;
    bool good = !store->record || write_anew(store, error);
    remove_empty(store);
    close(store->file);
    free_store(store);
    return good;
}
