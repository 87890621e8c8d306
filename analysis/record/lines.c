#include "analysis/record/lines.h"

/* --- writing */

/* The members of the head that have lines of their own, the last of them when the run is complete. */
static const char *const members[] = {"calibrations", "links", "fits", NULL};
enum { LAST_MEMBER = 2 };

static void begin(const struct value *head, const char *kind, struct buffer *out)
{
    const char *run = value_text_or(head, "run", "");
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
        if (strcmp(w.key, "run") != 0 && !has_name(members, w.key))
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
    for (size_t i = 0; i < LAST_MEMBER; i++)
        if (value_get(head, members[i]))
            lines_put_member(head, members[i], out);
    for (size_t i = 0; i < rows_count(rows); i++)
        lines_put_row(head, rows_at(rows, i), out);
    if (value_get(head, members[LAST_MEMBER]))
        lines_put_member(head, members[LAST_MEMBER], out);
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
    size_t count;
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
    runs->list = grow(runs->list, runs->count, sizeof *runs->list);
    r->ids = grow(r->ids, runs->count, sizeof *r->ids);
    r->ids[runs->count] = (struct row_ids){0};
    value_remove(line, "kind");
    runs->list[runs->count++] = record_of_head(line);
}

static int by_id(const void *a, const void *b)
{
    const struct row_id *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* The place of an id in the list, or where it belongs; mostly that is the end. */
static size_t find_id(const struct row_ids *ids, int64_t id)
{
    bool last = ids->count > 0 && ids->list[ids->count - 1].id < id;
    return last ? ids->count
                : first_not_less(ids->list, ids->count, sizeof *ids->list, &(struct row_id){id, 0}, by_id);
}

/* Adds a row, or puts it in the place of an earlier line with its id. */
static void place_row(struct rows *rows, struct row_ids *ids, struct row *row)
{
    size_t i = find_id(ids, row->id);
    if (i < ids->count && ids->list[i].id == row->id) {
        rows_replace(rows, ids->list[i].at, row);
        return;
    }
    ids->list = grow(ids->list, ids->count, sizeof *ids->list);
    memmove(ids->list + i + 1, ids->list + i, (ids->count++ - i) * sizeof *ids->list);
    ids->list[i] = (struct row_id){row->id, rows_count(rows)};
    rows_append(rows, row);
}

/* Sets the member of the head that lines of this kind have; other kinds have none. */
static void take_member(struct record *record, const char *kind, const struct value *line)
{
    const char *name = strcmp(kind, "end") == 0 ? "fits" : kind;
    const struct value *v = value_get(line, name);
    if (v && (has_name(members, name) || strcmp(name, "resumed") == 0))
        value_set(record_head(record), name, value_copy(v));
}

/* Why a line is none of a result file; null if it is one. at: the index of its run, their number: not begun
 * yet.
 */
static const char *fault_of(const struct row_line *line, const struct row *row, size_t at, size_t runs)
{
    if (!line->kind || !line->run || !*line->run)
        return "it has no kind and run";
    bool head = strcmp(line->kind, "head") == 0;
    return at == runs                                      ? head ? NULL : "its run has no head"
           : head                                          ? "a second head of its run"
           : strcmp(line->kind, "row") == 0 && row->id < 0 ? "a row without id"
                                                           : NULL;
}

/* Takes over a line, which was read as that of a row, and the row if it is one. */
static void take_line(struct reader *r, const struct row_line *line, struct row *row, size_t at,
                      const char *text, size_t size)
{
    char ignored[MESSAGE_SIZE];
    if (strcmp(line->kind, "row") == 0) {
        place_row(record_rows(r->runs->list[at]), &r->ids[at], row);
        return;
    }
    struct value *other = value_parse_part(text, size, ignored);
    row_free(row);
    if (strcmp(line->kind, "head") == 0) {
        add_run(r, other);
        return;
    }
    take_member(r->runs->list[at], line->kind, other);
    value_free(other);
}

/* A row, and its device by the order in which the devices occur. */
struct placed {
    struct row *row;
    size_t device;
};

static int by_device_and_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->row->position != y->row->position)
        return x->row->position < y->row->position ? -1 : 1;
    return (x->row->id > y->row->id) - (x->row->id < y->row->id);
}

/* The first of the rows before this one that has its device, or itself. */
static size_t first_of_device(const struct placed *placed, size_t i)
{
    size_t k = i > 0 && row_same(placed[i - 1].row, placed[i].row, "device") ? placed[i - 1].device : 0;
    while (!row_same(placed[k].row, placed[i].row, "device"))
        k++;
    return k;
}

/* A device's rows stand together, by their places. */
static void order_rows(struct rows *rows)
{
    size_t count = rows_count(rows);
    struct placed *placed = allocate(count, sizeof *placed);
    for (size_t i = 0; i < count; i++) {
        placed[i].row = rows_at(rows, i);
        placed[i].device = first_of_device(placed, i);
    }
    while (rows_count(rows) > 0)
        rows_take(rows, rows_count(rows) - 1);
    qsort(placed, count, sizeof *placed, by_device_and_place);
    for (size_t i = 0; i < count; i++)
        rows_append(rows, placed[i].row);
    free(placed);
}

static bool read_line(struct reader *r, const char *text, size_t size, char *error)
{
    struct row_line line;
    struct row *row = row_read(text, size, &line, error);
    if (!row)
        return false;
    size_t at = run_named(r->runs, line.run ? line.run : "");
    const char *fault = fault_of(&line, row, at, r->runs->count);
    if (fault)
        snprintf(error, MESSAGE_SIZE, "no line of a result file: %s", fault);
    if (fault)
        row_free(row);
    else
        take_line(r, &line, row, at, text, size);
    row_line_free(&line);
    return !fault;
}

static bool read_lines(struct reader *r, const char *text, size_t size, char *error)
{
    char wrong[MESSAGE_SIZE];
    const char *at = text, *newline;
    for (size_t number = 1; (newline = memchr(at, '\n', size - (size_t)(at - text))); number++) {
        if (!read_line(r, at, (size_t)(newline - at), wrong)) {
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
        record_rename(runs->list[i]);
        if (!value_get(record_head(runs->list[i]), "fits"))
            order_rows(record_rows(runs->list[i]));
        free(r.ids[i].list);
    }
    free(r.ids);
    return good;
}
