/*
 * Whether a row is complete: every field of the schema is there with its type, or null with a reason; there
 * is no other field, and no reason that explains nothing.
 */
#include "analysis/record/row.h"
#include "analysis/record/schema.h"

#include <string.h>

/* Every leaf below `object` is a field. `prefix` is the object's path, empty for the row. */
static bool only_known_fields(const json_t *object, const char *prefix, char *error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        char path[SCHEMA_PATH];
        bool fits = snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", key) < SCHEMA_PATH;
        if (fits && strcmp(path, "reasons") == 0)
            continue;
        if (fits && json_is_object(value) && schema_is_group(path)) {
            if (!only_known_fields(value, path, error))
                return false;
        } else if (!fits || !schema_find(path)) {
            snprintf(error, MESSAGE_SIZE, "%s: no such field", path);
            return false;
        }
    }
    return true;
}

static bool has_type(const json_t *value, enum field_type type)
{
    switch (type) {
    case FIELD_TEXT:
        return json_is_string(value);
    case FIELD_COUNT:
        return json_is_integer(value);
    case FIELD_REAL:
        return json_is_number(value);
    case FIELD_REALS:
        break;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_number(json_array_get(value, i)))
            return false;
    return json_is_array(value);
}

static bool every_field_is_there(const json_t *row, char *error)
{
    for (size_t i = 0; i < schema_fields_count; i++) {
        const struct field *f = &schema_fields[i];
        const json_t *value = row_get(row, f->path);
        if (!value)
            snprintf(error, MESSAGE_SIZE, "%s: the field is missing", f->path);
        else if (json_is_null(value) && !row_reason(row, f->path))
            snprintf(error, MESSAGE_SIZE, "%s: null without a reason", f->path);
        else if (!json_is_null(value) && !has_type(value, f->type))
            snprintf(error, MESSAGE_SIZE, "%s: not %s", f->path, field_type_name(f->type));
        else
            continue;
        return false;
    }
    return true;
}

static bool explains_something(const json_t *row, const char *path)
{
    for (size_t i = 0; i < schema_fields_count; i++)
        if (schema_is_under(schema_fields[i].path, path) && json_is_null(row_get(row, schema_fields[i].path)))
            return true;
    return false;
}

static bool reasons_are_sound(const json_t *row, char *error)
{
    json_t *reasons = json_object_get(row, "reasons"), *reason;
    const char *path;
    if (reasons && !json_is_object(reasons)) {
        snprintf(error, MESSAGE_SIZE, "reasons: not an object");
        return false;
    }
    json_object_foreach(reasons, path, reason)
    {
        if (!json_is_string(reason) || json_string_length(reason) == 0)
            snprintf(error, MESSAGE_SIZE, "reasons: %.*s: not a text, or empty", SCHEMA_PATH, path);
        else if (!explains_something(row, path))
            snprintf(error, MESSAGE_SIZE, "reasons: %.*s: no field of this path is null", SCHEMA_PATH, path);
        else
            continue;
        return false;
    }
    return true;
}

bool row_validate_status(const json_t *row, char *error)
{
    static const char *const allowed[] = {"ok", "skipped", "oom", "failed", "wrong"};
    const char *status = "", *reason = "";
    bool known = false;
    row_get_text(row, "status", &status);
    row_get_text(row, "reason", &reason);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        known = known || strcmp(status, allowed[i]) == 0;
    if (!json_is_object(row))
        snprintf(error, MESSAGE_SIZE, "not an object");
    else if (!known)
        snprintf(error, MESSAGE_SIZE, "status: %.40s is none of ok, skipped, oom, failed, wrong", status);
    else if (!row_is_ok(row) && !*reason)
        snprintf(error, MESSAGE_SIZE, "reason: a row that is %s needs one", status);
    else
        return true;
    return false;
}

bool row_validate(const json_t *row, char *error)
{
    if (json_is_object(row) && !(only_known_fields(row, "", error) && every_field_is_there(row, error) &&
                                 reasons_are_sound(row, error)))
        return false;
    return row_validate_status(row, error);
}
