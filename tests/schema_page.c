/* The tables of docs/fields.md: see schema_page.h. */
#include "tests/schema_page.h"

#include "analysis/record/schema.h"
#include "analysis/statistics/allocate.h"

/* Groups that have the same fields are documented once, at the first of them. */
static const struct {
    const char *group, *first, *letter; /* the name of all such groups in the table */
} alike[] = {
    {"forward.time", "forward.time", "T"},
    {"encoding.time", "forward.time", "T"},
    {"step.backward.time", "forward.time", "T"},
    {"step.optimizer.time", "forward.time", "T"},
    {"step.recompute.time", "forward.time", "T"},
    {"step.backward", "step.backward", "S"},
    {"step.optimizer", "step.backward", "S"},
    {"step.recompute", "step.backward", "S"},
    {"forward", "forward", "P"},
    {"step", "forward", "P"},
    {"kernel", "forward", "P"},
};

/* Writes the name of a field in the table; false for one that is documented elsewhere. */
static bool name_in_table(const char *path, char name[SCHEMA_PATH])
{
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        const char *rest = path + strlen(alike[i].group);
        if (!schema_is_under(path, alike[i].group))
            continue;
        snprintf(name, SCHEMA_PATH, "%s%s", alike[i].first, rest);
        if (!schema_find(name))
            continue;
        bool first = strcmp(name, path) == 0;
        snprintf(name, SCHEMA_PATH, "%s%s", alike[i].letter, rest);
        return first;
    }
    snprintf(name, SCHEMA_PATH, "%s", path);
    return true;
}

/* Whether the field is an axis with a flag. */
static bool has_flag(const char *path)
{
    static const char *const paths[] = {
#define AXIS(id, flag, group, name, kind, place, standard, pace, work, dump, unit, symbol, help, meaning)    \
    SCHEMA_PATH_OF(group, name),
#include "analysis/record/axes.def"
        NULL};
    return has_name(paths, path);
}

static const char *head_kind_name(enum value_kind kind)
{
    return kind == VALUE_TEXT     ? "text"
           : kind == VALUE_COUNT  ? "integer"
           : kind == VALUE_OBJECT ? "object"
                                  : "array";
}

void schema_write_markdown(FILE *out)
{
    fputs("| record | type | meaning |\n|---|---|---|\n", out);
    for (size_t i = 0; i < schema_head_count; i++)
        fprintf(out, "| `%s` | %s%s | %s |\n", schema_head[i].name, head_kind_name(schema_head[i].kind),
                schema_head[i].optional ? ", optional" : "", schema_head[i].meaning);
    fputs("\n| row | unit | meaning |\n|---|---|---|\n", out);
    for (size_t i = 0; i < schema_fields_count; i++) {
        const struct field *f = &schema_fields[i];
        char name[SCHEMA_PATH];
        if (!has_flag(f->path) && name_in_table(f->path, name))
            fprintf(out, "| `%s` | %s | %s%s |\n", name,
                    f->type == FIELD_TEXT || f->type == FIELD_TEXTS ? "" : f->unit,
                    f->is_derived ? "(derived) " : "", f->meaning);
    }
}

void schema_write_fit_markdown(FILE *out)
{
    fputs("| fit | unit | meaning |\n|---|---|---|\n", out);
    for (size_t i = 0; i < schema_fit_count; i++)
        fprintf(out, "| `%s` | %s | %s |\n", schema_fit[i].path, schema_fit[i].unit, schema_fit[i].meaning);
}
