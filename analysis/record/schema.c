/* The tables generated from schema.def and axes.def, and searches in them. */
#include "analysis/record/schema.h"

#include "analysis/record/row_struct.h"

#define ENTRY(group, name, type, unit, symbol, meaning, derived)                                             \
    {SCHEMA_PATH_OF(group, name),                                                                            \
     sizeof SCHEMA_PATH_OF(group, name) - 1,                                                                 \
     type,                                                                                                   \
     unit,                                                                                                   \
     symbol,                                                                                                 \
     meaning,                                                                                                \
     offsetof(struct row, group name),                                                                       \
     derived},

const struct field schema_fields[] = {
#define FIELD(group, name, type, unit, meaning)   ENTRY(group, name, FIELD_##type, unit, NULL, meaning, false)
#define DERIVED(group, name, type, unit, meaning) ENTRY(group, name, FIELD_##type, unit, NULL, meaning, true)
#define OTHER(name, type, unit, symbol, meaning)  ENTRY(, name, FIELD_##type, unit, symbol, meaning, false)
#define WHOLE(min, max)                           FIELD_COUNT
#define NUMBER(min, max)                          FIELD_REAL
#define NAME(choices, first)                      FIELD_TEXT
#define TEXT(examples, canonical)                 FIELD_TEXT
#define AXIS(id, flag, group, name, kind, place, standard, pace, work, dump, unit, symbol, help, meaning)    \
    ENTRY(group, name, kind, unit, symbol, meaning, false)
#include "analysis/record/schema.def"
};
const size_t schema_fields_count = sizeof schema_fields / sizeof *schema_fields;

const struct head_field schema_head[] = {
#define HEAD(name, kind, meaning)     {name, VALUE_##kind, false, meaning},
#define HEAD_OPT(name, kind, meaning) {name, VALUE_##kind, true, meaning},
#include "analysis/record/schema.def"
};
const size_t schema_head_count = sizeof schema_head / sizeof *schema_head;

const struct field schema_fit[] = {
#define FIT(name, type, unit, meaning) {name, sizeof name - 1, FIELD_##type, unit, NULL, meaning, 0, false},
#include "analysis/record/schema.def"
};
const size_t schema_fit_count = sizeof schema_fit / sizeof *schema_fit;

const struct field *schema_find(const char *path)
{
    size_t length = strlen(path);
    for (const struct field *f = schema_fields; schema_has(f); f++)
        if (f->length == length && f->path[length / 2] == path[length / 2] && strcmp(f->path, path) == 0)
            return f;
    return NULL;
}

const char *schema_path_now(const char *path, char now[SCHEMA_PATH])
{
    static const char *const names[][2] = {{"turns", "repetitions"},
                                           {"other_turns", "other_repetitions"},
                                           {"turn_medians", "repetition_medians"},
                                           {"ceilings", "peaks"},
                                           {"ghosts_max", "halo_nodes_max"},
                                           {"law", "formula"},
                                           {"law_coefficients", "coefficients"},
                                           {"law_error", "error"}};
    const char *dot = strrchr(path, '.'), *last = dot ? dot + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(last, names[i][0]) == 0 &&
            snprintf(now, SCHEMA_PATH, "%.*s%s", (int)(last - path), path, names[i][1]) < SCHEMA_PATH)
            return now;
    return path;
}

bool schema_is_under(const char *path, const char *group)
{
    size_t length = strlen(group);
    return strncmp(path, group, length) == 0 && (path[length] == '\0' || path[length] == '.');
}

const struct field *schema_first(const char *path, size_t length)
{
    const struct field *f = schema_find(path);
    if (f)
        return f;
    for (f = schema_fields; schema_has(f); f++)
        if (field_is_under(f, path, length))
            return f;
    return NULL;
}

const char *field_type_name(enum field_type type)
{
    static const char *const names[] = {
        [FIELD_TEXT] = "a text",
        [FIELD_COUNT] = "a 64-bit integer",
        [FIELD_REAL] = "a number",
        [FIELD_REALS] = "an array of numbers",
        [FIELD_COUNTS] = "an array of 64-bit integers",
        [FIELD_TEXTS] = "an array of texts",
    };
    return names[type];
}
