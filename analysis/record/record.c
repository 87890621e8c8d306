/* The record and its file. */
#include "analysis/record/record.h"

#include "analysis/record/file.h"
#include "analysis/record/json.h"
#include "analysis/record/schema.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

struct record {
    struct value *head;
    struct rows *rows;
};

/* Takes over both. */
static struct record *make(struct value *head, struct rows *rows)
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
    return make(head, rows_new());
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

/* Whether what stands beside the rows is sound, and every row is so to `row_is_sound`. */
static bool validate(const struct record *record, row_check *row_is_sound, char *error)
{
    if (!head_is_sound(record->head, error))
        return false;
    for (size_t i = 0; i < rows_count(record->rows); i++) {
        char wrong[MESSAGE_SIZE];
        if (!row_is_sound(rows_at(record->rows, i), wrong)) {
            snprintf(error, MESSAGE_SIZE, "row %zu: %.*s", i + 1, MESSAGE_SIZE / 2, wrong);
            return false;
        }
    }
    return true;
}

bool record_validate(const struct record *record, char *error)
{
    return validate(record, row_validate, error);
}

bool record_write(const struct record *record, FILE *out)
{
    json_t *all = json_copy(json_of_value(record->head)), *rows = json_array();
    for (size_t i = 0; i < rows_count(record->rows); i++)
        json_array_append(rows, json_of_row(rows_at(record->rows, i)));
    json_object_set_new(all, "rows", rows);
    bool good = value_write_indented(value_of_json(all), 1, out) && putc('\n', out) != EOF;
    json_decref(all);
    return good;
}

bool record_write_line(const struct record *record, const struct row *row, FILE *out)
{
    json_t *head = json_copy(json_of_value(record->head)), *line = json_copy(json_of_row(row));
    json_object_del(head, "fits");
    bool good = json_object_set_new(line, "record", head) == 0 && row_write(row_of_json(line), out);
    json_decref(line);
    return good;
}

static bool write_document(const void *document, FILE *out)
{
    return record_write(document, out);
}

bool record_save(const struct record *record, const char *path, char *error)
{
    return file_save(path, write_document, record, error);
}

/* The record that is a document, which is taken over; null with a message if it is none. */
static struct record *record_of(struct value *document, row_check *row_is_sound, char *error)
{
    json_t *rows = json_object_get(json_of_value(document), "rows");
    if (value_kind(document) != VALUE_OBJECT || !json_is_array(rows)) {
        bool object = value_kind(document) == VALUE_OBJECT;
        if (!object || head_is_sound(document, error))
            snprintf(error, MESSAGE_SIZE, "%s",
                     object ? "rows: missing, or not an array" : "not a result file: no JSON object");
        value_free(document);
        return NULL;
    }
    struct record *record = make(document, rows_new());
    for (size_t i = 0; i < json_array_size(rows); i++)
        rows_append(record->rows, row_of_json(json_incref(json_array_get(rows, i))));
    value_remove(document, "rows");
    if (validate(record, row_is_sound, error))
        return record;
    record_free(record);
    return NULL;
}

struct record *record_parse(const char *text, char *error)
{
    struct value *document = value_parse(text, error);
    return document ? record_of(document, row_validate, error) : NULL;
}

static struct record *load(const char *path, row_check *row_is_sound, char *error)
{
    char wrong[MESSAGE_SIZE];
    struct value *document = value_load(path, error);
    struct record *record = document ? record_of(document, row_is_sound, wrong) : NULL;
    if (document && !record)
        snprintf(error, MESSAGE_SIZE, "%.200s: %.*s", path, MESSAGE_SIZE / 2, wrong);
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

bool record_keep(const char *path, char *error)
{
    char ignored[MESSAGE_SIZE];
    struct stat there;
    if (stat(path, &there) != 0)
        return true;
    struct record *record = record_load(path, ignored);
    bool empty = record && rows_count(record->rows) == 0;
    record_free(record);
    return empty || there.st_size == 0 || file_keep(path, error);
}
