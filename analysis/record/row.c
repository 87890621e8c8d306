/* The life of a row, and its fields by path. */
#include "analysis/record/row.h"

#include "analysis/record/scan.h"
#include "analysis/statistics/allocate.h"

/* Memory of a row, freed with it. */
struct kept {
    struct kept *next;
    int64_t memory[];
};

static _Noreturn void misuse(const char *what, const char *path)
{
    fprintf(stderr, "row: %s: %s\n", path, what);
    abort();
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

/* --- fields */

void field_clear(struct row *row, const struct field *f)
{
    if (f->type == FIELD_TEXT)
        *field_text(row, f) = NULL;
    else if (f->type == FIELD_COUNT)
        *field_count(row, f) = COUNT_ABSENT;
    else if (f->type == FIELD_REAL)
        *field_real(row, f) = NAN;
    else
        *field_items(row, f) = (struct items){.count = 0};
}

/* A drift takes longer to find than all else of a row, and few ask for it: it is found when they do. */
static double real_of(const struct row *row, const struct field *f)
{
    bool unknown = f->is_derived && isnan(*field_real(row, f));
    const char *last = unknown ? strstr(f->path, ".time.drift") : NULL;
    char group[SCHEMA_PATH];
    if (last) {
        snprintf(group, sizeof group, "%.*s.time", (int)(last - f->path), f->path);
        row_derive_samples((struct row *)row, row_times(row, group), true);
    }
    return *field_real(row, f);
}

bool row_has_field(const struct row *row, const struct field *f)
{
    return f->type == FIELD_TEXT    ? *field_text(row, f) != NULL
           : f->type == FIELD_COUNT ? *field_count(row, f) != COUNT_ABSENT
           : f->type == FIELD_REAL  ? !isnan(real_of(row, f))
                                    : field_items(row, f)->list != NULL;
}

bool field_number(const struct row *row, const struct field *f, double *value)
{
    bool number = f->type == FIELD_REAL || f->type == FIELD_COUNT;
    if (!number || !row_has_field(row, f))
        return false;
    *value = f->type == FIELD_REAL ? *field_real(row, f) : (double)*field_count(row, f);
    return true;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int item_order(const struct items *a, const struct items *b, size_t i, enum field_type type)
{
    return type == FIELD_TEXTS    ? strcmp(a->texts[i], b->texts[i])
           : type == FIELD_COUNTS ? ORDER(a->counts[i], b->counts[i])
                                  : ORDER(a->reals[i], b->reals[i]);
}

static int items_order(const struct items *a, const struct items *b, enum field_type type)
{
    int order = ORDER(a->count, b->count);
    for (size_t i = 0; !order && i < a->count; i++)
        order = item_order(a, b, i, type);
    return order;
}

int row_order(const struct row *a, const struct row *b, const struct field *f)
{
    if (f->type == FIELD_COUNT) /* COUNT_ABSENT is the least */
        return ORDER(*field_count(a, f), *field_count(b, f));
    bool has_a = row_has_field(a, f), has_b = row_has_field(b, f);
    if (!has_a || !has_b)
        return has_a - has_b;
    return f->type == FIELD_TEXT   ? strcmp(*field_text(a, f), *field_text(b, f))
           : f->type == FIELD_REAL ? ORDER(*field_real(a, f), *field_real(b, f))
                                   : items_order(field_items(a, f), field_items(b, f), f->type);
}

/* --- rows */

struct row *row_new(void)
{
    struct row *row = allocate(1, sizeof *row);
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

static void *keep(struct row *row, size_t size)
{
    struct kept *k = allocate(1, sizeof *k + size);
    k->next = row->kept;
    row->kept = k;
    return k->memory;
}

static const char *keep_text(struct row *row, const char *text)
{
    char *clean = scan_clean(text);
    size_t size = strlen(clean) + 1;
    char *kept = keep(row, size);
    memcpy(kept, clean, size);
    free(clean);
    return kept;
}

const char *row_keep(struct row *row, const char *text)
{
    return *text ? keep_text(row, text) : NULL;
}

struct items row_keep_items(struct row *row, const void *list, size_t n, enum field_type type)
{
    const char **copy = keep(row, n * ITEM);
    memcpy(copy, list, n * ITEM);
    for (size_t i = 0; type == FIELD_TEXTS && i < n; i++)
        copy[i] = keep_text(row, copy[i]);
    return (struct items){.list = copy, .count = n};
}

struct items row_add_item(struct row *row, struct items list, const void *item, enum field_type type)
{
    char *items = allocate(list.count + 1, ITEM);
    if (list.count > 0)
        memcpy(items, list.list, list.count * ITEM);
    memcpy(items + list.count * ITEM, item, ITEM);
    list = row_keep_items(row, items, list.count + 1, type);
    free(items);
    return list;
}

void row_explain(struct row *row, const char *path, const char *text)
{
    row->reasons = grow(row->reasons, row->reason_count, sizeof *row->reasons);
    row->reasons[row->reason_count++] = (struct reason){copied(path), scan_clean(text)};
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

struct row *row_copy(const struct row *row)
{
    struct row *copy = row_new();
    for (const struct field *f = schema_fields; schema_has(f); f++)
        if (row_has_field(row, f))
            copy_value(copy, row, f);
    for (size_t i = 0; i < row->reason_count; i++)
        row_explain(copy, row->reasons[i].path, row->reasons[i].text);
    copy->flaw = row->flaw ? copied(row->flaw) : NULL;
    copy->id = row->id;
    return copy;
}

void row_omit(struct row *row, const char *path, const char *reason)
{
    size_t length = strlen(path);
    const struct field *first = schema_first(path, length);
    if (!first)
        misuse("the schema has no such field or group", path);
    for (const struct field *f = first; schema_has(f) && field_is_under(f, path, length); f++)
        field_clear(row, f);
    drop_reasons(row, path);
    if (reason)
        row_explain(row, path, reason);
}

void row_omit_of(struct row *row, size_t program, const char *path, const char *reason)
{
    char whole[SCHEMA_PATH];
    snprintf(whole, sizeof whole, "%s.%s", program_name(program), path);
    row_omit(row, whole, reason);
}

void row_put_reason(struct row *row, const void *member, const char *reason)
{
    size_t offset = (size_t)((const char *)member - (const char *)row);
    const struct field *f = schema_fields;
    while (schema_has(f) && f->offset != offset)
        f++;
    if (!schema_has(f))
        misuse("no member", "of a row");
    row_omit(row, f->path, reason);
}

void row_put_count(struct row *row, int64_t *member, int64_t value)
{
    *member = value;
    if (value < 0)
        row_put_reason(row, member, "exceeds 63 bits");
}

void row_put_real(struct row *row, double *member, double value)
{
    *member = value;
    if (!isfinite(value))
        row_put_reason(row, member, "not a finite number");
}

bool row_get_metric(const struct row *row, const char *program, const char *metric, double *value)
{
    size_t length = strlen(program);
    for (size_t i = 0; i < row->metrics.name.count && i < row->metrics.value.count; i++) {
        const char *name = row->metrics.name.texts[i];
        if (strncmp(name, program, length) == 0 && name[length] == '.' &&
            strcmp(name + length + 1, metric) == 0) {
            *value = row->metrics.value.reals[i];
            return true;
        }
    }
    return false;
}

bool row_get_real(const struct row *row, const char *path, double *value)
{
    const struct field *field = row ? schema_find(path) : NULL;
    return field && field_number(row, field, value);
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

bool row_is_planned(const struct row *row)
{
    return row->device && strncmp(row->device, "meta", 4) == 0;
}

/* What explains any absent field. */
static const char *reason_of_all(const struct row *row)
{
    bool ok = same_text(row->status, "ok");
    return row->status && !ok ? row->reason : row_is_planned(row) ? "planned only (--device meta)" : NULL;
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
