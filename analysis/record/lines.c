#include "analysis/record/lines.h"

#include "analysis/record/file.h"
#include "analysis/record/plain.h"
#include "analysis/record/row_json.h"
#include "analysis/record/value_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- writing */

/* The members of the head that have lines of their own, the last of them when the run is complete. */
static const char *const members[] = {"calibrations", "links", "fits"};
enum { MEMBERS = sizeof members / sizeof *members };

static bool is_member(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < MEMBERS; i++)
        found = found || strcmp(members[i], name) == 0;
    return found;
}

static void begin(const struct value *head, const char *kind, struct buffer *out)
{
    const char *run = "";
    value_get_text(head, "run", &run);
    buffer_string(out, "{\"kind\":\"");
    buffer_string(out, kind);
    buffer_string(out, "\",\"run\":");
    value_put_text(run, strlen(run), out);
}

static void put_member(const char *name, const struct value *v, struct buffer *out)
{
    char *text = value_print(v);
    buffer_char(out, ',');
    value_put_text(name, strlen(name), out);
    buffer_char(out, ':');
    buffer_string(out, text);
    free(text);
}

void lines_put_head(const struct value *head, struct buffer *out)
{
    begin(head, "head", out);
    for (struct walk w = value_walk(head); walk_next(&w);)
        if (strcmp(w.key, "run") != 0 && !is_member(w.key))
            put_member(w.key, w.value, out);
    buffer_string(out, "}\n");
}

void lines_put_member(const struct value *head, const char *name, struct buffer *out)
{
    begin(head, strcmp(name, "fits") == 0 ? "end" : name, out);
    put_member(name, value_get(head, name), out);
    buffer_string(out, "}\n");
}

void lines_put_row(const struct value *head, const struct row *row, struct buffer *out)
{
    char id[32];
    begin(head, "row", out);
    snprintf(id, sizeof id, ",\"id\":%lld,", (long long)row->id);
    buffer_string(out, id);
    row_put_members(row, out);
    buffer_string(out, "}\n");
}

void lines_put(const struct record *record, struct buffer *out)
{
    const struct value *head = record_head(record);
    const struct rows *rows = record_rows(record);
    lines_put_head(head, out);
    for (size_t i = 0; i + 1 < MEMBERS; i++)
        if (value_get(head, members[i]))
            lines_put_member(head, members[i], out);
    for (size_t i = 0; i < rows_count(rows); i++)
        lines_put_row(head, rows_at(rows, i), out);
    if (value_get(head, members[MEMBERS - 1]))
        lines_put_member(head, members[MEMBERS - 1], out);
}

/* --- reading */

void runs_free(struct file_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        record_free(runs->list[i]);
    free(runs->list);
    *runs = (struct file_runs){0};
}

/* Where the rows of a run are, sorted by their ids. */
struct row_ids {
    struct row_id {
        int64_t id;
        size_t at;
    } * list;
    size_t count, capacity;
};

/* The runs that were read so far, and where their rows are. */
struct reader {
    struct file_runs *runs;
    struct row_ids *ids;
};

/* The index of a run; their number if there is none of this name. */
static size_t run_named(const struct file_runs *runs, const char *name)
{
    const char *run;
    for (size_t i = runs->count; i-- > 0;)
        if (value_get_text(record_head(runs->list[i]), "run", &run) && strcmp(run, name) == 0)
            return i;
    return runs->count;
}

static void add_run(struct reader *r, struct value *line)
{
    struct file_runs *runs = r->runs;
    runs->list = realloc(runs->list, (runs->count + 1) * sizeof *runs->list);
    r->ids = realloc(r->ids, (runs->count + 1) * sizeof *r->ids);
    if (!runs->list || !r->ids)
        abort();
    r->ids[runs->count] = (struct row_ids){0};
    value_remove(line, "kind");
    runs->list[runs->count++] = record_of_head(line);
}

/* The place of an id in the list, or where it belongs; mostly that is the end. */
static size_t find_id(const struct row_ids *ids, int64_t id)
{
    size_t low = 0, high = ids->count;
    if (high > 0 && ids->list[high - 1].id < id)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids->list[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_id(struct row_ids *ids, size_t i, struct row_id id)
{
    if (ids->count == ids->capacity) {
        ids->capacity = 2 * ids->capacity + 16;
        ids->list = realloc(ids->list, ids->capacity * sizeof *ids->list);
        if (!ids->list)
            abort();
    }
    memmove(ids->list + i + 1, ids->list + i, (ids->count - i) * sizeof *ids->list);
    ids->list[i] = id;
    ids->count++;
}

/* Adds a row, or puts it in the place of an earlier line with its id. */
static void take_row(struct rows *rows, struct row_ids *ids, const struct value *line)
{
    struct row *row = row_read(line);
    value_get_count(line, "id", &row->id);
    size_t i = find_id(ids, row->id);
    if (i < ids->count && ids->list[i].id == row->id) {
        rows_replace(rows, ids->list[i].at, row);
        return;
    }
    insert_id(ids, i, (struct row_id){row->id, rows_count(rows)});
    rows_append(rows, row);
}

static void set_members(struct record *record, const struct value *line)
{
    for (struct walk w = value_walk(line); walk_next(&w);)
        if (strcmp(w.key, "kind") != 0 && strcmp(w.key, "run") != 0)
            value_set(record_head(record), w.key, value_copy(w.value));
}

/* Takes the line over. False with a message if it is none of a result file. */
static bool take_line(struct reader *r, struct value *line, char *error)
{
    const char *kind = "", *run = "";
    bool named = value_get_text(line, "kind", &kind) && value_get_text(line, "run", &run) && *run;
    size_t at = named ? run_named(r->runs, run) : r->runs->count;
    struct record *record = at < r->runs->count ? r->runs->list[at] : NULL;
    bool good = named && (record ? strcmp(kind, "head") != 0 : strcmp(kind, "head") == 0);
    if (!named)
        snprintf(error, MESSAGE_SIZE, "no line of a result file: it has no kind and run");
    else if (!good)
        snprintf(error, MESSAGE_SIZE, record ? "a second head of run %.100s" : "run %.100s has no head", run);
    else if (!record)
        add_run(r, line);
    else if (strcmp(kind, "row") == 0)
        take_row(record_rows(record), &r->ids[at], line);
    else
        set_members(record, line);
    if (!good || record)
        value_free(line);
    return good;
}

/* A device's rows stand together, in the order in which the devices occur. */
static size_t device_order(const struct rows *rows, const struct row *row)
{
    size_t i = 0;
    while (rows_at(rows, i) != row && !row_same(rows_at(rows, i), row, "device"))
        i++;
    return i;
}

static int by_device_and_place(const void *a, const void *b, void *rows)
{
    const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
    size_t of_x = device_order(rows, x), of_y = device_order(rows, y);
    if (of_x != of_y)
        return of_x < of_y ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Reads whole lines; false with a message. */
static bool read_lines(struct reader *r, const char *text, size_t size, char *error)
{
    char wrong[MESSAGE_SIZE];
    const char *at = text, *newline;
    for (size_t number = 1; (newline = memchr(at, '\n', size - (size_t)(at - text))); number++) {
        struct value *line = value_parse_part(at, (size_t)(newline - at), wrong);
        if (!line || !take_line(r, line, wrong)) {
            snprintf(error, MESSAGE_SIZE, "line %zu: %.400s", number, wrong);
            return false;
        }
        at = newline + 1;
    }
    r->runs->whole = (size_t)(at - text);
    if (r->runs->count == 0)
        snprintf(error, MESSAGE_SIZE, "no result file: it has no line");
    return r->runs->count > 0;
}

bool lines_read(const char *text, size_t size, struct file_runs *runs, char *error)
{
    struct reader r = {.runs = runs};
    *runs = (struct file_runs){0};
    bool good = read_lines(&r, text, size, error);
    for (size_t i = 0; i < runs->count; i++) {
        if (!value_get(record_head(runs->list[i]), "fits"))
            rows_sort(record_rows(runs->list[i]), by_device_and_place);
        free(r.ids[i].list);
    }
    free(r.ids);
    return good;
}

/* --- files */

bool record_write_lines(const struct record *record, FILE *out)
{
    struct buffer lines = {0};
    lines_put(record, &lines);
    fwrite(lines.text, 1, lines.size, out);
    free(lines.text);
    return !ferror(out);
}

static bool write_lines(const void *record, FILE *out)
{
    return record_write_lines(record, out);
}

bool record_save(const struct record *record, const char *path, char *error)
{
    return file_save(path, write_lines, record, error);
}

/* A document, as record_write writes it; null with a message. */
static struct record *parse_document(const char *text, size_t size, char *error)
{
    struct value *document = value_parse_part(text, size, error), *array = value_get(document, "rows");
    bool good = value_kind(array) == VALUE_ARRAY;
    if (document && !good)
        snprintf(error, MESSAGE_SIZE, "no result file: it has no lines, and no rows");
    if (!good) {
        value_free(document);
        return NULL;
    }
    struct record *record = record_of_head(document);
    for (struct walk w = value_walk(array); walk_next(&w);) {
        struct row *row = row_read(w.value);
        row->id = (int64_t)rows_count(record_rows(record));
        rows_append(record_rows(record), row);
    }
    value_remove(document, "rows");
    return record;
}

/* Whether the text begins with a line of a result file. */
static bool has_lines(const char *text, size_t size)
{
    static const char begin[] = "{\"kind\":";
    return size >= sizeof begin - 1 && memcmp(text, begin, sizeof begin - 1) == 0;
}

static bool all_sound(const struct file_runs *runs, char *error)
{
    for (size_t i = 0; i < runs->count; i++)
        if (!record_validate(runs->list[i], error))
            return false;
    return true;
}

static bool parse_runs(const char *text, size_t size, struct file_runs *runs, char *error)
{
    if (has_lines(text, size))
        return lines_read(text, size, runs, error) && all_sound(runs, error);
    *runs = (struct file_runs){.whole = size};
    struct record *record = parse_document(text, size, error);
    if (!record)
        return false;
    runs->list = malloc(sizeof *runs->list);
    if (!runs->list)
        abort();
    runs->list[runs->count++] = record;
    return all_sound(runs, error);
}

/* The only run, which is taken out; null with a message if there are several. */
static struct record *only_run(struct file_runs *runs, char *error)
{
    if (runs->count > 1) {
        snprintf(error, MESSAGE_SIZE, "has %zu runs: build/merge joins them", runs->count);
        return NULL;
    }
    runs->count = 0;
    return runs->list[0];
}

struct record *record_parse(const char *text, char *error)
{
    struct file_runs runs;
    bool good = parse_runs(text, strlen(text), &runs, error);
    struct record *record = good ? only_run(&runs, error) : NULL;
    runs_free(&runs);
    return record;
}

bool runs_load(const char *path, struct file_runs *runs, FILE *notes, char *error)
{
    char wrong[MESSAGE_SIZE];
    size_t size;
    char *text = file_read(path, &size, error);
    *runs = (struct file_runs){0};
    if (!text)
        return false;
    bool good = parse_runs(text, size, runs, wrong);
    if (!good)
        snprintf(error, MESSAGE_SIZE, "%.200s: %.*s", path, MESSAGE_SIZE / 2, wrong);
    else if (runs->whole < size && notes) {
        fputs("note: ", notes);
        plain_put(notes, path);
        fputs(": its last line is not whole, and is left out\n", notes);
    }
    free(text);
    return good;
}

struct record *record_load(const char *path, char *error)
{
    struct file_runs runs;
    char wrong[MESSAGE_SIZE];
    struct record *record = NULL;
    if (runs_load(path, &runs, stderr, error) && !(record = only_run(&runs, wrong)))
        snprintf(error, MESSAGE_SIZE, "%.200s: %.*s", path, MESSAGE_SIZE / 2, wrong);
    runs_free(&runs);
    return record;
}

bool record_keep(const char *path, char *error)
{
    struct file_runs runs;
    struct stat there;
    char ignored[MESSAGE_SIZE];
    if (stat(path, &there) != 0 || there.st_size == 0)
        return true;
    bool empty = runs_load(path, &runs, NULL, ignored);
    for (size_t i = 0; i < runs.count; i++)
        empty = empty && rows_count(record_rows(runs.list[i])) == 0;
    runs_free(&runs);
    return empty || file_keep(path, error);
}

size_t record_name_length(const char *path)
{
    const char *dot = strrchr(path, '.');
    bool ends = dot && dot != path && (strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".json") == 0);
    return ends ? (size_t)(dot - path) : strlen(path);
}
