/* A row is a table of cells, one for each field of the schema, and a list of reasons. */
#include "analysis/record/row.h"

#include "analysis/record/row_cells.h"
#include "analysis/record/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

const char *program_name(size_t index)
{
    static const char *const names[TIMED] = {"forward", "step", "kernel", "encoding"};
    return names[index];
}

struct row *row_new(void)
{
    struct row *row = NULL;
    return some(calloc(1, sizeof *row + schema_fields_count * sizeof *row->cells));
}

void cell_clear(struct cell *cell, enum field_type type)
{
    bool set = cell->state == CELL_SET;
    if (cell->state == CELL_OTHER || (set && type == FIELD_TEXT))
        free(cell->text);
    if (set && is_list(type))
        items_free(&cell->items, type);
    *cell = (struct cell){0};
}

static struct cell cell_copy(const struct cell *cell, enum field_type type)
{
    struct cell copy = *cell;
    bool set = cell->state == CELL_SET;
    if (cell->state == CELL_OTHER || (set && type == FIELD_TEXT))
        copy.text = some(strdup(cell->text));
    if (set && is_list(type))
        copy.items = items_copy(cell->items.list, cell->items.count, type);
    return copy;
}

struct row *row_copy(const struct row *row)
{
    struct row *copy = row_new();
    for (size_t i = 0; i < schema_fields_count; i++)
        copy->cells[i] = cell_copy(&row->cells[i], schema_fields[i].type);
    for (size_t i = 0; i < row->reason_count; i++)
        row_add_reason(copy, row->reasons[i].path, row->reasons[i].first, row->reasons[i].text);
    copy->flaw = row->flaw ? some(strdup(row->flaw)) : NULL;
    copy->json = row->json ? some(strdup(row->json)) : NULL;
    return copy;
}

void row_free(struct row *row)
{
    if (!row)
        return;
    for (size_t i = 0; i < schema_fields_count; i++)
        cell_clear(&row->cells[i], schema_fields[i].type);
    for (size_t i = 0; i < row->reason_count; i++) {
        free(row->reasons[i].path);
        free(row->reasons[i].text);
    }
    free(row->reasons);
    free(row->flaw);
    free(row->json);
    free(row);
}

/* Removes the reason of `path`, and with `all` those below it. */
static void drop_reasons(struct row *row, const char *path, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < row->reason_count; i++) {
        struct reason *r = &row->reasons[i];
        if (all ? schema_is_under(r->path, path) : strcmp(r->path, path) == 0) {
            free(r->path);
            free(r->text);
        } else {
            row->reasons[kept++] = *r;
        }
    }
    row->reason_count = kept;
}

void row_add_reason(struct row *row, const char *path, const struct field *first, const char *text)
{
    row->reasons = some(realloc(row->reasons, (row->reason_count + 1) * sizeof *row->reasons));
    row->reasons[row->reason_count++] =
        (struct reason){some(strdup(path)), some(scan_clean(text)), strlen(path), first};
}

bool reason_is_used(const struct row *row, const struct reason *reason)
{
    const struct field *f = reason->first;
    for (; f && schema_has(f) && field_is_under(f, reason->path, reason->length); f++)
        if (row->cells[f - schema_fields].state == CELL_NULL)
            return true;
    return false;
}

void row_drop_unused_reasons(struct row *row)
{
    size_t kept = 0;
    for (size_t i = 0; i < row->reason_count; i++) {
        if (reason_is_used(row, &row->reasons[i])) {
            row->reasons[kept++] = row->reasons[i];
        } else {
            free(row->reasons[i].path);
            free(row->reasons[i].text);
        }
    }
    row->reason_count = kept;
}

/* Discards the text, which is out of date. */
static void changed(struct row *row)
{
    free(row->json);
    row->json = NULL;
}

struct cell *row_empty_cell(struct row *row, const char *path, enum field_type type)
{
    const struct field *field = schema_find(path);
    if (!field || field->type != type)
        misuse("the schema has no such field of this type", path);
    struct cell *cell = &row->cells[field - schema_fields];
    cell_clear(cell, type);
    cell->state = CELL_SET;
    drop_reasons(row, path, false);
    changed(row);
    return cell;
}

void row_set_text(struct row *row, const char *path, const char *value)
{
    struct cell *cell = row_empty_cell(row, path, FIELD_TEXT);
    cell->text = some(scan_clean(value));
}

void row_set_count(struct row *row, const char *path, int64_t value)
{
    row_empty_cell(row, path, FIELD_COUNT)->count = value;
}

void row_set_real(struct row *row, const char *path, double value)
{
    row_empty_cell(row, path, FIELD_REAL)->real = value;
    if (!isfinite(value))
        row_set_null(row, path, "not a finite number");
}

void row_copy_field(struct row *row, const struct row *from, const struct field *field)
{
    const struct cell *cell = row_set_cell(from, field);
    if (cell)
        *row_empty_cell(row, field->path, field->type) = cell_copy(cell, field->type);
}

void row_set_null(struct row *row, const char *path, const char *reason)
{
    size_t length = strlen(path);
    const struct field *first = schema_first(path, length);
    if (!first)
        misuse("the schema has no such field or group", path);
    for (const struct field *f = first; schema_has(f) && field_is_under(f, path, length); f++) {
        cell_clear(&row->cells[f - schema_fields], f->type);
        row->cells[f - schema_fields].state = CELL_NULL;
    }
    drop_reasons(row, path, true);
    row_add_reason(row, path, first, reason);
    changed(row);
}

/* Whether the row has any field of the group of field f whose path has this length. */
static bool has_any(const struct row *row, const struct field *f, size_t length)
{
    for (const struct field *g = f; g >= schema_fields && field_is_under(g, f->path, length); g--)
        if (row->cells[g - schema_fields].state != CELL_UNSET)
            return true;
    for (const struct field *g = f; schema_has(g) && field_is_under(g, f->path, length); g++)
        if (row->cells[g - schema_fields].state != CELL_UNSET)
            return true;
    return false;
}

/* The length of the shortest group that field f is in and that has no field in the row; else of its path. */
static size_t unset_length(const struct row *row, const struct field *f)
{
    for (const char *dot = strchr(f->path, '.'); dot; dot = strchr(dot + 1, '.'))
        if (!has_any(row, f, (size_t)(dot - f->path)))
            return (size_t)(dot - f->path);
    return f->length;
}

/* One reason for a whole group. */
void row_set_rest_null(struct row *row, const char *reason)
{
    for (const struct field *f = schema_fields; schema_has(f); f++) {
        char path[SCHEMA_PATH];
        if (row->cells[f - schema_fields].state != CELL_UNSET)
            continue;
        size_t length = unset_length(row, f);
        memcpy(path, f->path, length);
        path[length] = '\0';
        for (const struct field *other = f; schema_has(other) && field_is_under(other, path, length); other++)
            row->cells[other - schema_fields].state = CELL_NULL;
        row_add_reason(row, path, f, reason);
    }
    changed(row);
}

const struct cell *row_set_cell(const struct row *row, const struct field *field)
{
    const struct cell *cell = row && field ? &row->cells[field - schema_fields] : NULL;
    return cell && cell->state == CELL_SET ? cell : NULL;
}

/* The cell of a field with this path and type if it is set, else null. */
static const struct cell *cell_of(const struct row *row, const char *path, enum field_type type)
{
    const struct field *field = schema_find(path);
    return field && field->type == type ? row_set_cell(row, field) : NULL;
}

bool row_get_text(const struct row *row, const char *path, const char **value)
{
    const struct cell *cell = cell_of(row, path, FIELD_TEXT);
    if (cell)
        *value = cell->text;
    return cell;
}

bool row_get_count(const struct row *row, const char *path, int64_t *value)
{
    const struct cell *cell = cell_of(row, path, FIELD_COUNT);
    if (cell)
        *value = cell->count;
    return cell;
}

bool row_get_real(const struct row *row, const char *path, double *value)
{
    const struct cell *cell = cell_of(row, path, FIELD_REAL);
    int64_t count;
    if (cell)
        *value = cell->real;
    else if (row_get_count(row, path, &count))
        *value = (double)count;
    else
        return false;
    return true;
}

static enum cell_state state_of(const struct row *row, const char *path)
{
    const struct field *field = row ? schema_find(path) : NULL;
    return field ? row->cells[field - schema_fields].state : CELL_UNSET;
}

bool row_has(const struct row *row, const char *path)
{
    return state_of(row, path) != CELL_UNSET;
}

bool row_is_null(const struct row *row, const char *path)
{
    return state_of(row, path) == CELL_NULL;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* An order of cells, in which equal ones are those with the same value, null or missing. */
static int cells_order(const struct cell *a, const struct cell *b, enum field_type type)
{
    if (a->state != b->state)
        return ORDER(a->state, b->state);
    if (a->state == CELL_OTHER || (a->state == CELL_SET && type == FIELD_TEXT))
        return strcmp(a->text, b->text);
    if (a->state != CELL_SET)
        return 0;
    if (type == FIELD_COUNT)
        return ORDER(a->count, b->count);
    if (type == FIELD_REAL)
        return ORDER(a->real, b->real);
    return items_order(&a->items, &b->items, type);
}

int row_order(const struct row *a, const struct row *b, const struct field *field)
{
    size_t i = (size_t)(field - schema_fields);
    return cells_order(&a->cells[i], &b->cells[i], field->type);
}

bool row_same(const struct row *a, const struct row *b, const char *path)
{
    const struct field *field = schema_find(path);
    return !field || row_order(a, b, field) == 0;
}

/* The reason stored for exactly this path, or null. */
static const char *own_reason(const struct row *row, const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < row->reason_count; i++)
        if (row->reasons[i].length == length && memcmp(row->reasons[i].path, path, length) == 0)
            return row->reasons[i].text;
    return NULL;
}

bool row_equal(const struct row *a, const struct row *b)
{
    bool equal = a->reason_count == b->reason_count;
    for (size_t i = 0; equal && i < schema_fields_count; i++)
        equal = cells_order(&a->cells[i], &b->cells[i], schema_fields[i].type) == 0;
    for (size_t i = 0; equal && i < a->reason_count; i++) {
        const char *other = own_reason(b, a->reasons[i].path);
        equal = other && strcmp(a->reasons[i].text, other) == 0;
    }
    return equal;
}

const char *row_reason(const struct row *row, const char *path)
{
    char at[SCHEMA_PATH];
    if (!row || snprintf(at, sizeof at, "%s", path) >= SCHEMA_PATH)
        return NULL;
    for (;;) {
        const char *reason = own_reason(row, at);
        char *dot = strrchr(at, '.');
        if (reason || !dot)
            return reason;
        *dot = '\0';
    }
}

bool row_is_ok(const struct row *row)
{
    const char *status;
    return row_get_text(row, "status", &status) && strcmp(status, "ok") == 0;
}

const char *row_noisy(const struct row *row, const char *program)
{
    char path[SCHEMA_PATH];
    const char *reason = "";
    int64_t samples;
    snprintf(path, sizeof path, "%s.time.noisy", program);
    if (row_has(row, path))
        return row_get_text(row, path, &reason) && *reason ? reason : NULL;
    snprintf(path, sizeof path, "%s.time.n", program); /* older files have no turns */
    return row_get_count(row, path, &samples) && samples < REPORTED_MIN ? "too few samples" : NULL;
}

const char *row_unchecked(const struct row *row)
{
    const char *field = row_has(row, "checked") ? "checked" : "error.norm"; /* older files lack the first */
    if (!row_is_ok(row) || !row_is_null(row, field))
        return NULL;
    for (size_t p = 0; p + 1 < TIMED; p++) { /* encodings are checked as they are made */
        char path[SCHEMA_PATH];
        snprintf(path, sizeof path, "%s.time.median", program_name(p));
        if (row_has(row, path) && !row_is_null(row, path))
            return row_reason(row, field);
    }
    return NULL;
}

bool row_solved_nothing(const struct row *row)
{
    int64_t solved = 1, nullity = 0;
    return row_get_count(row, "encoding.iterated", &solved) && solved == 0 &&
           row_get_count(row, "encoding.nullity", &nullity) && nullity > 0;
}
