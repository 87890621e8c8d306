/* The life of a row, and its fields by path. */
#include "analysis/record/row.h"

#include "analysis/record/row_fields.h"
#include "analysis/record/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Memory of a row, freed with it. */
struct kept {
    struct kept *next;
    union item items[];
};

static _Noreturn void misuse(const char *what, const char *path)
{
    fprintf(stderr, "row: %s: %s\n", path, what);
    abort();
}

static void *some(void *memory)
{
    if (!memory)
        misuse("no memory", "of a row");
    return memory;
}

const char *program_name(size_t kind)
{
    static const char *const names[TIMED] = {"forward", "step", "kernel", "encoding"};
    return names[kind];
}

struct row_program *row_program(const struct row *row, size_t kind)
{
    const struct row_program *const programs[TIMED] = {&row->forward, &row->step, &row->kernel, NULL};
    return (struct row_program *)programs[kind];
}

struct row_times *row_timed(const struct row *row, size_t kind)
{
    struct row_program *program = row_program(row, kind);
    return program ? &program->time : (struct row_times *)&row->encoding.time;
}

struct row *row_new(void)
{
    struct row *row = some(calloc(1, sizeof *row));
    for (const struct field *f = schema_fields; schema_has(f); f++)
        field_clear(row, f);
    row->id = -1;
    return row;
}

static void free_reason(struct reason *r)
{
    free(r->path);
    free(r->text);
}

void row_free(struct row *row)
{
    if (!row)
        return;
    for (size_t i = 0; i < row->reason_count; i++)
        free_reason(&row->reasons[i]);
    for (struct kept *next, *k = row->kept; k; k = next) {
        next = k->next;
        free(k);
    }
    free(row->reasons);
    free(row->flaw);
    free(row);
}

/* Memory for n items. */
static union item *keep(struct row *row, size_t n)
{
    struct kept *k = some(malloc(sizeof *k + n * sizeof *k->items));
    k->next = row->kept;
    row->kept = k;
    return k->items;
}

static const char *keep_text(struct row *row, const char *text)
{
    char *clean = some(scan_clean(text));
    size_t size = strlen(clean) + 1;
    char *kept = (char *)keep(row, (size + sizeof(union item) - 1) / sizeof(union item));
    memcpy(kept, clean, size);
    free(clean);
    return kept;
}

const char *row_keep(struct row *row, const char *text)
{
    return *text ? keep_text(row, text) : NULL;
}

struct items row_keep_items(struct row *row, const union item *list, size_t n, enum field_type type)
{
    union item *copy = keep(row, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = list[i];
    for (size_t i = 0; type == FIELD_TEXTS && i < n; i++)
        copy[i].text = keep_text(row, list[i].text);
    return (struct items){copy, n};
}

void row_explain(struct row *row, const char *path, const char *text)
{
    row->reasons = some(realloc(row->reasons, (row->reason_count + 1) * sizeof *row->reasons));
    row->reasons[row->reason_count++] = (struct reason){some(strdup(path)), some(scan_clean(text))};
}

/* Removes the reason of `path`, and those of what it contains. */
static void drop_reasons(struct row *row, const char *path)
{
    size_t kept = 0;
    for (size_t i = 0; i < row->reason_count; i++) {
        struct reason *r = &row->reasons[i];
        if (schema_is_under(r->path, path))
            free_reason(r);
        else
            row->reasons[kept++] = *r;
    }
    row->reason_count = kept;
}

/* The field of a path and type, for the caller to set. */
static const struct field *to_set(struct row *row, const char *path, enum field_type type)
{
    const struct field *field = schema_find(path);
    if (!field || field->type != type)
        misuse("the schema has no such field of this type", path);
    drop_reasons(row, path);
    return field;
}

void row_set_text(struct row *row, const char *path, const char *value)
{
    *field_text(row, to_set(row, path, FIELD_TEXT)) = row_keep(row, value);
}

void row_set_count(struct row *row, const char *path, int64_t value)
{
    *field_count(row, to_set(row, path, FIELD_COUNT)) = value;
}

void row_set_real(struct row *row, const char *path, double value)
{
    *field_real(row, to_set(row, path, FIELD_REAL)) = value;
    if (!isfinite(value))
        row_omit(row, path, "not a finite number");
}

static void copy_value(struct row *row, const struct row *from, const struct field *f)
{
    if (f->type == FIELD_TEXT)
        *field_text(row, f) = row_keep(row, *field_text(from, f));
    else if (f->type == FIELD_COUNT)
        *field_count(row, f) = *field_count(from, f);
    else if (f->type == FIELD_REAL)
        *field_real(row, f) = *field_real(from, f);
    else
        *field_items(row, f) =
            row_keep_items(row, field_items(from, f)->list, field_items(from, f)->count, f->type);
}

void row_copy_field(struct row *row, const struct row *from, const struct field *field)
{
    if (row_has_field(from, field))
        copy_value(row, from, to_set(row, field->path, field->type));
}

struct row *row_copy(const struct row *row)
{
    struct row *copy = row_new();
    for (const struct field *f = schema_fields; schema_has(f); f++)
        if (row_has_field(row, f))
            copy_value(copy, row, f);
    for (size_t i = 0; i < row->reason_count; i++)
        row_explain(copy, row->reasons[i].path, row->reasons[i].text);
    copy->flaw = row->flaw ? some(strdup(row->flaw)) : NULL;
    copy->id = row->id;
    return copy;
}

void row_clear(struct row *row, const char *path)
{
    size_t length = strlen(path);
    const struct field *first = schema_first(path, length);
    if (!first)
        misuse("the schema has no such field or group", path);
    for (const struct field *f = first; schema_has(f) && field_is_under(f, path, length); f++)
        field_clear(row, f);
    drop_reasons(row, path);
}

void row_omit(struct row *row, const char *path, const char *reason)
{
    row_clear(row, path);
    row_explain(row, path, reason);
}

/* The field of a path and type if the row has it, else null. */
static const struct field *to_get(const struct row *row, const char *path, enum field_type type)
{
    const struct field *field = row ? schema_find(path) : NULL;
    return field && field->type == type && row_has_field(row, field) ? field : NULL;
}

bool row_get_text(const struct row *row, const char *path, const char **value)
{
    const struct field *field = to_get(row, path, FIELD_TEXT);
    if (field)
        *value = *field_text(row, field);
    return field;
}

bool row_get_count(const struct row *row, const char *path, int64_t *value)
{
    const struct field *field = to_get(row, path, FIELD_COUNT);
    if (field)
        *value = *field_count(row, field);
    return field;
}

bool row_get_real(const struct row *row, const char *path, double *value)
{
    const struct field *field = row ? schema_find(path) : NULL;
    return field && field_number(row, field, value);
}

const union item *row_items(const struct row *row, const char *path, size_t *n)
{
    const struct field *field = row ? schema_find(path) : NULL;
    if (!field || !is_list(field->type) || !row_has_field(row, field))
        return NULL;
    *n = field_items(row, field)->count;
    return field_items(row, field)->list;
}

bool row_get_reals(const struct row *row, const char *path, double *values, size_t capacity, size_t *n)
{
    const struct field *field = to_get(row, path, FIELD_REALS);
    const struct items *reals = field ? field_items(row, field) : NULL;
    if (!reals || reals->count > capacity)
        return false;
    for (size_t i = 0; i < reals->count; i++)
        values[i] = reals->list[i].real;
    *n = reals->count;
    return true;
}

bool row_has(const struct row *row, const char *path)
{
    size_t length = strlen(path);
    const struct field *f = row ? schema_first(path, length) : NULL;
    while (f && schema_has(f) && field_is_under(f, path, length) && !row_has_field(row, f))
        f++;
    return f && schema_has(f) && field_is_under(f, path, length);
}

/* The reason stored for exactly this path, or null. */
static const char *own_reason(const struct row *row, const char *path)
{
    for (size_t i = 0; i < row->reason_count; i++)
        if (strcmp(row->reasons[i].path, path) == 0)
            return row->reasons[i].text;
    return NULL;
}

/* What explains any absent field. */
static const char *reason_of_all(const struct row *row)
{
    bool ok = row->status && strcmp(row->status, "ok") == 0;
    return row->status && !ok                                ? row->reason
           : row->device && strcmp(row->device, "meta") == 0 ? "planned only (--device meta)"
                                                             : NULL;
}

const char *row_reason(const struct row *row, const char *path)
{
    char at[SCHEMA_PATH];
    if (!row || snprintf(at, sizeof at, "%s", path) >= SCHEMA_PATH)
        return NULL;
    for (;;) {
        const char *reason = own_reason(row, at);
        char *dot = strrchr(at, '.');
        if (reason)
            return reason;
        if (!dot)
            return reason_of_all(row);
        *dot = '\0';
    }
}

bool row_same(const struct row *a, const struct row *b, const char *path)
{
    const struct field *field = schema_find(path);
    return !field || row_order(a, b, field) == 0;
}

bool row_equal(const struct row *a, const struct row *b)
{
    bool equal = a->reason_count == b->reason_count;
    for (const struct field *f = schema_fields; equal && schema_has(f); f++)
        equal = row_order(a, b, f) == 0;
    for (size_t i = 0; equal && i < a->reason_count; i++) {
        const char *other = own_reason(b, a->reasons[i].path);
        equal = other && strcmp(a->reasons[i].text, other) == 0;
    }
    return equal;
}
