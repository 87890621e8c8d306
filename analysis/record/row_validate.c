/*
 * Whether a row is complete: every field of the schema is there with its type, or null with a reason; there
 * is no other field, and no reason that explains nothing.
 */
#include "analysis/record/json.h"
#include "analysis/record/schema.h"

#include <string.h>

static const struct value *value_of_row(const struct row *row)
{
    return value_of_json(json_of_row(row));
}

static bool is_object(const struct row *row)
{
    return value_kind(value_of_row(row)) == VALUE_OBJECT;
}

/* Every leaf below `object` is a field. `prefix` is the object's path, empty for the row. */
static bool only_known_fields(const struct value *object, const char *prefix, char *error)
{
    for (struct walk w = value_walk(object); walk_next(&w);) {
        char path[SCHEMA_PATH];
        bool fits = snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", w.key) < SCHEMA_PATH;
        if (fits && strcmp(path, "reasons") == 0)
            continue;
        if (fits && value_kind(w.value) == VALUE_OBJECT && schema_is_group(path)) {
            if (!only_known_fields(w.value, path, error))
                return false;
        } else if (!fits || !schema_find(path)) {
            snprintf(error, MESSAGE_SIZE, "%s: no such field", path);
            return false;
        }
    }
    return true;
}

static bool is_number(const struct value *v)
{
    return value_kind(v) == VALUE_COUNT || value_kind(v) == VALUE_REAL;
}

static bool has_type(const struct value *v, enum field_type type)
{
    switch (type) {
    case FIELD_TEXT:
        return value_kind(v) == VALUE_TEXT;
    case FIELD_COUNT:
        return value_kind(v) == VALUE_COUNT;
    case FIELD_REAL:
        return is_number(v);
    case FIELD_REALS:
        break;
    }
    if (value_kind(v) != VALUE_ARRAY)
        return false;
    for (struct walk w = value_walk(v); walk_next(&w);)
        if (!is_number(w.value))
            return false;
    return true;
}

static bool every_field_is_there(const struct row *row, char *error)
{
    for (size_t i = 0; i < schema_fields_count; i++) {
        const struct field *f = &schema_fields[i];
        if (!row_has(row, f->path))
            snprintf(error, MESSAGE_SIZE, "%s: the field is missing", f->path);
        else if (row_is_null(row, f->path) && !row_reason(row, f->path))
            snprintf(error, MESSAGE_SIZE, "%s: null without a reason", f->path);
        else if (!row_is_null(row, f->path) && !has_type(value_get(value_of_row(row), f->path), f->type))
            snprintf(error, MESSAGE_SIZE, "%s: not %s", f->path, field_type_name(f->type));
        else
            continue;
        return false;
    }
    return true;
}

static bool explains_something(const struct row *row, const char *path)
{
    for (size_t i = 0; i < schema_fields_count; i++)
        if (schema_is_under(schema_fields[i].path, path) && row_is_null(row, schema_fields[i].path))
            return true;
    return false;
}

static bool reasons_are_sound(const struct row *row, char *error)
{
    const struct value *reasons = value_get(value_of_row(row), "reasons");
    if (reasons && value_kind(reasons) != VALUE_OBJECT) {
        snprintf(error, MESSAGE_SIZE, "reasons: not an object");
        return false;
    }
    for (struct walk w = value_walk(reasons); walk_next(&w);) {
        const char *reason;
        if (!value_read_text(w.value, &reason) || !*reason)
            snprintf(error, MESSAGE_SIZE, "reasons: %.*s: not a text, or empty", SCHEMA_PATH, w.key);
        else if (!explains_something(row, w.key))
            snprintf(error, MESSAGE_SIZE, "reasons: %.*s: no field of this path is null", SCHEMA_PATH, w.key);
        else
            continue;
        return false;
    }
    return true;
}

bool row_validate_status(const struct row *row, char *error)
{
    static const char *const allowed[] = {"ok", "skipped", "oom", "failed", "wrong"};
    const char *status = "", *reason = "";
    bool known = false;
    row_get_text(row, "status", &status);
    row_get_text(row, "reason", &reason);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        known = known || strcmp(status, allowed[i]) == 0;
    if (!is_object(row))
        snprintf(error, MESSAGE_SIZE, "not an object");
    else if (!known)
        snprintf(error, MESSAGE_SIZE, "status: %.40s is none of ok, skipped, oom, failed, wrong", status);
    else if (!row_is_ok(row) && !*reason)
        snprintf(error, MESSAGE_SIZE, "reason: a row that is %s needs one", status);
    else
        return true;
    return false;
}

bool row_validate(const struct row *row, char *error)
{
    if (is_object(row) && !(only_known_fields(value_of_row(row), "", error) &&
                            every_field_is_there(row, error) && reasons_are_sound(row, error)))
        return false;
    return row_validate_status(row, error);
}
