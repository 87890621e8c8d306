/*
 * A number is a raw item: its text as in the file, and its value as a double. The text tells counts from
 * reals, and holds 64 bits exactly.
 */
#include "analysis/record/value.h"

#include "analysis/record/json.h"
#include "analysis/record/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void value_misuse(const char *what)
{
    fprintf(stderr, "value: %s, or no memory\n", what);
    abort();
}

/* Checks a new value; aborts if out of memory. */
static struct value *made(cJSON *json)
{
    if (!json)
        value_misuse("not made");
    return value_of(json);
}

struct value *value_new_null(void)
{
    return made(cJSON_CreateNull());
}

struct value *value_new_flag(bool flag)
{
    return made(cJSON_CreateBool(flag));
}

static struct value *number(const char *text, double value)
{
    struct value *v = made(cJSON_CreateRaw(text));
    json_of(v)->valuedouble = value;
    return v;
}

struct value *value_new_count(int64_t count)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)count);
    return number(text, (double)count);
}

struct value *value_new_real(double real)
{
    char text[VALUE_REAL_TEXT];
    if (!isfinite(real))
        return value_new_null();
    value_format_real(text, real);
    return number(text, real);
}

struct value *value_new_text(const char *text)
{
    char *copy = scan_clean(text);
    struct value *v = made(copy ? cJSON_CreateString(copy) : NULL);
    free(copy);
    return v;
}

struct value *value_new_array(void)
{
    return made(cJSON_CreateArray());
}

struct value *value_new_object(void)
{
    return made(cJSON_CreateObject());
}

struct value *value_copy(const struct value *v)
{
    return made(cJSON_Duplicate(json_of(v), true));
}

void value_free(struct value *v)
{
    cJSON_Delete(json_of(v));
}

enum value_kind value_kind(const struct value *v)
{
    const cJSON *json = json_of(v);
    if (cJSON_IsRaw(json))
        return scan_is_integer(json->valuestring) ? VALUE_COUNT : VALUE_REAL;
    return cJSON_IsString(json)   ? VALUE_TEXT
           : cJSON_IsArray(json)  ? VALUE_ARRAY
           : cJSON_IsObject(json) ? VALUE_OBJECT
           : cJSON_IsBool(json)   ? VALUE_FLAG
                                  : VALUE_NULL;
}

/* Compares members by name, elements by index. */
static bool equal_parts(const cJSON *a, const cJSON *b)
{
    const cJSON *x, *y = b->child;
    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b))
        return false;
    cJSON_ArrayForEach(x, a)
    {
        const cJSON *other = cJSON_IsObject(b) ? cJSON_GetObjectItemCaseSensitive(b, x->string) : y;
        if (!value_equal(value_of(x), value_of(other)))
            return false;
        y = y->next;
    }
    return true;
}

bool value_equal(const struct value *a, const struct value *b)
{
    int64_t m, n;
    enum value_kind kind = value_kind(a);
    if (!a || !b || kind != value_kind(b))
        return false;
    switch (kind) {
    case VALUE_NULL:
        return true;
    case VALUE_FLAG:
        return cJSON_IsTrue(json_of(a)) == cJSON_IsTrue(json_of(b));
    case VALUE_COUNT:
        return value_read_count(a, &m) && value_read_count(b, &n) && m == n;
    case VALUE_REAL:
        return json_of(a)->valuedouble == json_of(b)->valuedouble;
    case VALUE_TEXT:
        return strcmp(json_of(a)->valuestring, json_of(b)->valuestring) == 0;
    default:
        return equal_parts(json_of(a), json_of(b));
    }
}

void value_set(struct value *object, const char *key, struct value *v)
{
    cJSON *json = json_of(object);
    bool there = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!v || !cJSON_IsObject(json) ||
        !(there ? cJSON_ReplaceItemInObjectCaseSensitive(json, key, json_of(v))
                : cJSON_AddItemToObject(json, key, json_of(v))))
        value_misuse("not a member of an object");
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
    cJSON_DeleteItemFromObjectCaseSensitive(json_of(object), key);
}

void value_append(struct value *array, struct value *v)
{
    if (!v || !cJSON_IsArray(json_of(array)) || !cJSON_AddItemToArray(json_of(array), json_of(v)))
        value_misuse("not an element of an array");
}

size_t value_size(const struct value *v)
{
    return (size_t)cJSON_GetArraySize(json_of(v));
}

/* The member with this name, of `length` bytes. */
static const cJSON *member(const cJSON *object, const char *name, size_t length)
{
    const cJSON *m = cJSON_IsObject(object) ? object->child : NULL;
    while (m && (strncmp(m->string, name, length) != 0 || m->string[length]))
        m = m->next;
    return m;
}

struct value *value_get(const struct value *object, const char *path)
{
    const cJSON *at = json_of(object);
    while (at && path) {
        size_t length = strcspn(path, ".");
        at = member(at, path, length);
        path = path[length] ? path + length + 1 : NULL;
    }
    return value_of(at);
}

struct value *value_at(const struct value *array, size_t index)
{
    return cJSON_IsArray(json_of(array)) ? value_of(cJSON_GetArrayItem(json_of(array), (int)index)) : NULL;
}

bool value_read_count(const struct value *v, int64_t *count)
{
    if (value_kind(v) != VALUE_COUNT)
        return false;
    *count = strtoll(json_of(v)->valuestring, NULL, 10);
    return true;
}

bool value_read_real(const struct value *v, double *real)
{
    if (!cJSON_IsRaw(json_of(v)))
        return false;
    *real = json_of(v)->valuedouble;
    return true;
}

bool value_read_text(const struct value *v, const char **text)
{
    if (!cJSON_IsString(json_of(v)))
        return false;
    *text = json_of(v)->valuestring;
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

const char *value_text_or(const struct value *object, const char *path, const char *otherwise)
{
    value_get_text(object, path, &otherwise);
    return otherwise;
}

bool value_copy_text(const struct value *object, const char *path, char *text, size_t size)
{
    const char *value;
    return value_get_text(object, path, &value) && (size_t)snprintf(text, size, "%s", value) < size;
}

struct walk value_walk(const struct value *v)
{
    return (struct walk){.next = v ? value_of(json_of(v)->child) : NULL, .named = cJSON_IsObject(json_of(v))};
}

bool walk_next(struct walk *w)
{
    w->value = w->next;
    if (!w->value)
        return false;
    w->key = w->named ? json_of(w->value)->string : NULL;
    w->next = value_of(json_of(w->value)->next);
    return true;
}
