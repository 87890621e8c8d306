/* Copies are found among all rows, sorted by work. */
#include "analysis/compare/merge.h"

#include "analysis/compare/match.h"
#include "analysis/fits/fits.h"
#include "analysis/statistics/allocate.h"

enum { ORIGIN_TEXT = 512 };

/* A file: its sweep and its machine are the first files that have the same. */
struct source {
    struct record *record;
    const char *name;
    const struct value *shard; /* null: a whole sweep */
    size_t sweep, machine;
};

struct moved {
    struct row *row;
    const struct source *from;
    size_t at; /* in the order of files and rows */
    int64_t position;
    const char *device;
    bool copied; /* an earlier row stands for it */
};

/* What makes two files those of different machines or builds. */
static const char *const identity[] = {"host.name",     "host.processor", "host.cpu", "host.instruction_set",
                                       "host.governor", "commit",         "compiler", "flags"};
enum { IDENTITY = sizeof identity / sizeof *identity };

static bool heads_agree_in(const struct value *a, const struct value *b, const char *path)
{
    const struct value *x = value_get(a, path), *y = value_get(b, path);
    return (!x && !y) || value_equal(x, y);
}

/* A part of the identity, wherever a version of the file says it. */
static const char *identity_of(const struct value *head, size_t part)
{
    return strcmp(identity[part], "host.processor") == 0 ? record_processor(head)
                                                         : value_text_or(head, identity[part], "unknown");
}

static bool identities_agree_in(const struct value *a, const struct value *b, size_t part)
{
    return strcmp(identity_of(a, part), identity_of(b, part)) == 0;
}

static bool same_build(const struct value *a, const struct value *b)
{
    bool same = true;
    for (size_t i = 0; i < IDENTITY; i++)
        same = same && identities_agree_in(a, b, i);
    return same;
}

static bool same_sweep(const struct value *a, const struct value *b)
{
    return a && b && heads_agree_in(a, b, "sweep") && heads_agree_in(a, b, "of") &&
           heads_agree_in(a, b, "rows");
}

bool merge_possible(struct record *const *records, char *const *names, size_t count, char *error)
{
    const char *first = value_text_or(record_head(records[0]), "benchmark", "");
    for (size_t i = 0; i < count; i++) {
        const char *other = value_text_or(record_head(records[i]), "benchmark", "");
        if (value_get(record_head(records[i]), "merged")) {
            snprintf(error, MESSAGE_SIZE, "%.300s: is merged already; give the files that it was made of",
                     names[i]);
            return false;
        }
        if (strcmp(first, other) != 0) {
            snprintf(error, MESSAGE_SIZE, "%.180s: is of %.50s, but %.180s of %.50s", names[i], other,
                     names[0], first);
            return false;
        }
    }
    return true;
}

static struct source *find_sources(struct record *const *records, char *const *names, size_t count)
{
    struct source *all = allocate(count, sizeof *all);
    for (size_t i = 0; i < count; i++) {
        const struct value *head = record_head(records[i]);
        all[i] = (struct source){records[i], names[i], value_get(head, "shard"), i, i};
        for (size_t k = i; k-- > 0;) {
            all[i].sweep = same_sweep(all[k].shard, all[i].shard) ? all[k].sweep : all[i].sweep;
            all[i].machine = same_build(record_head(records[k]), head) ? all[k].machine : all[i].machine;
        }
    }
    return all;
}

/* The parts of the identity in which the files differ: "node1, 63ebb42b999e". Empty if they are all of one.
 */
static void name_origin(const struct source *all, size_t count, size_t i, char text[ORIGIN_TEXT])
{
    text[0] = '\0';
    for (size_t part = 0; part < IDENTITY; part++) {
        const struct value *head = record_head(all[i].record);
        bool differs = false;
        for (size_t k = 0; k < count; k++)
            differs = differs || !identities_agree_in(head, record_head(all[k].record), part);
        if (differs)
            append(text, ORIGIN_TEXT, "%s%s", *text ? ", " : "", identity_of(head, part));
    }
}

/* Sweep by sweep; in each device by device, by position, and in the order of the files. */
static int by_place(const void *a, const void *b)
{
    const struct moved *x = a, *y = b;
    int order = (x->from->sweep > y->from->sweep) - (x->from->sweep < y->from->sweep);
    if (!order && x->from->shard)
        order = strverscmp(x->device, y->device);
    if (!order && x->from->shard)
        order = (x->position > y->position) - (x->position < y->position);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Takes all rows, sorted. To be freed. */
static struct moved *take_rows(const struct source *all, size_t count, size_t *n)
{
    struct moved *moved = allocate(1, sizeof *moved);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        struct rows *rows = record_rows(all[i].record);
        for (size_t k = 0; k < rows_count(rows); k++) {
            struct row *row = rows_at(rows, k);
            moved = grow(moved, *n, sizeof *moved);
            moved[*n] = (struct moved){.row = row,
                                       .from = &all[i],
                                       .at = *n,
                                       .position = row->position == COUNT_ABSENT ? 0 : row->position,
                                       .device = row->device ? row->device : ""};
            ++*n;
        }
        while (rows_count(rows) > 0)
            rows_take(rows, rows_count(rows) - 1);
    }
    qsort(moved, *n, sizeof *moved, by_place);
    return moved;
}

/* Whether both rows stand for the same measurement: of other files, and of the same work on one machine.
 * Twins of one sweep have two places. */
static bool same_row(const struct match_rule *rule, const struct moved *a, const struct moved *b)
{
    return a->from != b->from && a->from->machine == b->from->machine && match(rule, a->row, b->row) &&
           (!a->from->shard || a->from->sweep != b->from->sweep || a->position == b->position);
}

/* Whether all fields agree, but for the position, which belongs to a sweep, and the start, which says nothing
 * of a plan. */
static bool same_results(const struct row *a, const struct row *b)
{
    bool same = true;
    for (const struct field *f = schema_fields; same && schema_has(f); f++)
        same = strcmp(f->path, "position") == 0 || strcmp(f->path, "started") == 0 || row_order(a, b, f) == 0;
    return same;
}

static int moved_by_work(const void *a, const void *b, void *moved)
{
    const struct moved *all = moved;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = row_order(all[x].row, all[y].row, schema_find("work"));
    return order ? order : (x > y) - (x < y);
}

/* Marks a row that an earlier one stands for; names it if their results differ. */
static void judge_copy(const struct rows *all, const struct moved *first, struct moved *copy, FILE *out,
                       struct merge_found *found)
{
    const struct field *axes[AXES_MAX];
    char text[AXES_TEXT];
    copy->copied = true;
    if (same_results(first->row, copy->row))
        return;
    axes_describe_all(copy->row, axes, axes_varying(all, axes), text);
    found->conflicts++;
    plain_put(out, first->from->name);
    fputs(" and ", out);
    plain_put(out, copy->from->name);
    fprintf(out, ": other results of the same work on the same machine%s%s\n", *text ? ": " : "", text);
}

static void find_copies(struct moved *moved, size_t n, FILE *out, struct merge_found *found)
{
    struct rows *all = rows_new_view();
    size_t *order = allocate(n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++) {
        rows_append(all, moved[i].row);
        order[i] = i;
    }
    struct match_rule rule = match_rule((const struct rows *const[]){all}, 1, NULL);
    qsort_r(order, n, sizeof *order, moved_by_work, moved);
    for (size_t i = 0; i < n; i++) {
        struct moved *copy = &moved[order[i]];
        for (size_t k = i;
             k-- > 0 && !copy->copied && row_order(moved[order[k]].row, copy->row, schema_find("work")) == 0;)
            if (!moved[order[k]].copied && same_row(&rule, &moved[order[k]], copy))
                judge_copy(all, &moved[order[k]], copy, out, found);
    }
    free(order);
    rows_free(all);
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts numbers and leaves out repeated ones; how many are left. */
static size_t sort_distinct(int64_t *numbers, size_t n)
{
    size_t left = 0;
    qsort(numbers, n, sizeof *numbers, by_value);
    for (size_t i = 0; i < n; i++)
        if (left == 0 || numbers[i] != numbers[left - 1])
            numbers[left++] = numbers[i];
    return left;
}

/* Ends a line: which sweep it is about, if the files are parts of several. */
static void name_sweep(const struct source *all, size_t count, size_t sweep, FILE *out)
{
    int64_t seed = 0;
    bool several = false;
    for (size_t i = 0; i < count; i++)
        several = several || (all[i].shard && all[i].sweep != sweep);
    if (several) {
        value_get_count(record_head(all[sweep].record), "seed", &seed);
        fputs(" of the sweep of ", out);
        plain_put(out, all[sweep].name);
        fprintf(out, ", seed %lld", (long long)seed);
    }
    putc('\n', out);
}

/* Names so many parts after one. */
static void name_gap(const struct source *all, size_t count, size_t sweep, int64_t part, int64_t missing,
                     FILE *out)
{
    int64_t of = 0;
    value_get_count(all[sweep].shard, "of", &of);
    if (missing == 1)
        fprintf(out, "shard %lld of %lld is missing", (long long)part + 1, (long long)of);
    else if (missing > 1)
        fprintf(out, "shards %lld to %lld of %lld are missing", (long long)part + 1,
                (long long)(part + missing), (long long)of);
    if (missing > 0)
        name_sweep(all, count, sweep, out);
}

/* Names the parts of a sweep of which there is no file. `numbers` has room for one for each file. */
static void find_missing_parts(const struct source *all, size_t count, size_t sweep, int64_t *numbers,
                               FILE *out, struct merge_found *found)
{
    size_t n = 0;
    int64_t of = 0, last = 0, index;
    value_get_count(all[sweep].shard, "of", &of);
    for (size_t i = 0; i < count; i++)
        if (all[i].sweep == sweep && value_get_count(all[i].shard, "index", &index) && index > 0 &&
            index <= of)
            numbers[n++] = index;
    n = sort_distinct(numbers, n);
    found->missing += (size_t)of - n;
    for (size_t i = 0; i < n; i++) {
        name_gap(all, count, sweep, last, numbers[i] - last - 1, out);
        last = numbers[i];
    }
    name_gap(all, count, sweep, last, of - last, out);
}

/* Names what is missing of a sweep: parts of which there is no file, or, if there are none, rows. */
static void find_missing(const struct source *all, size_t count, size_t sweep, const struct moved *moved,
                         size_t n, FILE *out, struct merge_found *found)
{
    int64_t rows = 0, there = 0, *numbers = allocate(n + count, sizeof *numbers);
    size_t before = found->missing;
    find_missing_parts(all, count, sweep, numbers, out, found);
    for (size_t i = 0; i < n; i++)
        if (moved[i].from->sweep == sweep)
            numbers[there++] = moved[i].position;
    there = (int64_t)sort_distinct(numbers, (size_t)there);
    free(numbers);
    value_get_count(all[sweep].shard, "rows", &rows);
    if (found->missing > before || there >= rows)
        return;
    fprintf(out, "%lld of %lld rows are missing: a shard was not finished", (long long)(rows - there),
            (long long)rows);
    name_sweep(all, count, sweep, out);
    found->missing++;
}

static struct value *head_of(const struct source *s, const char *origin)
{
    struct value *head = value_copy(record_head(s->record));
    value_remove(head, "fits");
    value_set_text(head, "file", s->name);
    if (*origin)
        value_set_text(head, "origin", origin);
    return head;
}

/* Sets a list of the head, of calibrations or links, to those of all files, each once. */
static void join_lists(struct value *head, const char *part, const struct source *all, size_t count)
{
    struct value *list = value_new_array();
    for (size_t i = 0; i < count; i++)
        for (struct walk w = value_walk(value_get(record_head(all[i].record), part)); walk_next(&w);) {
            bool known = false;
            for (size_t k = 0; k < value_size(list); k++)
                known = known || value_equal(value_at(list, k), w.value);
            if (!known)
                value_append(list, value_copy(w.value));
        }
    if (value_size(list) > 0)
        value_set(head, part, list);
    else
        value_free(list);
}

/* The head that all files agree on; parts of the identity in which they differ are "several". */
static struct value *common_head(const struct source *all, size_t count, bool one_machine)
{
    static const char *const dropped[] = {"schema", "benchmark", "command", "started",      "shard",
                                          "fits",   "resumed",   "merged",  "calibrations", "links"};
    static const char *const optional[] = {"settings", "tags"};
    const struct value *first = record_head(all[0].record);
    struct value *head = value_copy(first);
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        value_remove(head, dropped[i]);
    for (size_t k = 1; k < count; k++) {
        const struct value *other = record_head(all[k].record);
        for (size_t i = 0; i < sizeof optional / sizeof *optional; i++)
            if (!heads_agree_in(first, other, optional[i]))
                value_remove(head, optional[i]);
        for (size_t i = 0; i < IDENTITY; i++)
            if (!identities_agree_in(first, other, i)) {
                bool host = strncmp(identity[i], "host.", 5) == 0;
                value_set_text(host ? value_get(head, "host") : head, identity[i] + (host ? 5 : 0),
                               "several");
            }
    }
    if (one_machine) {
        join_lists(head, "calibrations", all, count);
        join_lists(head, "links", all, count);
    }
    return head;
}

/* Moves the rows that are no copies into the record, with their origins. */
static void put_rows(struct record *record, struct moved *moved, size_t n, const struct source *all,
                     size_t count, bool one_machine)
{
    for (size_t i = 0; i < n; i++) {
        char origin[ORIGIN_TEXT];
        if (moved[i].copied) {
            row_free(moved[i].row);
            continue;
        }
        name_origin(all, count, (size_t)(moved[i].from - all), origin);
        if (!one_machine)
            row_set_text(moved[i].row, "origin", origin);
        moved[i].row->id = (int64_t)rows_count(record_rows(record));
        rows_append(record_rows(record), moved[i].row);
    }
}

struct record *merge_records(struct record *const *records, char *const *names, size_t count,
                             const char *command, FILE *out, struct merge_found *found)
{
    struct source *all = find_sources(records, names, count);
    struct value *heads = value_new_array();
    bool one_machine = true;
    size_t n;
    *found = (struct merge_found){0};
    for (size_t i = 0; i < count; i++) {
        char origin[ORIGIN_TEXT];
        name_origin(all, count, i, origin);
        value_append(heads, head_of(&all[i], origin));
        one_machine = one_machine && all[i].machine == 0;
    }
    struct value *head = common_head(all, count, one_machine);
    value_set(head, "merged", heads);
    struct record *record =
        record_new(value_text_or(record_head(records[0]), "benchmark", ""), command, head);
    struct moved *moved = take_rows(all, count, &n);
    find_copies(moved, n, out, found);
    for (size_t i = 0; i < count; i++)
        if (all[i].shard && all[i].sweep == i)
            find_missing(all, count, i, moved, n, out, found);
    put_rows(record, moved, n, all, count, one_machine);
    struct fits fits = fits_find(record_rows(record));
    value_set(record_head(record), "fits", fits_value(&fits));
    fits_free(&fits);
    free(moved);
    free(all);
    return record;
}
