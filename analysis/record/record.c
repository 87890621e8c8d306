/* The record and its file. */
#include "analysis/record/record.h"

#include "analysis/record/value_text.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct record {
    struct value *head;
    struct rows *rows;
    int64_t next_id; /* of a row; 0: not known yet */
};

void utc_now(char text[UTC_TEXT])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, UTC_TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* A name that no other run has: when it began, its process, and a random number. */
enum { RUN_NAME = 64 };
static const char *name_run(const char *started, char name[RUN_NAME])
{
    uint32_t random = 0;
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    snprintf(name, RUN_NAME, "%s-%ld-%08x", started, (long)getpid(), random);
    return name;
}

struct record *record_of_head(struct value *head)
{
    struct record *record = allocate(1, sizeof *record);
    *record = (struct record){.head = head, .rows = rows_new()};
    return record;
}

/* A copy with the names of this version. */
static struct value *renamed(const struct value *v)
{
    bool object = value_kind(v) == VALUE_OBJECT;
    if (!object && value_kind(v) != VALUE_ARRAY)
        return value_copy(v);
    struct value *copy = object ? value_new_object() : value_new_array();
    char now[SCHEMA_PATH];
    for (struct walk w = value_walk(v); walk_next(&w);)
        if (object)
            value_set(copy, schema_path_now(w.key, now), renamed(w.value));
        else
            value_append(copy, renamed(w.value));
    return copy;
}

void record_rename(struct record *record)
{
    static const char *const members[] = {"fits", "settings"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (value_get(record->head, members[i]))
            value_set(record->head, members[i], renamed(value_get(record->head, members[i])));
}

struct record *record_new(const char *benchmark, const char *command, struct value *context)
{
    char started[UTC_TEXT], run[RUN_NAME];
    utc_now(started);
    struct value *head = value_new_object();
    value_set_count(head, "schema", SCHEMA_VERSION);
    value_set_text(head, "benchmark", benchmark);
    value_set_text(head, "command", command);
    value_set_text(head, "started", started);
    for (struct walk w = value_walk(context); walk_next(&w);)
        value_set(head, w.key, value_copy(w.value));
    value_set_text(head, "run", name_run(started, run));
    value_free(context);
    return record_of_head(head);
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

/* An id above those of all rows. */
static int64_t next_id(struct record *record)
{
    int64_t last = record->next_id - 1;
    for (size_t i = 0; record->next_id == 0 && i < rows_count(record->rows); i++)
        last = rows_at(record->rows, i)->id > last ? rows_at(record->rows, i)->id : last;
    record->next_id = last + 2;
    return last + 1;
}

bool record_put(struct record *record, size_t index, bool replace, struct row *row, char *error)
{
    if (!row_validate(row, error)) {
        row_free(row);
        return false;
    }
    row->id = replace ? rows_at(record->rows, index)->id : next_id(record);
    if (replace)
        rows_replace(record->rows, index, row);
    else
        rows_insert(record->rows, index, row);
    return true;
}

static bool head_is_sound(const struct value *head, char *error)
{
    int64_t version;
    if (value_kind(head) != VALUE_OBJECT) {
        snprintf(error, MESSAGE_SIZE, "not a result file: no JSON object");
        return false;
    }
    if (!value_get_count(head, "schema", &version) || version != SCHEMA_VERSION) {
        snprintf(error, MESSAGE_SIZE, "written by another version: its schema is not %d", SCHEMA_VERSION);
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

bool record_validate(const struct record *record, char *error)
{
    char wrong[MESSAGE_SIZE];
    if (!head_is_sound(record->head, error))
        return false;
    for (size_t i = 0; i < rows_count(record->rows); i++)
        if (!row_validate(rows_at(record->rows, i), wrong)) {
            snprintf(error, MESSAGE_SIZE, "row %zu: %.400s", i + 1, wrong);
            return false;
        }
    return true;
}

bool record_write(const struct record *record, FILE *out)
{
    char *head = value_print(record->head);
    head[strlen(head) - 1] = '\0';
    value_lay_out(head, 1, 0, out);
    free(head);
    fputs(",\n \"rows\": [", out);
    for (size_t i = 0; i < rows_count(record->rows); i++) {
        struct buffer row = {0};
        row_put_members(rows_at(record->rows, i), &row);
        fprintf(out, "%s\n  {%.*s}", i ? "," : "", (int)row.size, row.text ? row.text : "");
        free(row.text);
    }
    fprintf(out, "%s]\n}\n", rows_count(record->rows) ? "\n " : "");
    return !ferror(out);
}
