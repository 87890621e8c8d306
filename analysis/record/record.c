/* The record and its file. */
#include "analysis/record/record.h"

#include "analysis/record/file.h"
#include "analysis/record/journal.h"
#include "analysis/record/row_fields.h"
#include "analysis/record/row_json.h"
#include "analysis/record/schema.h"
#include "analysis/record/value_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct record {
    struct value *head;
    struct rows *rows;
};

/* Takes ownership of both. */
static struct record *make_record(struct value *head, struct rows *rows)
{
    struct record *record = malloc(sizeof *record);
    if (!record) {
        fprintf(stderr, "record: no memory\n");
        abort();
    }
    *record = (struct record){head, rows};
    return record;
}

struct record *record_new(const char *benchmark, const char *command, struct value *context)
{
    time_t now = time(NULL);
    struct tm utc;
    char started[32];
    gmtime_r(&now, &utc);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    struct value *head = value_new_object();
    value_set_count(head, "schema", SCHEMA_VERSION);
    value_set_text(head, "benchmark", benchmark);
    value_set_text(head, "command", command);
    value_set_text(head, "started", started);
    for (struct walk w = value_walk(context); walk_next(&w);)
        value_set(head, w.key, value_copy(w.value));
    value_free(context);
    return make_record(head, rows_new());
}

void record_free(struct record *record)
{
    if (!record)
        return;
    value_free(record->head);
    rows_free(record->rows);
    free(record);
}

struct value *record_head(const struct record *record)
{
    return record->head;
}

const char *record_processor(const struct value *head)
{
    const char *text = "unknown processor";
    if (!value_get_text(head, "host.processor", &text) &&
        !value_get_text(value_at(value_get(head, "calibrations"), 0), "cpu", &text))
        value_get_text(head, "host.cpu", &text);
    return text;
}

struct rows *record_rows(const struct record *record)
{
    return record->rows;
}

bool record_put(struct record *record, size_t index, bool replace, struct row *row, char *error)
{
    if (!row_validate(row, error)) {
        row_free(row);
        return false;
    }
    if (replace)
        rows_replace(record->rows, index, row);
    else
        rows_insert(record->rows, index, row);
    return true;
}

bool record_add(struct record *record, struct row *row, char *error)
{
    return record_put(record, rows_count(record->rows), false, row, error);
}

static bool head_is_sound(const struct value *head, char *error)
{
    int64_t version;
    if (value_kind(head) != VALUE_OBJECT) {
        snprintf(error, MESSAGE_SIZE, "not a result file: no JSON object");
        return false;
    }
    if (!value_get_count(head, "schema", &version) || version != SCHEMA_VERSION) {
        snprintf(error, MESSAGE_SIZE, "schema: is not version %d", SCHEMA_VERSION);
        return false;
    }
    for (size_t i = 0; i < schema_head_count; i++) {
        const struct value *value = value_get(head, schema_head[i].name);
        if (!value && schema_head[i].optional)
            continue;
        if (!value || value_kind(value) != schema_head[i].kind) {
            snprintf(error, MESSAGE_SIZE, "%s: missing, or not of its type", schema_head[i].name);
            return false;
        }
    }
    return true;
}

typedef bool row_check(const struct row *row, char *error);

/* Whether row i is valid. */
static bool row_checks(const struct row *row, size_t i, row_check *row_is_sound, char *error)
{
    char wrong[MESSAGE_SIZE];
    if (row_is_sound(row, wrong))
        return true;
    snprintf(error, MESSAGE_SIZE, "row %zu: %.*s", i + 1, MESSAGE_SIZE / 2, wrong);
    return false;
}

bool record_validate(const struct record *record, char *error)
{
    if (!head_is_sound(record->head, error))
        return false;
    for (size_t i = 0; i < rows_count(record->rows); i++)
        if (!row_checks(rows_at(record->rows, i), i, row_validate, error))
            return false;
    return true;
}

/* Writes the head, formatted, without its closing bracket. */
static void write_head(const struct value *head, int indent, FILE *out)
{
    char *text = value_print(head);
    text[strlen(text) - 1] = '\0';
    value_lay_out(text, indent, 0, out);
    free(text);
}

bool record_write(const struct record *record, FILE *out)
{
    write_head(record->head, 1, out);
    fputs(",\n \"rows\": [", out);
    for (size_t i = 0; i < rows_count(record->rows); i++)
        fprintf(out, "%s\n  %s", i ? "," : "", row_json(rows_at(record->rows, i)));
    fprintf(out, "%s]\n}\n", rows_count(record->rows) ? "\n " : "");
    return !ferror(out);
}

bool record_write_line(const struct record *record, const struct row *row, FILE *out)
{
    struct value *head = value_copy(record->head);
    const char *json = row_json(row);
    char *members = strndup(json, (size_t)(strrchr(json, '}') - json));
    if (!members)
        abort();
    value_remove(head, "fits");
    value_lay_out(members, -1, 0, out);
    fputs(",\"record\":", out);
    value_write(head, out);
    fputs("}\n", out);
    free(members);
    value_free(head);
    return !ferror(out);
}

static bool write_document(const void *document, FILE *out)
{
    return record_write(document, out);
}

bool record_save(const struct record *record, const char *path, char *error)
{
    return file_save(path, write_document, record, error);
}

/* Reads the rows of an array, whose elements are at `spans` of the text. */
static struct rows *read_rows(const struct value *array, const char *text, const struct spans *spans)
{
    struct rows *rows = rows_new();
    size_t i = 0;
    for (struct walk w = value_walk(array); walk_next(&w); i++) {
        const struct span *at = &spans->list[i];
        rows_append(rows, row_read(w.value, text + at->begin, at->end - at->begin));
    }
    return rows;
}

static bool rows_check(const struct rows *rows, row_check *row_is_sound, char *error)
{
    for (size_t i = 0; i < rows_count(rows); i++)
        if (!row_checks(rows_at(rows, i), i, row_is_sound, error))
            return false;
    return true;
}

/* The text of a file, and of its journal, which may be null. */
struct texts {
    const char *file, *journal;
    size_t size, journal_size;
};

/* Parses a record; null with a message on failure. */
static struct record *parse(const struct texts *t, row_check *row_is_sound, char *error)
{
    struct scan found;
    struct record *record = NULL;
    struct value *document = value_read(t->file, t->size, "rows", &found, error),
                 *array = value_get(document, "rows");
    bool good = document && head_is_sound(document, error);
    if (good && value_kind(array) != VALUE_ARRAY)
        snprintf(error, MESSAGE_SIZE, "rows: missing, or not an array");
    else if (good)
        record = make_record(document, read_rows(array, t->file, &found.elements));
    scan_free(&found);
    if (!record) {
        value_free(document);
        return NULL;
    }
    value_remove(document, "rows");
    if (t->journal) {
        struct base base = base_of(t->file, t->size);
        journal_apply(t->journal, t->journal_size, &base, document, record->rows);
    }
    if (rows_check(record->rows, row_is_sound, error))
        return record;
    record_free(record);
    return NULL;
}

struct record *record_parse(const char *text, char *error)
{
    return parse(&(struct texts){.file = text, .size = strlen(text)}, row_validate, error);
}

/* Reads the file's journal; false with a message if there is one that cannot be read. */
static bool read_journal(const char *path, char **text, size_t *size, char *error)
{
    char *beside = journal_path(path);
    *text = file_read(beside, size, error);
    bool good = *text || errno == ENOENT || errno == ENOTDIR;
    free(beside);
    return good;
}

/*
 * Reads the journal before the file: if a writer merges them in between, the journal no longer belongs to the
 * file, which has its rows. The other way round these rows would be missed.
 */
static struct record *load(const char *path, row_check *row_is_sound, char *error)
{
    char wrong[MESSAGE_SIZE], *journal, *file;
    struct texts t = {0};
    if (!read_journal(path, &journal, &t.journal_size, error))
        return NULL;
    t.journal = journal;
    t.file = file = file_read(path, &t.size, error);
    struct record *record = file ? parse(&t, row_is_sound, wrong) : NULL;
    if (file && !record)
        snprintf(error, MESSAGE_SIZE, "%.200s: %.*s", path, MESSAGE_SIZE / 2, wrong);
    free(journal);
    free(file);
    return record;
}

struct record *record_load(const char *path, char *error)
{
    return load(path, row_validate, error);
}

struct record *record_load_any(const char *path, char *error)
{
    return load(path, row_validate_status, error);
}

/* Writes a record with its journal as the file at `path`. */
static bool merge(const struct record *record, const char *path, const char *journal, char *error)
{
    if (!record_save(record, path, error))
        return false;
    unlink(journal);
    return true;
}

bool record_keep(const char *path, char *error)
{
    enum { EMPTY_MOST = 1 << 18 }; /* bytes; a record without rows is smaller */
    char ignored[MESSAGE_SIZE], *journal = journal_path(path);
    struct stat there;
    bool good = true, keeps = stat(path, &there) == 0 && there.st_size > 0;
    bool unmerged = keeps && access(journal, F_OK) == 0;
    struct record *record =
        unmerged || (keeps && there.st_size < EMPTY_MOST) ? record_load_any(path, ignored) : NULL;
    if (record && rows_count(record->rows) == 0)
        keeps = false;
    else if (record && unmerged)
        good = merge(record, path, journal, error);
    record_free(record);
    free(journal);
    return good && (!keeps || file_keep(path, error));
}
