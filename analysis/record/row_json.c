#include "analysis/record/row.h"

#include "analysis/record/value_text.h"
#include "analysis/statistics/allocate.h"

#include <stdlib.h>
#include <string.h>

/* Records what is wrong, if it is the first flaw. */
static void add_flaw(struct row *row, const char *path, const char *wrong)
{
    if (!row->flaw)
        row->flaw = format_text("%.*s: %s", SCHEMA_PATH, path, wrong);
}

static bool read_item(void *item, enum field_type type, const struct value *v)
{
    return type == FIELD_REALS    ? value_read_real(v, item)
           : type == FIELD_COUNTS ? value_read_count(v, item)
                                  : value_read_text(v, item);
}

/* Adds the numbers of an array to a list with room for them. False if the field is not of such. */
static bool read_numbers(char *list, enum field_type type, const char *text, const struct spans *numbers)
{
    bool good = type != FIELD_TEXTS;
    for (size_t i = 0; good && i < numbers->count; i++) {
        const struct span *number = &numbers->list[i];
        int64_t count;
        good = type == FIELD_REALS || number->whole;
        if (type == FIELD_COUNTS && good) {
            count = strtoll(text + number->begin, NULL, 10);
            memcpy(list + i * ITEM, &count, ITEM);
        } else {
            memcpy(list + i * ITEM, &number->value, ITEM);
        }
    }
    return good;
}

static bool read_list_text(struct row *row, const struct field *f, const char *text)
{
    struct spans numbers = {0};
    char ignored[MESSAGE_SIZE];
    scan_json(text, strlen(text), false, &numbers, ignored);
    char *list = allocate(numbers.count, ITEM);
    bool good = read_numbers(list, f->type, text, &numbers);
    if (good)
        *field_items(row, f) = row_keep_items(row, list, numbers.count, f->type);
    free(numbers.list);
    free(list);
    return good;
}

static bool read_list(struct row *row, const struct field *f, const struct value *array)
{
    if (value_list_text(array))
        return read_list_text(row, f, value_list_text(array));
    size_t n = 0;
    bool good = value_kind(array) == VALUE_ARRAY;
    char *list = allocate(value_size(array), ITEM);
    for (struct walk w = value_walk(array); good && walk_next(&w); n++)
        good = read_item(list + n * ITEM, f->type, w.value);
    if (good)
        *field_items(row, f) = row_keep_items(row, list, n, f->type);
    free(list);
    return good;
}

static bool read_text(struct row *row, const struct field *f, const struct value *v)
{
    const char *text;
    bool good = value_read_text(v, &text);
    if (good)
        *field_text(row, f) = row_keep(row, text);
    return good;
}

static void read_field(struct row *row, const struct field *f, const struct value *v)
{
    char wrong[64];
    bool good = f->type == FIELD_TEXT    ? read_text(row, f, v)
                : f->type == FIELD_COUNT ? value_read_count(v, field_count(row, f))
                : f->type == FIELD_REAL  ? value_read_real(v, field_real(row, f))
                                         : read_list(row, f, v);
    if (good)
        return;
    snprintf(wrong, sizeof wrong, "not %s", field_type_name(f->type));
    add_flaw(row, f->path, wrong);
}

static void read_reasons(struct row *row, const struct value *reasons)
{
    const char *text;
    char now[SCHEMA_PATH];
    if (value_kind(reasons) != VALUE_OBJECT)
        add_flaw(row, "absent", "not an object");
    for (struct walk w = value_walk(reasons); walk_next(&w);)
        if (!w.key || !value_read_text(w.value, &text) || !*text)
            add_flaw(row, "absent", "not texts, or empty ones");
        else
            row_explain(row, schema_path_now(w.key, now), text);
}

/* Finds a field by path; usually it is the next in the schema. */
static const struct field *find_field(const char *path, size_t *next)
{
    bool in_order = *next < schema_fields_count && strcmp(schema_fields[*next].path, path) == 0;
    const struct field *field = in_order ? &schema_fields[*next] : schema_find(path);
    if (field)
        *next = (size_t)(field - schema_fields) + 1;
    return field;
}

/* Whether a path is a group of fields; usually it is that of one of the next in the schema. */
static bool is_group(const char *path, size_t next)
{
    const struct field *f = &schema_fields[next];
    for (size_t length = strlen(path); schema_has(f); f++)
        if (f->length > length && field_is_under(f, path, length))
            return true;
    return schema_is_group(path);
}

/* Writes "prefix.name", or the name alone; false if it is too long. As snprintf would, which takes longer
 * than the rest of the row. */
static bool join_path(char path[SCHEMA_PATH], const char *prefix, const char *name)
{
    size_t before = strlen(prefix), length = strlen(name), dot = before > 0;
    if (before + dot + length >= SCHEMA_PATH)
        return false;
    memcpy(path, prefix, before);
    memset(path + before, '.', dot);
    memcpy(path + before + dot, name, length + 1);
    return true;
}

/* Reads the fields under `object`, whose path is `prefix`, empty for the row. */
static void read_fields(struct row *row, const struct value *object, const char *prefix, size_t *next)
{
    for (struct walk w = value_walk(object); walk_next(&w);) {
        char path[SCHEMA_PATH], now[SCHEMA_PATH];
        const struct field *field = NULL;
        if (!join_path(path, prefix, w.key))
            continue;
        bool object = value_kind(w.value) == VALUE_OBJECT, absent = strcmp(path, "absent") == 0;
        if (object && !absent && is_group(path, *next)) {
            read_fields(row, w.value, path, next);
            continue;
        }
        field = find_field(path, next);
        if (!field && strstr(prefix, ".flops")) { /* a convention, without this group */
            if (snprintf(now, sizeof now, "%s.convention.%s", prefix,
                         strcmp(w.key, "seed") == 0 ? "simple" : w.key) < SCHEMA_PATH)
                field = find_field(now, next);
        } else if (!field && schema_path_now(path, now) != path) {
            field = find_field(now, next);
        }
        if (field && !field->is_derived)
            read_field(row, field, w.value);
        else if (absent)
            read_reasons(row, w.value);
    }
}

struct row *row_read(const struct value *object)
{
    struct row *row = row_new();
    size_t next = 0;
    if (value_kind(object) == VALUE_OBJECT)
        read_fields(row, object, "", &next);
    else
        add_flaw(row, "the row", "not an object");
    row_derive(row);
    return row;
}

static void add_real(struct buffer *out, double real)
{
    char text[VALUE_REAL_TEXT];
    value_format_real(text, real);
    buffer_string(out, text);
}

/* As printf would, which takes longer than the rest of the row. */
static void add_integer(struct buffer *out, int64_t count)
{
    char text[24], *at = text + sizeof text;
    uint64_t rest = count < 0 ? -(uint64_t)count : (uint64_t)count;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (count < 0)
        *--at = '-';
    buffer_put(out, at, (size_t)(text + sizeof text - at));
}

static void add_list(struct buffer *out, const struct items *items, enum field_type type)
{
    buffer_char(out, '[');
    for (size_t i = 0; i < items->count; i++) {
        if (i)
            buffer_char(out, ',');
        if (type == FIELD_REALS)
            add_real(out, items->reals[i]);
        else if (type == FIELD_COUNTS)
            add_integer(out, items->counts[i]);
        else
            value_put_text(items->texts[i], strlen(items->texts[i]), out);
    }
    buffer_char(out, ']');
}

static void add_value(struct buffer *out, const struct row *row, const struct field *f)
{
    if (f->type == FIELD_TEXT)
        value_put_text(*field_text(row, f), strlen(*field_text(row, f)), out);
    else if (f->type == FIELD_COUNT)
        add_integer(out, *field_count(row, f));
    else if (f->type == FIELD_REAL)
        add_real(out, *field_real(row, f));
    else
        add_list(out, field_items(row, f), f->type);
}

/* Begins a member: the first of its object follows the bracket. */
static void add_name(struct buffer *out, const char *name, size_t length)
{
    if (out->size > 0 && out->text[out->size - 1] != '{' && out->text[out->size - 1] != ',')
        buffer_char(out, ',');
    value_put_text(name, length, out);
    buffer_char(out, ':');
}

/* The length of the group of a path without the last `length` bytes, with its dot; 0 if there is none. */
static size_t group_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '.')
        length--;
    return length;
}

/* Those of a group follow one another in the schema. */
static void add_fields(const struct row *row, struct buffer *out)
{
    const char *path = "";
    size_t group = 0; /* the first bytes of `path`: the object that is open, "step.time." */
    for (const struct field *f = schema_fields; schema_has(f); f++) {
        if (f->is_derived || !row_has_field(row, f))
            continue;
        for (; strncmp(path, f->path, group) != 0; group = group_length(path, group - 1))
            buffer_char(out, '}');
        path = f->path;
        for (const char *dot; (dot = strchr(path + group, '.')); group = (size_t)(dot + 1 - path)) {
            add_name(out, path + group, (size_t)(dot - path) - group);
            buffer_char(out, '{');
        }
        add_name(out, path + group, f->length - group);
        add_value(out, row, f);
    }
    for (; group > 0; group = group_length(path, group - 1))
        buffer_char(out, '}');
}

static void add_reasons(const struct row *row, struct buffer *out)
{
    add_name(out, "absent", strlen("absent"));
    buffer_char(out, '{');
    for (size_t i = 0; i < row->reason_count; i++) {
        add_name(out, row->reasons[i].path, strlen(row->reasons[i].path));
        value_put_text(row->reasons[i].text, strlen(row->reasons[i].text), out);
    }
    buffer_char(out, '}');
}

void row_put_members(const struct row *row, struct buffer *out)
{
    add_fields(row, out);
    if (row->reason_count > 0)
        add_reasons(row, out);
}
