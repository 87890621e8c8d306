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

static bool read_item(union item *item, enum field_type type, const struct value *v)
{
    return type == FIELD_REALS    ? value_read_real(v, &item->real)
           : type == FIELD_COUNTS ? value_read_count(v, &item->count)
                                  : value_read_text(v, &item->text);
}

static bool read_list(struct cell *cell, enum field_type type, const struct value *array)
{
    size_t n = 0;
    bool good = value_kind(array) == VALUE_ARRAY;
    union item *list = malloc((value_size(array) + 1) * sizeof *list);
    if (!list)
        no_memory();
    for (struct walk w = value_walk(array); good && walk_next(&w);)
        good = read_item(&list[n++], type, w.value);
    if (good)
        cell->items = items_copy(list, n, type);
    free(list);
    return good;
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
                                      : read_list(cell, type, v);
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

static void new_line(FILE *out, int level)
{
    static const char spaces[] = "                ";
    putc_unlocked('\n', out);
    fwrite_unlocked(spaces, 1, (size_t)level, out);
}

static void put_real(FILE *out, double real)
{
    char text[VALUE_REAL_TEXT];
    value_format_real(text, real);
    fputs_unlocked(text, out);
}

/* As printf would, which takes longer than the rest of the row. */
static void write_count(FILE *out, int64_t count)
{
    char text[24], *at = text + sizeof text;
    uint64_t rest = count < 0 ? -(uint64_t)count : (uint64_t)count;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (count < 0)
        *--at = '-';
    fwrite_unlocked(at, 1, (size_t)(text + sizeof text - at), out);
}

static void put_item(FILE *out, const union item *item, enum field_type type)
{
    if (type == FIELD_REALS)
        put_real(out, item->real);
    else if (type == FIELD_COUNTS)
        write_count(out, item->count);
    else
        value_write_text(item->text, strlen(item->text), out);
}

static void put_list(FILE *out, int level, const struct items *items, enum field_type type)
{
    putc_unlocked('[', out);
    for (size_t i = 0; i < items->count; i++) {
        if (i)
            putc_unlocked(',', out);
        new_line(out, level + 1);
        put_item(out, &items->list[i], type);
    }
    if (items->count)
        new_line(out, level);
    putc_unlocked(']', out);
}

static void write_cell(FILE *out, int level, const struct cell *cell, enum field_type type)
{
    if (cell->state == CELL_NULL)
        fputs_unlocked("null", out);
    else if (cell->state == CELL_OTHER)
        value_lay_out(cell->text, 1, level, out);
    else if (type == FIELD_TEXT)
        value_write_text(cell->text, strlen(cell->text), out);
    else if (type == FIELD_COUNT)
        write_count(out, cell->count);
    else if (type == FIELD_REAL)
        put_real(out, cell->real);
    else
        put_list(out, level, &cell->items, type);
}

static void write_name(FILE *out, int level, bool first, const char *name, size_t length)
{
    if (!first)
        putc_unlocked(',', out);
    new_line(out, level);
    value_write_text(name, length, out);
    fputs_unlocked(": ", out);
}

/* Whether field i is set and its path begins with `prefix`. */
static bool is_set_below(const struct row *row, size_t i, const char *prefix, size_t length)
{
    const struct field *f = &schema_fields[i];
    bool possible = f->length > length && (length == 0 || f->path[length - 1] == '.'); /* for speed */
    return possible && row->cells[i].state != CELL_UNSET && memcmp(f->path, prefix, length) == 0;
}

/* Whether no field before field i, from `start` on, is in the group whose prefix is the first bytes of its
 * path. */
static bool opens_group(const struct row *row, size_t start, size_t i, size_t length)
{
    for (size_t j = i; j-- > start;)
        if (is_set_below(row, j, schema_fields[i].path, length))
            return false;
    return true;
}

/*
 * Writes the set fields from `start` on whose paths begin with `prefix`, "step.time."; a group stands where
 * its first field does. Returns whether there are any.
 */
static bool write_members(const struct row *row, FILE *out, int level, size_t start, const char *prefix,
                          size_t length)
{
    bool first = true;
    for (size_t i = start; i < schema_fields_count; i++) {
        if (!is_set_below(row, i, prefix, length))
            continue;
        const char *name = schema_fields[i].path + length, *dot = strchr(name, '.');
        size_t below = dot ? (size_t)(dot + 1 - schema_fields[i].path) : 0;
        if (dot && !opens_group(row, start, i, below))
            continue;
        write_name(out, level, first, name, dot ? (size_t)(dot - name) : strlen(name));
        first = false;
        if (!dot) {
            write_cell(out, level, &row->cells[i], schema_fields[i].type);
            continue;
        }
        putc_unlocked('{', out);
        write_members(row, out, level + 1, i, schema_fields[i].path, below);
        new_line(out, level);
        putc_unlocked('}', out);
    }
    return !first;
}

static void write_reasons(const struct row *row, FILE *out, int level)
{
    putc_unlocked('{', out);
    for (size_t i = 0; i < row->reason_count; i++) {
        const struct reason *r = &row->reasons[i];
        write_name(out, level + 1, i == 0, r->path, r->length);
        value_write_text(r->text, strlen(r->text), out);
    }
    if (row->reason_count)
        new_line(out, level);
    putc_unlocked('}', out);
}

const char *row_json(const struct row *row)
{
    enum { LEVEL = 3 }; /* of a row's members in a file */
    if (row->json)
        return row->json;
    char *json = NULL;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    if (!out)
        no_memory();
    putc_unlocked('{', out);
    bool any = write_members(row, out, LEVEL, 0, "", 0);
    write_name(out, LEVEL, !any, "reasons", strlen("reasons"));
    write_reasons(row, out, LEVEL);
    new_line(out, LEVEL - 1);
    putc_unlocked('}', out);
    if (fclose(out) != 0)
        no_memory();
    return ((struct row *)row)->json = json; /* rows are never defined const */
}
