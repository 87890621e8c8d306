#include "analysis/record/row.h"

#include "analysis/record/value_text.h"

/* Records what is wrong, if it is the first flaw. */
static void add_flaw(struct row *row, const char *path, const char *wrong, const char *type)
{
    if (!row->flaw)
        row->flaw = format_text("%s: %s%s", path, wrong, type);
}

static bool read_texts(struct row *row, const struct field *f, const struct scanned *v)
{
    size_t n = 0;
    char ignored[MESSAGE_SIZE];
    struct value *array = value_parse_part(v->begin, (size_t)(v->end - v->begin), ignored);
    bool good = value_kind(array) == VALUE_ARRAY;
    const char **list = allocate(value_size(array), ITEM);
    for (struct walk w = value_walk(array); good && walk_next(&w); n++)
        good = value_read_text(w.value, &list[n]);
    if (good)
        *field_items(row, f) = row_keep_items(row, list, n, f->type);
    free(list);
    value_free(array);
    return good;
}

static bool read_numbers(struct row *row, const struct field *f, const char *text, const struct scanned *v)
{
    bool good = v->kind == SCANNED_NUMBERS, counts = f->type == FIELD_COUNTS;
    char *list = allocate(v->count, ITEM);
    for (size_t i = 0; good && i < v->count; i++) {
        int64_t count = counts ? strtoll(text + v->numbers[i].begin, NULL, 10) : 0;
        good = !counts || v->numbers[i].whole;
        memcpy(list + i * ITEM, counts ? (const void *)&count : &v->numbers[i].value, ITEM);
    }
    if (good)
        *field_items(row, f) = row_keep_items(row, list, v->count, f->type);
    free(list);
    return good;
}

static bool read_text(struct row *row, const struct field *f, const struct scanned *v)
{
    if (v->kind != SCANNED_TEXT)
        return false;
    char *text = scan_unquoted(v->begin, v->end);
    *field_text(row, f) = row_keep(row, text);
    free(text);
    return true;
}

static bool read_number(struct row *row, const struct field *f, const struct scanned *v)
{
    bool good = v->kind == SCANNED_NUMBER && (f->type == FIELD_REAL || v->numbers->whole);
    if (good && f->type == FIELD_REAL)
        *field_real(row, f) = v->numbers->value;
    else if (good)
        *field_count(row, f) = strtoll(v->begin, NULL, 10);
    return good;
}

/* A row that is being read. */
struct reading {
    const char *text;
    struct row *row;
    const struct field *next; /* in the schema, and mostly in the text */
    struct row_line *line;
};

static void read_field(struct reading *r, const struct field *f, const struct scanned *v)
{
    bool good = f->type == FIELD_TEXT    ? read_text(r->row, f, v)
                : f->type == FIELD_TEXTS ? read_texts(r->row, f, v)
                : is_list(f->type)       ? read_numbers(r->row, f, r->text, v)
                                         : read_number(r->row, f, v);
    if (!good)
        add_flaw(r->row, f->path, "not ", field_type_name(f->type));
}

static void read_reason(struct row *row, const char *path, const struct scanned *v)
{
    char now[SCHEMA_PATH], *text = v->kind == SCANNED_TEXT ? scan_unquoted(v->begin, v->end) : NULL;
    if (!text || !*text)
        add_flaw(row, "absent", "not texts, or empty ones", "");
    else
        row_explain(row, schema_path_now(path, now), text);
    free(text);
}

/* The field of a path, or of what an older version called it, mostly one of the next; null: none. */
static const struct field *find_field(const struct field *next, const char *path)
{
    char now[2 * SCAN_PATH];
    while (schema_has(next) && strcmp(next->path, path) != 0)
        next++;
    const struct field *field = schema_has(next) ? next : schema_find(path);
    const char *flops = field ? NULL : strstr(path, ".flops."),
               *name = flops ? flops + strlen(".flops.") : "";
    if (flops) { /* a convention, without this group */
        snprintf(now, sizeof now, "%.*s.flops.convention.%s", (int)(flops - path), path,
                 strcmp(name, "seed") == 0 ? "simple" : name);
        return schema_find(now);
    }
    return field ? field : schema_find(schema_path_now(path, now));
}

static void read_member(void *context, const char *path, const struct scanned *v)
{
    static const char absent[] = "absent.";
    struct reading *r = context;
    bool object = v->kind == SCANNED_OBJECT;
    char **beside = strcmp(path, "kind") == 0  ? &r->line->kind
                    : strcmp(path, "run") == 0 ? &r->line->run
                                               : NULL;
    if (object && r->next > schema_fields && schema_is_under(r->next[-1].path, path))
        return; /* a group */
    if (strncmp(path, absent, strlen(absent)) == 0)
        read_reason(r->row, path + strlen(absent), v);
    else if (strcmp(path, "absent") == 0 && !object)
        add_flaw(r->row, path, "not an object", "");
    else if (beside && v->kind == SCANNED_TEXT && !*beside)
        *beside = scan_unquoted(v->begin, v->end);
    else if (strcmp(path, "id") == 0 && v->kind == SCANNED_NUMBER && v->numbers->whole)
        r->row->id = strtoll(v->begin, NULL, 10);
    else {
        const struct field *field = find_field(r->next, path);
        if (field && !field->is_derived)
            read_field(r, field, v);
        r->next = field ? field + 1 : r->next;
    }
}

void row_line_free(struct row_line *line)
{
    free(line->kind);
    free(line->run);
}

struct row *row_read(const char *text, size_t size, struct row_line *line, char *error)
{
    struct reading r = {.text = text, .row = row_new(), .next = schema_fields, .line = line};
    struct spans numbers = {0};
    *line = (struct row_line){0};
    bool good = scan_json(text, size, &numbers, read_member, &r, error);
    free(numbers.list);
    if (!good) {
        row_free(r.row);
        row_line_free(line);
        return NULL;
    }
    if (*text != '{')
        add_flaw(r.row, "the row", "not an object", "");
    row_derive(r.row);
    return r.row;
}

static void add_real(struct buffer *out, double real)
{
    char text[VALUE_REAL_TEXT];
    value_format_real(text, real);
    buffer_string(out, text);
}

/* As printf would, which takes longer than the rest of the row. */
static void add_integer(struct buffer *out, int64_t count)
{
    char text[24], *at = text + sizeof text;
    uint64_t rest = count < 0 ? -(uint64_t)count : (uint64_t)count;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (count < 0)
        *--at = '-';
    buffer_put(out, at, (size_t)(text + sizeof text - at));
}

static void add_list(struct buffer *out, const struct items *items, enum field_type type)
{
    buffer_char(out, '[');
    for (size_t i = 0; i < items->count; i++) {
        if (i)
            buffer_char(out, ',');
        if (type == FIELD_REALS)
            add_real(out, items->reals[i]);
        else if (type == FIELD_COUNTS)
            add_integer(out, items->counts[i]);
        else
            value_put_text(items->texts[i], strlen(items->texts[i]), out);
    }
    buffer_char(out, ']');
}

static void add_value(struct buffer *out, const struct row *row, const struct field *f)
{
    if (f->type == FIELD_TEXT)
        value_put_text(*field_text(row, f), strlen(*field_text(row, f)), out);
    else if (f->type == FIELD_COUNT)
        add_integer(out, *field_count(row, f));
    else if (f->type == FIELD_REAL)
        add_real(out, *field_real(row, f));
    else
        add_list(out, field_items(row, f), f->type);
}

/* Begins a member: the first of its object follows the bracket. */
static void add_name(struct buffer *out, const char *name, size_t length)
{
    if (out->size > 0 && out->text[out->size - 1] != '{' && out->text[out->size - 1] != ',')
        buffer_char(out, ',');
    value_put_text(name, length, out);
    buffer_char(out, ':');
}

/* The length of the group of a path without the last `length` bytes, with its dot; 0 if there is none. */
static size_t group_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '.')
        length--;
    return length;
}

/* Those of a group follow one another in the schema. */
static void add_fields(const struct row *row, struct buffer *out)
{
    const char *path = "";
    size_t group = 0; /* the first bytes of `path`: the object that is open, "step.time." */
    for (const struct field *f = schema_fields; schema_has(f); f++) {
        if (f->is_derived || !row_has_field(row, f))
            continue;
        for (; strncmp(path, f->path, group) != 0; group = group_length(path, group - 1))
            buffer_char(out, '}');
        path = f->path;
        for (const char *dot; (dot = strchr(path + group, '.')); group = (size_t)(dot + 1 - path)) {
            add_name(out, path + group, (size_t)(dot - path) - group);
            buffer_char(out, '{');
        }
        add_name(out, path + group, f->length - group);
        add_value(out, row, f);
    }
    for (; group > 0; group = group_length(path, group - 1))
        buffer_char(out, '}');
}

static void add_reasons(const struct row *row, struct buffer *out)
{
    add_name(out, "absent", strlen("absent"));
    buffer_char(out, '{');
    for (size_t i = 0; i < row->reason_count; i++) {
        add_name(out, row->reasons[i].path, strlen(row->reasons[i].path));
        value_put_text(row->reasons[i].text, strlen(row->reasons[i].text), out);
    }
    buffer_char(out, '}');
}

void row_put_members(const struct row *row, struct buffer *out)
{
    add_fields(row, out);
    if (row->reason_count > 0)
        add_reasons(row, out);
}
