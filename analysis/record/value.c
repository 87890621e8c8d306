/* Values are Jansson's. */
#include "analysis/record/value.h"

#include "analysis/record/file.h"
#include "analysis/record/json.h"
#include "analysis/record/schema.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value, which there is unless memory is short. */
static struct value *made(json_t *json)
{
    if (!json) {
        fprintf(stderr, "value: no memory\n");
        abort();
    }
    return value_of_json(json);
}

struct value *value_new_null(void)
{
    return made(json_null());
}

struct value *value_new_flag(bool flag)
{
    return made(json_boolean(flag));
}

struct value *value_new_count(int64_t count)
{
    return made(json_integer(count));
}

struct value *value_new_real(double real)
{
    return made(isfinite(real) ? json_real(real) : json_null());
}

/* How many bytes the letter takes that a text begins with; 0 where that is no UTF-8. */
static size_t letter_length(const char *text)
{
    for (size_t length = 1; length <= 4 && text[length - 1]; length++) {
        json_t *letter = json_stringn(text, length);
        json_decref(letter);
        if (letter)
            return length;
    }
    return 0;
}

struct value *value_new_text(const char *value)
{
    json_t *text = json_string(value);
    char *copy = text ? NULL : strdup(value);
    for (char *at = copy; at && *at;) {
        size_t length = letter_length(at);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
    text = text ? text : json_string(copy);
    free(copy);
    return made(text);
}

struct value *value_new_array(void)
{
    return made(json_array());
}

struct value *value_new_object(void)
{
    return made(json_object());
}

struct value *value_copy(const struct value *v)
{
    return made(json_deep_copy(json_of_value(v)));
}

void value_free(struct value *v)
{
    json_decref(json_of_value(v));
}

enum value_kind value_kind(const struct value *v)
{
    static const enum value_kind kinds[] = {
        [JSON_OBJECT] = VALUE_OBJECT, [JSON_ARRAY] = VALUE_ARRAY, [JSON_STRING] = VALUE_TEXT,
        [JSON_INTEGER] = VALUE_COUNT, [JSON_REAL] = VALUE_REAL,   [JSON_TRUE] = VALUE_FLAG,
        [JSON_FALSE] = VALUE_FLAG,    [JSON_NULL] = VALUE_NULL,
    };
    return v ? kinds[json_typeof(json_of_value(v))] : VALUE_NULL;
}

bool value_equal(const struct value *a, const struct value *b)
{
    return a && b && json_equal(json_of_value(a), json_of_value(b));
}

void value_set(struct value *object, const char *key, struct value *v)
{
    if (json_object_set_new(json_of_value(object), key, json_of_value(v)) != 0) {
        fprintf(stderr, "value: %s: no memory, or not in an object\n", key);
        abort();
    }
}

void value_set_null(struct value *object, const char *key)
{
    value_set(object, key, value_new_null());
}

void value_set_flag(struct value *object, const char *key, bool flag)
{
    value_set(object, key, value_new_flag(flag));
}

void value_set_count(struct value *object, const char *key, int64_t count)
{
    value_set(object, key, value_new_count(count));
}

void value_set_real(struct value *object, const char *key, double real)
{
    value_set(object, key, value_new_real(real));
}

void value_set_text(struct value *object, const char *key, const char *text)
{
    value_set(object, key, value_new_text(text));
}

void value_remove(struct value *object, const char *key)
{
    json_object_del(json_of_value(object), key);
}

void value_append(struct value *array, struct value *v)
{
    if (json_array_append_new(json_of_value(array), json_of_value(v)) != 0) {
        fprintf(stderr, "value: no memory, or not an array\n");
        abort();
    }
}

void value_replace(struct value *array, size_t index, struct value *v)
{
    if (json_array_set_new(json_of_value(array), index, json_of_value(v)) != 0) {
        fprintf(stderr, "value: the array has no element %zu\n", index);
        abort();
    }
}

size_t value_size(const struct value *v)
{
    json_t *json = json_of_value(v);
    return json_is_object(json) ? json_object_size(json) : json_array_size(json);
}

json_t *json_at(const json_t *object, const char *path)
{
    char part[SCHEMA_PATH];
    for (size_t length; object && path; path = path[length] ? path + length + 1 : NULL) {
        length = strcspn(path, ".");
        if (length >= sizeof part)
            return NULL;
        memcpy(part, path, length);
        part[length] = '\0';
        object = json_object_get(object, part);
    }
    return (json_t *)object;
}

struct value *value_get(const struct value *object, const char *path)
{
    return value_of_json(json_at(json_of_value(object), path));
}

struct value *value_at(const struct value *array, size_t index)
{
    return value_of_json(json_array_get(json_of_value(array), index));
}

bool value_read_count(const struct value *v, int64_t *count)
{
    if (value_kind(v) != VALUE_COUNT)
        return false;
    *count = json_integer_value(json_of_value(v));
    return true;
}

bool value_read_real(const struct value *v, double *real)
{
    if (value_kind(v) != VALUE_REAL && value_kind(v) != VALUE_COUNT)
        return false;
    *real = json_number_value(json_of_value(v));
    return true;
}

bool value_read_text(const struct value *v, const char **text)
{
    if (value_kind(v) != VALUE_TEXT)
        return false;
    *text = json_string_value(json_of_value(v));
    return true;
}

bool value_get_count(const struct value *object, const char *path, int64_t *count)
{
    return value_read_count(value_get(object, path), count);
}

bool value_get_real(const struct value *object, const char *path, double *real)
{
    return value_read_real(value_get(object, path), real);
}

bool value_get_text(const struct value *object, const char *path, const char **text)
{
    return value_read_text(value_get(object, path), text);
}

struct walk value_walk(const struct value *v)
{
    return (struct walk){.of = v};
}

bool walk_next(struct walk *w)
{
    json_t *json = json_of_value(w->of);
    if (json_is_object(json)) {
        w->at = w->at ? json_object_iter_next(json, w->at) : json_object_iter(json);
        w->key = json_object_iter_key(w->at);
        w->value = value_of_json(json_object_iter_value(w->at));
    } else {
        w->value = value_of_json(json_array_get(json, w->index++));
    }
    return w->value;
}

struct value *value_parse(const char *text, char *error)
{
    json_error_t problem;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
    if (!json)
        snprintf(error, MESSAGE_SIZE, "not JSON: line %d: %s", problem.line, problem.text);
    return value_of_json(json);
}

struct value *value_load(const char *path, char *error)
{
    json_error_t problem;
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(error, MESSAGE_SIZE, "%.300s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    json_t *json = json_loadf(file, JSON_REJECT_DUPLICATES, &problem);
    fclose(file);
    if (!json)
        snprintf(error, MESSAGE_SIZE, "%.200s: not JSON: line %d: %s", path, problem.line, problem.text);
    return value_of_json(json);
}

bool value_write(const struct value *v, FILE *out)
{
    return json_dumpf(json_of_value(v), out, JSON_COMPACT | JSON_STYLE) == 0;
}

bool value_write_indented(const struct value *v, int indent, FILE *out)
{
    return json_dumpf(json_of_value(v), out, JSON_INDENT((size_t)indent) | JSON_STYLE) == 0;
}

char *value_print(const struct value *v)
{
    char *text = json_dumps(json_of_value(v), JSON_COMPACT | JSON_STYLE);
    if (!text)
        abort();
    return text;
}

struct indented {
    const struct value *value;
    int indent;
};

static bool write_document(const void *document, FILE *out)
{
    const struct indented *d = document;
    return value_write_indented(d->value, d->indent, out) && putc('\n', out) != EOF;
}

bool value_save(const struct value *v, const char *path, int indent, char *error)
{
    return file_save(path, write_document, &(struct indented){v, indent}, error);
}

void value_format_real(char text[VALUE_REAL_TEXT], double real)
{
    struct value *v = value_new_real(real);
    char *printed = value_print(v);
    snprintf(text, VALUE_REAL_TEXT, "%s", printed);
    free(printed);
    value_free(v);
}
