/* Dotted paths become nested objects: {"step": {"properties": {"time": {"properties": {"median": ...}}}}}. */
#include "tests/schema_json.h"

#include "analysis/record/schema.h"

#include <string.h>

static struct value *texts(const char *const *list)
{
    struct value *array = value_new_array();
    for (; *list; list++)
        value_append(array, value_new_text(*list));
    return array;
}

/* An object with one member. */
static struct value *one(const char *key, const char *text)
{
    struct value *object = value_new_object();
    value_set_text(object, key, text);
    return object;
}

static struct value *reference(const char *to)
{
    return one("$ref", to);
}

/* A list of one element. */
static struct value *only(struct value *v)
{
    struct value *array = value_new_array();
    value_append(array, v);
    return array;
}

/* An object without properties that allows no others. */
static struct value *closed_object(void)
{
    struct value *object = one("type", "object");
    value_set(object, "properties", value_new_object());
    value_set_flag(object, "additionalProperties", false);
    return object;
}

/* The schema of a field: its type, or null. */
static struct value *value_schema(const struct field *f)
{
    static const char *const types[] = {
        [FIELD_TEXT] = "string",  [FIELD_COUNT] = "integer",  [FIELD_REAL] = "number",
        [FIELD_TEXTS] = "string", [FIELD_COUNTS] = "integer", [FIELD_REALS] = "number"};
    const char *type = is_list(f->type) ? "array" : types[f->type];
    char description[1024];
    struct value *schema = value_new_object();
    snprintf(description, sizeof description, "%s%s%s", f->meaning,
             *f->unit && f->type != FIELD_TEXT ? "; in " : "", f->type != FIELD_TEXT ? f->unit : "");
    value_set_text(schema, "type", type);
    if (is_list(f->type))
        value_set(schema, "items", one("type", types[f->type]));
    value_set_text(schema, "description", description);
    return schema;
}

/* Adds a field's schema at its path below an object's. */
static void add_field(struct value *object, const struct field *f)
{
    const char *path = f->path;
    for (;;) {
        struct value *properties = value_get(object, "properties");
        char part[SCHEMA_PATH];
        size_t length = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        if (!path[length]) {
            value_set(properties, part, value_schema(f));
            return;
        }
        if (!value_get(properties, part))
            value_set(properties, part, closed_object());
        object = value_get(properties, part);
        path += length + 1;
    }
}

static struct value *reasons_schema(void)
{
    struct value *reasons = one("type", "object"), *reason = one("type", "string");
    value_set_count(reason, "minLength", 1);
    value_set(reasons, "additionalProperties", reason);
    value_set_text(reasons, "description", "why a field, or a group of them, is absent");
    return reasons;
}

/* The fields of a table as one object. */
static struct value *object_of(const struct field *fields, size_t count)
{
    struct value *object = closed_object();
    for (size_t i = 0; i < count; i++)
        add_field(object, &fields[i]);
    value_set(value_get(object, "properties"), "absent", reasons_schema());
    return object;
}

/* At the top level other fields are allowed. */
static struct value *fields_schema(void)
{
    struct value *fields = object_of(schema_fields, schema_fields_count);
    value_set(value_get(fields, "properties.status"), "enum",
              texts((const char *const[]){"ok", "skipped", "oom", "failed", "wrong", NULL}));
    value_set(fields, "required", texts((const char *const[]){"status", "reason", "checked", NULL}));
    value_remove(fields, "additionalProperties");
    return fields;
}

static const char *kind_name(enum value_kind kind)
{
    return kind == VALUE_TEXT     ? "string"
           : kind == VALUE_COUNT  ? "integer"
           : kind == VALUE_OBJECT ? "object"
                                  : "array";
}

/* The fields beside the rows; others are allowed. */
static struct value *head_schema(void)
{
    struct value *head = one("type", "object"), *properties = value_new_object();
    struct value *required = only(value_new_text("schema")), *version = value_new_object();
    value_set_count(version, "const", SCHEMA_VERSION);
    value_set_text(version, "description",
                   "version of the format; raised when readers of the previous one would misread it");
    value_set(properties, "schema", version);
    for (size_t i = 0; i < schema_head_count; i++) {
        const struct head_field *f = &schema_head[i];
        struct value *property = one("type", kind_name(f->kind));
        value_set_text(property, "description", f->meaning);
        value_set(properties, f->name, property);
        if (!f->optional)
            value_append(required, value_new_text(f->name));
    }
    value_set(head, "properties", properties);
    value_set(head, "required", required);
    return head;
}

/* A row, and a row with its record: exactly these fields. */
static struct value *of_fields(struct value *properties, const char *required)
{
    struct value *schema = value_new_object();
    value_set(schema, "allOf", only(reference("#/$defs/fields")));
    value_set(schema, "properties", properties);
    value_set_flag(schema, "unevaluatedProperties", false);
    if (required)
        value_set(schema, "required", only(value_new_text(required)));
    return schema;
}

static struct value *definitions(void)
{
    struct value *defs = value_new_object(), *line = value_new_object();
    value_set(line, "record", reference("#/$defs/head"));
    value_set(defs, "head", head_schema());
    value_set(defs, "row", of_fields(value_new_object(), NULL));
    value_set(defs, "line", of_fields(line, "record"));
    value_set(defs, "fields", fields_schema());
    value_set(defs, "fit", object_of(schema_fit, schema_fit_count));
    value_remove(value_get(defs, "fit"), "additionalProperties"); /* older files have others */
    return defs;
}

struct value *schema_json(void)
{
    struct value *schema = value_new_object(), *rows = one("type", "array"), *fits = value_new_object();
    struct value *properties = value_new_object();
    value_set(rows, "items", reference("#/$defs/row"));
    value_set(fits, "items", reference("#/$defs/fit"));
    value_set(properties, "rows", rows);
    value_set(properties, "fits", fits);
    value_set_text(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    value_set_text(schema, "title", "gtmark result file");
    value_set_text(
        schema, "description",
        "Generated from analysis/record/schema.def; FIELDS.md lists the fields, METRICS.md explains them.");
    value_set(schema, "allOf", only(reference("#/$defs/head")));
    value_set(schema, "properties", properties);
    value_set(schema, "required", only(value_new_text("rows")));
    value_set(schema, "$defs", definitions());
    return schema;
}
