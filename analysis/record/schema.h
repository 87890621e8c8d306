/* The fields of a result file, from schema.def: path, type and unit of everything in a row. */
#ifndef GTMARK_ANALYSIS_SCHEMA_H
#define GTMARK_ANALYSIS_SCHEMA_H

#include "analysis/record/value.h"

#include <string.h>

enum {
    SCHEMA_VERSION = 2, /* file format; raised when older readers would misread a file */
    SCHEMA_PATH = 64,   /* longest path, terminator included */
};

enum field_type { FIELD_TEXT, FIELD_COUNT, FIELD_REAL, FIELD_REALS, FIELD_COUNTS, FIELD_TEXTS };

/* A field of a row. */
struct field {
    const char *path; /* dotted: "step.time.median" is row.step.time.median */
    size_t length;    /* of the path */
    enum field_type type;
    const char *unit;   /* empty if none */
    const char *symbol; /* of an axis, empty for texts; null: not an axis */
    const char *meaning;
    size_t offset;   /* of its member in struct row */
    bool is_derived; /* from others: by row_derive, and not in files */
};

/* The path of a field that schema.def or axes.def gives as group and name. */
#define SCHEMA_TEXT_OF(tokens)      #tokens
#define SCHEMA_TEXT(tokens)         SCHEMA_TEXT_OF(tokens)
#define SCHEMA_PATH_OF(group, name) SCHEMA_TEXT(group) #name

static inline bool is_list(enum field_type type)
{
    return type >= FIELD_REALS;
}

/* A field of the record, beside its rows. */
struct head_field {
    const char *name;
    enum value_kind kind;
    bool optional;
    const char *meaning;
};

extern const struct field schema_fields[]; /* those of a group stand together */
extern const size_t schema_fields_count;
extern const struct head_field schema_head[];
extern const size_t schema_head_count;

/* Fields of an entry of the record's fits: flat, and null with a reason like those of a row. */
extern const struct field schema_fit[];
extern const size_t schema_fit_count;

/* The field with this path, or null. */
const struct field *schema_find(const char *path);

/* The path of a field, or the name of a member of the head, where `path` is that of the version before; else
 * `path`. */
const char *schema_path_now(const char *path, char now[SCHEMA_PATH]);

/* Whether the field or group `path` is `group` itself or below it. */
bool schema_is_under(const char *path, const char *group);

/* The same for a field and a group of this length. */
static inline bool field_is_under(const struct field *f, const char *group, size_t length)
{
    return f->length >= length && (f->path[length] == '\0' || f->path[length] == '.') &&
           memcmp(f->path, group, length) == 0;
}

/* Whether `f`, at or after the first field, is not past the last. */
static inline bool schema_has(const struct field *f)
{
    return f < schema_fields + schema_fields_count;
}

/* The first field that `path`, of this length, is or contains; null if there is none. */
const struct field *schema_first(const char *path, size_t length);

/* "a text", "a 64-bit integer", ..., for messages. */
const char *field_type_name(enum field_type type);

#endif
