#include "analysis/record/result_file.h"

#include "analysis/record/file.h"
#include "analysis/record/plain.h"
#include "analysis/record/row_json.h"
#include "analysis/record/value_text.h"

#include <stdlib.h>
#include <string.h>

bool record_write_lines(const struct record *record, FILE *out)
{
    struct buffer lines = {0};
    lines_put(record, &lines);
    fwrite(lines.text, 1, lines.size, out);
    free(lines.text);
    return !ferror(out);
}

static bool write_lines(const void *record, FILE *out)
{
    return record_write_lines(record, out);
}

bool record_replace(const struct record *record, const char *path, int *file, char *error)
{
    return file_replace(path, write_lines, record, file, error);
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
    for (struct walk w = value_walk(array); walk_next(&w);) {
        struct row *row = row_read(w.value);
        row->id = (int64_t)rows_count(record_rows(record));
        rows_append(record_rows(record), row);
    }
    value_remove(document, "rows");
    return record;
}

/* Whether the text begins with a line of a result file: its first member is the kind. */
static bool has_lines(const char *text, size_t size)
{
    static const char kind[] = "\"kind\"";
    size_t at = 0;
    while (at < size && strchr(" \t{", text[at]) && text[at])
        at++;
    return size - at >= sizeof kind - 1 && memcmp(text + at, kind, sizeof kind - 1) == 0;
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
    runs->list = malloc(sizeof *runs->list);
    if (!runs->list)
        abort();
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
    size_t size;
    char ignored[MESSAGE_SIZE], *text = file_read(path, &size, ignored);
    bool empty = !text || size == 0 || (has_lines(text, size) && !strstr(text, "\n{\"kind\":\"row\""));
    free(text);
    return empty || file_keep(path, error);
}

size_t record_name_length(const char *path)
{
    const char *dot = strrchr(path, '.');
    bool ends = dot && dot != path && (strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".json") == 0);
    return ends ? (size_t)(dot - path) : strlen(path);
}
