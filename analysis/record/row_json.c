/*
 * Rows as JSON: dotted paths are nested objects, and "reasons" is an object beside them. A row's text is made
 * once, and again only after a change; a row from a file keeps the text of the file.
 */
#include "analysis/record/row.h"

#include "analysis/record/row_cells.h"
#include "analysis/record/value_text.h"

#include <stdlib.h>
#include <string.h>

static _Noreturn void no_memory(void)
{
    fprintf(stderr, "row: no memory\n");
    abort();
}

/* Records what is wrong, if it is the first flaw. */
static void add_flaw(struct row *row, const char *path, const char *wrong)
{
    if (!row->flaw && asprintf(&row->flaw, "%.*s: %s", SCHEMA_PATH, path, wrong) < 0)
        no_memory();
}

static bool read_reals(struct cell *cell, const struct value *array)
{
    size_t n = 0;
    if (value_kind(array) != VALUE_ARRAY)
        return false;
    double *list = malloc((value_size(array) + 1) * sizeof *list);
    if (!list)
        no_memory();
    for (struct walk w = value_walk(array); walk_next(&w);)
        if (!value_read_real(w.value, &list[n++])) {
            free(list);
            return false;
        }
    cell->reals = (struct reals){list, n};
    return true;
}

static bool read_text(struct cell *cell, const struct value *v)
{
    const char *text;
    if (!value_read_text(v, &text))
        return false;
    cell->text = strdup(text);
    if (!cell->text)
        no_memory();
    return true;
}

static void read_cell(struct cell *cell, enum field_type type, const struct value *v)
{
    bool good = type == FIELD_TEXT    ? read_text(cell, v)
                : type == FIELD_COUNT ? value_read_count(v, &cell->count)
                : type == FIELD_REAL  ? value_read_real(v, &cell->real)
                                      : read_reals(cell, v);
    cell->state = good ? CELL_SET : value_kind(v) == VALUE_NULL ? CELL_NULL : CELL_OTHER;
    if (cell->state == CELL_OTHER)
        cell->text = value_print(v);
}

static void read_reasons(struct row *row, const struct value *reasons)
{
    const char *text;
    if (value_kind(reasons) != VALUE_OBJECT)
        add_flaw(row, "reasons", "not an object");
    for (struct walk w = value_walk(reasons); walk_next(&w);)
        if (!w.key || !value_read_text(w.value, &text) || !*text)
            add_flaw(row, "reasons", "not texts, or empty ones");
        else if (!schema_is_retired(w.key))
            row_add_reason(row, w.key, text);
}

/* Finds a field by path; usually it is the next in the schema. */
static const struct field *find_field(const char *path, size_t *next)
{
    bool in_order = *next < schema_fields_count && strcmp(schema_fields[*next].path, path) == 0;
    const struct field *field = in_order ? &schema_fields[*next] : schema_find(path);
    if (field)
        *next = (size_t)(field - schema_fields) + 1;
    return field;
}

/* Reads the fields under `object`, whose path is `prefix`, empty for the row. */
static void read_fields(struct row *row, const struct value *object, const char *prefix, size_t *next)
{
    for (struct walk w = value_walk(object); walk_next(&w);) {
        char path[SCHEMA_PATH];
        bool fits = snprintf(path, sizeof path, "%s%s%s", prefix, *prefix ? "." : "", w.key) < SCHEMA_PATH;
        const struct field *field = fits ? find_field(path, next) : NULL;
        if (field)
            read_cell(&row->cells[field - schema_fields], field->type, w.value);
        else if (fits && strcmp(path, "reasons") == 0)
            read_reasons(row, w.value);
        else if (fits && value_kind(w.value) == VALUE_OBJECT && schema_is_group(path))
            read_fields(row, w.value, path, next);
        else if (!fits || !schema_is_retired(path))
            add_flaw(row, path, "no such field");
    }
}

struct row *row_read(const struct value *object, const char *json, size_t length)
{
    struct row *row = row_new();
    size_t next = 0;
    if (value_kind(object) == VALUE_OBJECT)
        read_fields(row, object, "", &next);
    else
        add_flaw(row, "the row", "not an object");
    row->json = strndup(json, length);
    if (!row->json)
        no_memory();
    return row;
}

static struct value *value_of_cell(const struct cell *cell, enum field_type type)
{
    char ignored[MESSAGE_SIZE];
    if (cell->state == CELL_NULL)
        return value_new_null();
    if (cell->state == CELL_OTHER)
        return value_parse(cell->text, ignored);
    if (type == FIELD_TEXT)
        return value_new_text(cell->text);
    if (type == FIELD_COUNT)
        return value_new_count(cell->count);
    if (type == FIELD_REAL)
        return value_new_real(cell->real);
    struct value *array = value_new_array();
    for (size_t i = 0; i < cell->reals.count; i++)
        value_append(array, value_new_real(cell->reals.list[i]));
    return array;
}

/* Puts a value at a path under `object`, creating the objects on the way. */
static void put(struct value *object, const char *path, struct value *v)
{
    char part[SCHEMA_PATH];
    for (size_t length; path[length = strcspn(path, ".")]; path += length + 1) {
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        if (!value_get(object, part))
            value_set(object, part, value_new_object());
        object = value_get(object, part);
    }
    value_set(object, path, v);
}

static struct value *value_of_row(const struct row *row)
{
    struct value *object = value_new_object(), *reasons = value_new_object();
    for (size_t i = 0; i < schema_fields_count; i++)
        if (row->cells[i].state != CELL_UNSET)
            put(object, schema_fields[i].path, value_of_cell(&row->cells[i], schema_fields[i].type));
    for (size_t i = 0; i < row->reason_count; i++)
        value_set_text(reasons, row->reasons[i].path, row->reasons[i].text);
    value_set(object, "reasons", reasons);
    return object;
}

const char *row_json(const struct row *row)
{
    if (row->json)
        return row->json;
    struct value *object = value_of_row(row);
    char *text = value_print(object), *json = NULL;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    if (!out)
        no_memory();
    value_lay_out(text, 1, 2, out);
    if (fclose(out) != 0)
        no_memory();
    free(text);
    value_free(object);
    return ((struct row *)row)->json = json; /* rows are never defined const */
}

bool row_write(const struct row *row, FILE *out)
{
    value_lay_out(row_json(row), -1, 0, out);
    return putc('\n', out) != EOF && !ferror(out);
}
