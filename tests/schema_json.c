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

static struct value *number_or_null(void)
{
    struct value *types = value_new_array(), *object = value_new_object();
    value_append(types, value_new_text("number"));
    value_append(types, value_new_text("null"));
    value_set(object, "type", types);
    return object;
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
        if (!fields[i].is_derived)
            add_field(object, &fields[i]);
    value_set(value_get(object, "properties"), "absent", reasons_schema());
    return object;
}

/* Adds what every line has. */
static struct value *line_of(struct value *object, const char *const *required)
{
    struct value *properties = value_get(object, "properties");
    value_set(properties, "kind", one("type", "string"));
    value_set(properties, "run", one("type", "string"));
    value_set(object, "required", texts(required));
    return object;
}

static struct value *row_schema(void)
{
    struct value *row = object_of(schema_fields, schema_fields_count);
    value_set(value_get(row, "properties.status"), "enum",
              texts((const char *const[]){"ok", "skipped", "oom", "failed", "wrong", NULL}));
    value_set(value_get(row, "properties"), "id", one("type", "integer"));
    return line_of(row, (const char *const[]){"run", "id", "status", "checked", NULL});
}

static const char *kind_name(enum value_kind kind)
{
    return kind == VALUE_TEXT     ? "string"
           : kind == VALUE_COUNT  ? "integer"
           : kind == VALUE_OBJECT ? "object"
                                  : "array";
}

/* Other members are allowed. */
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

/* A line with a member of the head, which is a list. */
static struct value *list_schema(const char *name, struct value *items)
{
    struct value *line = closed_object(), *list = one("type", "array");
    if (items)
        value_set(list, "items", items);
    value_set(value_get(line, "properties"), name, list);
    return line_of(line, (const char *const[]){"run", name, NULL});
}

/* What a line of this kind must be. */
static struct value *if_kind(const char *kind, struct value *schema)
{
    struct value *is = value_new_object(), *v = value_new_object(), *properties = value_new_object();
    value_set_text(v, "const", kind);
    value_set(properties, "kind", v);
    value_set(is, "properties", properties);
    v = value_new_object();
    value_set(v, "if", is);
    value_set(v, "then", schema);
    return v;
}

struct value *schema_json(void)
{
    struct value *schema = value_new_object(), *kinds = value_new_array();
    struct value *kind = value_new_object(), *properties = value_new_object();
    value_append(kinds, if_kind("head", head_schema()));
    value_append(kinds, if_kind("calibrations", list_schema("calibrations", NULL)));
    value_append(kinds, if_kind("links", list_schema("links", NULL)));
    value_append(kinds, if_kind("resumed", list_schema("resumed", NULL)));
    value_append(kinds, if_kind("row", row_schema()));
    struct value *fit = object_of(schema_fit, schema_fit_count);
    static const char *const told[] = {"exponents", "exponents_low", "exponents_high"};
    for (size_t i = 0; i < 3; i++) /* where the ranges leave one open it is null */
        value_set(value_get(value_get(fit, "properties"), told[i]), "items", number_or_null());
    value_remove(fit, "additionalProperties"); /* files of older builds have others */
    value_append(kinds, if_kind("end", list_schema("fits", fit)));
    value_set(kind, "enum",
              texts((const char *const[]){"head", "calibrations", "links", "resumed", "row", "end", NULL}));
    value_set(properties, "kind", kind);
    value_set_text(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    value_set_text(schema, "title", "a line of a gtmark result file");
    value_set_text(schema, "type", "object");
    value_set(schema, "properties", properties);
    value_set(schema, "required", only(value_new_text("kind")));
    value_set(schema, "allOf", kinds);
    return schema;
}
