/* Dotted paths become nested objects: {"step": {"properties": {"time": {"properties": {"median": ...}}}}}. */
#include "tests/schema_json.h"

#include "analysis/record/schema.h"

#include <string.h>

/* An object without properties yet, and with no others. */
static json_t *closed_object(void)
{
    return json_pack("{s:s, s:{}, s:b}", "type", "object", "properties", "additionalProperties", 0);
}

/* What a field may hold: its type, or null. */
static json_t *value_schema(const struct field *f)
{
    json_t *schema;
    switch (f->type) {
    case FIELD_TEXT:
        schema = json_pack("{s:[s, s]}", "type", "string", "null");
        break;
    case FIELD_COUNT:
        schema = json_pack("{s:[s, s]}", "type", "integer", "null");
        break;
    case FIELD_REAL:
        schema = json_pack("{s:[s, s]}", "type", "number", "null");
        break;
    default:
        schema = json_pack("{s:[s, s], s:{s:s}}", "type", "array", "null", "items", "type", "number");
        break;
    }
    json_object_set_new(schema, "description",
                        *f->unit && f->type != FIELD_TEXT ? json_sprintf("%s; in %s", f->meaning, f->unit)
                                                          : json_string(f->meaning));
    return schema;
}

/* Puts a field's schema at its path below an object's. */
static void add_field(json_t *object, const struct field *f)
{
    const char *path = f->path;
    for (;;) {
        json_t *properties = json_object_get(object, "properties");
        char part[SCHEMA_PATH];
        size_t length = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        if (!path[length]) {
            json_object_set_new(properties, part, value_schema(f));
            return;
        }
        if (!json_object_get(properties, part))
            json_object_set_new(properties, part, closed_object());
        object = json_object_get(properties, part);
        path += length + 1;
    }
}

static json_t *reasons_schema(void)
{
    return json_pack("{s:s, s:{s:s, s:i}, s:s}", "type", "object", "additionalProperties", "type", "string",
                     "minLength", 1, "description", "why a field, or a group of them, is null");
}

/* The fields of a table as one object. */
static json_t *object_of(const struct field *fields, size_t count)
{
    json_t *object = closed_object(), *properties = json_object_get(object, "properties");
    for (size_t i = 0; i < count; i++)
        add_field(object, &fields[i]);
    json_object_set_new(properties, "reasons", reasons_schema());
    return object;
}

/* Open at the top, for what stands beside them. */
static json_t *fields_schema(void)
{
    json_t *row = object_of(schema_fields, schema_fields_count);
    json_t *status = json_object_get(json_object_get(row, "properties"), "status");
    json_object_set_new(status, "enum",
                        json_pack("[s, s, s, s, s]", "ok", "skipped", "oom", "failed", "wrong"));
    json_object_set_new(row, "required", json_pack("[s, s]", "status", "reason"));
    json_object_del(row, "additionalProperties");
    return row;
}

static const char *type_name(json_type type)
{
    return type == JSON_STRING    ? "string"
           : type == JSON_INTEGER ? "integer"
           : type == JSON_OBJECT  ? "object"
                                  : "array";
}

/* What stands beside the rows; more of it is allowed. */
static json_t *head_schema(void)
{
    json_t *properties =
        json_pack("{s:{s:i, s:s}}", "schema", "const", SCHEMA_VERSION, "description",
                  "version of the format; raised when a reader of the old one would misread");
    json_t *required = json_pack("[s]", "schema");
    for (size_t i = 0; i < schema_head_count; i++) {
        const struct head_field *f = &schema_head[i];
        json_object_set_new(properties, f->name,
                            json_pack("{s:s, s:s}", "type", type_name(f->type), "description", f->meaning));
        if (!f->optional)
            json_array_append_new(required, json_string(f->name));
    }
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required", required);
}

/* A row, and a row with the record beside it: of the fields, and nothing else. */
static json_t *of_fields(json_t *properties, const char *required)
{
    json_t *schema = json_pack("{s:[{s:s}], s:o, s:b}", "allOf", "$ref", "#/$defs/fields", "properties",
                               properties, "unevaluatedProperties", 0);
    if (required)
        json_object_set_new(schema, "required", json_pack("[s]", required));
    return schema;
}

json_t *schema_json(void)
{
    json_t *schema = json_pack(
        "{s:s, s:s, s:s, s:[{s:s}], s:{s:{s:s, s:{s:s}}, s:{s:{s:s}}}, s:[s]}", "$schema",
        "https://json-schema.org/draft/2020-12/schema", "title", "gtmark result file", "description",
        "Made from analysis/record/schema.def; FIELDS.md lists the fields, METRICS.md explains them.",
        "allOf", "$ref", "#/$defs/head", "properties", "rows", "type", "array", "items", "$ref",
        "#/$defs/row", "fits", "items", "$ref", "#/$defs/fit", "required", "rows");
    json_t *line = json_pack("{s:{s:s}}", "record", "$ref", "#/$defs/head");
    json_t *defs = json_pack("{s:o, s:o, s:o, s:o, s:o}", "head", head_schema(), "row",
                             of_fields(json_object(), NULL), "line", of_fields(line, "record"), "fields",
                             fields_schema(), "fit", object_of(schema_fit, schema_fit_count));
    json_object_set_new(schema, "$defs", defs);
    return schema;
}
