#include "analysis/record/result_file.h"

#include "analysis/record/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool record_write_lines(const void *record, FILE *out)
{
    struct buffer lines = {0};
    lines_put(record, &lines);
    fwrite(lines.text, 1, lines.size, out);
    free(lines.text);
    return !ferror(out);
}

bool record_replace(const struct record *record, const char *path, int *file, char *error)
{
    return file_replace(path, record_write_lines, record, file, error);
}

bool record_save(const struct record *record, const char *path, char *error)
{
    return record_replace(record, path, NULL, error);
}

/* A document, as record_write writes it; null with a message. */
static struct record *parse_document(const char *text, size_t size, char *error)
{
    struct value *document = value_parse_part(text, size, error), *array = value_get(document, "rows");
    bool good = value_kind(array) == VALUE_ARRAY;
    if (document && !good)
        snprintf(error, MESSAGE_SIZE, "no result file: it has no lines, and no rows");
    if (!good) {
        value_free(document);
        return NULL;
    }
    struct record *record = record_of_head(document);
    record_rename(record);
    for (struct walk w = value_walk(array); walk_next(&w);) {
        struct row_line line;
        char *row_text = value_print(w.value);
        struct row *row = row_read(row_text, strlen(row_text), &line, error);
        row->id = (int64_t)rows_count(record_rows(record));
        row_line_free(&line);
        free(row_text);
        rows_append(record_rows(record), row);
    }
    value_remove(document, "rows");
    return record;
}

/* Whether the text begins with a line of a result file: an object with a kind among its members. */
static bool has_lines(const char *text, size_t size)
{
    char ignored[MESSAGE_SIZE];
    const char *end = memchr(text, '\n', size);
    struct value *line = value_parse_part(text, end ? (size_t)(end - text) : size, ignored);
    bool has = value_get(line, "kind");
    value_free(line);
    return has;
}

static bool all_sound(const struct file_runs *runs, char *error)
{
    for (size_t i = 0; i < runs->count; i++)
        if (!record_validate(runs->list[i], error))
            return false;
    return true;
}

static bool parse_runs(const char *text, size_t size, struct file_runs *runs, char *error)
{
    if (has_lines(text, size))
        return lines_read(text, size, runs, error) && all_sound(runs, error);
    *runs = (struct file_runs){.whole = size};
    struct record *record = parse_document(text, size, error);
    if (!record)
        return false;
    runs->list = allocate(1, sizeof *runs->list);
    runs->list[runs->count++] = record;
    return all_sound(runs, error);
}

/* The only run, which is taken out; null with a message if there are several. */
static struct record *only_run(struct file_runs *runs, char *error)
{
    if (runs->count > 1) {
        snprintf(error, MESSAGE_SIZE, "has %zu runs: build/merge joins them", runs->count);
        return NULL;
    }
    runs->count = 0;
    return runs->list[0];
}

struct record *record_parse(const char *text, char *error)
{
    struct file_runs runs;
    bool good = parse_runs(text, strlen(text), &runs, error);
    struct record *record = good ? only_run(&runs, error) : NULL;
    runs_free(&runs);
    return record;
}

bool runs_load(const char *path, struct file_runs *runs, FILE *notes, char *error)
{
    char wrong[MESSAGE_SIZE];
    size_t size;
    char *text = file_read(path, &size, error);
    *runs = (struct file_runs){0};
    if (!text)
        return false;
    bool good = parse_runs(text, size, runs, wrong);
    if (!good)
        snprintf(error, MESSAGE_SIZE, "%.200s: %.*s", path, MESSAGE_SIZE / 2, wrong);
    else if (runs->whole < size && notes) {
        fputs("note: ", notes);
        plain_put(notes, path);
        fputs(": its last line is not whole, and is left out\n", notes);
    }
    free(text);
    return good;
}

struct record *record_load(const char *path, char *error)
{
    struct file_runs runs;
    char wrong[MESSAGE_SIZE];
    struct record *record = NULL;
    if (runs_load(path, &runs, stderr, error) && !(record = only_run(&runs, wrong)))
        snprintf(error, MESSAGE_SIZE, "%.200s: %.*s", path, MESSAGE_SIZE / 2, wrong);
    runs_free(&runs);
    return record;
}

bool record_keep(const char *path, char *error)
{
    struct file_runs runs = {0};
    size_t size, rows = 0;
    char ignored[MESSAGE_SIZE], *text = file_read(path, &size, ignored);
    bool read = text && size > 0 && parse_runs(text, size, &runs, ignored), empty = !text || size == 0;
    for (size_t i = 0; i < runs.count; i++)
        rows += rows_count(record_rows(runs.list[i]));
    empty = empty || (read && rows == 0);
    runs_free(&runs);
    free(text);
    return empty || file_keep(path, error);
}

size_t record_name_length(const char *path)
{
    const char *dot = strrchr(path, '.');
    bool ends = dot && dot != path && (strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".json") == 0);
    return ends ? (size_t)(dot - path) : strlen(path);
}

/* --- growing: each line is one write, and what a write that failed has left of it is cut off again */

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

static void free_writer(struct writer *writer)
{
    free(writer->path);
    free(writer);
}

struct writer *writer_open(const char *path, FILE *warnings, char *error)
{
    struct writer *writer = allocate(1, sizeof *writer);
    writer->path = copied(path);
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
        file_failed(path, error);
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
static bool append_line(struct writer *writer, const struct buffer *line, char *error)
{
    struct stat before;
    if (fstat(writer->file, &before) == 0 && write_all(writer->file, line->text, line->size))
        return true;
    file_failed(writer->path, error);
    (void)!ftruncate(writer->file, before.st_size);
    return false;
}

/* Flushes data to disk, if the last time is long ago. */
static bool sync_sometimes(struct writer *writer, char *error)
{
    if (seconds_now() - writer->synced < sync_seconds)
        return true;
    bool good = fdatasync(writer->file) == 0 || file_failed(writer->path, error);
    writer->synced = seconds_now();
    return good;
}

/* Adds a line, and frees it. */
static bool save_line(struct writer *writer, struct buffer line, char *error)
{
    bool good = writer->behind ? rewrite(writer, error) : append_line(writer, &line, error);
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

bool writer_close(struct writer *writer, char *error)
{
    if (!writer)
        return true;
    struct stat there;
    bool good = !writer->record || rewrite(writer, error);
    if (!writer->record && fstat(writer->file, &there) == 0 && there.st_size == 0)
        unlink(writer->path); /* nothing was ever written to it */
    close(writer->file);
    free_writer(writer);
    return good;
}
