/*
 * A whole save is flushed to disk before the journal is removed, and a new journal is a new file: at no
 * moment is a saved row in neither of them, and who reads the old journal meanwhile is not disturbed.
 */
#include "analysis/record/store.h"

#include "analysis/record/file.h"
#include "analysis/record/journal.h"
#include "analysis/record/lock.h"
#include "analysis/record/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double sync_seconds = 1, merge_seconds = 10;

struct store {
    char *path, *journal_path, *lock_path;
    int lock;
    const struct record *record; /* null: not begun */
    int journal;                 /* -1: nothing was added since the file was written */
    size_t written, whole;       /* bytes of the journal and of the file */
    bool behind;                 /* a change is missing in the journal: only a whole save helps */
    double synced, merged;       /* when data was last flushed to disk, and the file was written */
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
    free(store->journal_path);
    free(store->lock_path);
    free(store);
}

struct store *store_open(const char *path, FILE *warnings, char *error)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store || !(store->path = strdup(path)) || asprintf(&store->lock_path, "%s.lock", path) < 0)
        abort();
    store->journal_path = journal_path(path);
    store->journal = -1;
    switch (lock_take(store->lock_path, &store->lock)) {
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
        snprintf(error, MESSAGE_SIZE, "%.300s: cannot be opened: %s", store->lock_path, strerror(errno));
        break;
    }
    free_store(store);
    return NULL;
}

static void close_journal(struct store *store)
{
    if (store->journal >= 0)
        close(store->journal);
    store->journal = -1;
}

/* Removes the journal, which the file now contains. */
static bool drop_journal(struct store *store, char *error)
{
    close_journal(store);
    return unlink(store->journal_path) == 0 || errno == ENOENT || write_error(store, error);
}

/* Writes the file whole. */
static bool save_whole(struct store *store, char *error)
{
    bool good = record_save(store->record, store->path, error) && drop_journal(store, error);
    store->synced = store->merged = seconds_now();
    return good;
}

bool store_begin(struct store *store, const struct record *record, bool keep, char *error)
{
    if (keep && !record_keep(store->path, error))
        return false;
    store->record = record;
    return save_whole(store, error);
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

/* Appends to the journal, and leaves no part of it there if that fails. */
static bool append_line(struct store *store, const char *text, size_t size, char *error)
{
    if (!write_all(store->journal, text, size)) {
        write_error(store, error);
        (void)!ftruncate(store->journal, (off_t)store->written);
        return false;
    }
    store->written += size;
    return true;
}

/* Creates the journal, if there is none. */
static bool need_journal(struct store *store, char *error)
{
    struct base base;
    char line[JOURNAL_BASE], ignored[MESSAGE_SIZE];
    if (store->journal >= 0)
        return true;
    if (!base_of_file(store->path, &base, error))
        return false;
    store->whole = base.bytes;
    store->written = 0;
    store->journal = open(store->journal_path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (store->journal < 0)
        return write_error(store, error);
    if (append_line(store, line, journal_base_line(&base, line), error))
        return true;
    drop_journal(store, ignored);
    return false;
}

/* Merges the journal if it is long, and flushes data to disk, neither too often. */
static bool tidy(struct store *store, char *error)
{
    double now = seconds_now();
    if (now - store->merged >= merge_seconds && store->written >= store->whole)
        return save_whole(store, error);
    if (now - store->synced < sync_seconds)
        return true;
    bool good = fdatasync(store->journal) == 0 || write_error(store, error);
    store->synced = seconds_now();
    return good;
}

/* Adds a line, and frees it. */
static bool save_line(struct store *store, struct buffer line, char *error)
{
    bool good = store->behind ? save_whole(store, error)
                              : need_journal(store, error) && append_line(store, line.text, line.size, error);
    free(line.text);
    store->behind = !good;
    return good && tidy(store, error);
}

bool store_row(struct store *store, size_t index, bool replaced, char *error)
{
    struct buffer line = {0};
    journal_put_row(index, replaced, rows_at(record_rows(store->record), index), &line);
    return save_line(store, line, error);
}

bool store_head(struct store *store, const char *name, char *error)
{
    struct buffer line = {0};
    journal_put_head(name, value_get(record_head(store->record), name), &line);
    return save_line(store, line, error);
}

bool store_close(struct store *store, char *error)
{
    if (!store)
        return true;
    bool good = !store->record || save_whole(store, error);
    close_journal(store);
    lock_release(store->lock_path, store->lock);
    free_store(store);
    return good;
}

void store_state(const char *path, char state[STORE_STATE])
{
    char *journal = journal_path(path);
    struct stat file = {0}, added = {0};
    stat(path, &file);
    stat(journal, &added);
    snprintf(state, STORE_STATE, "%ju %jd %jd.%09ld, %ju %jd", (uintmax_t)file.st_ino, (intmax_t)file.st_size,
             (intmax_t)file.st_mtim.tv_sec, file.st_mtim.tv_nsec, (uintmax_t)added.st_ino,
             (intmax_t)added.st_size);
    free(journal);
}
