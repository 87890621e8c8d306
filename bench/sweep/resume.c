#include "bench/sweep/resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/record/result_file.h"
#include "analysis/record/schema.h"
#include "analysis/statistics/allocate.h"
#include "bench/cli/config.h"
#include "bench/cli/flags.h"
#include "bench/row/fields.h"

struct value *resume_settings(const struct options *o)
{
    struct value *programs = value_new_array(), *variants = value_new_object();
    struct value *settings = value_new_object();
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        if (o->programs[p])
            value_append(programs, value_new_text(program_name(p)));
    for (int i = 0; form_at(i).op < OPS; i++) {
        struct form f = form_at(i);
        if (o->variant[f.op][f.options])
            value_set_text(variants, form_name(f), o->variant[f.op][f.options]);
    }
    value_set(settings, "phase", programs);
    value_set(settings, "impl", variants);
    if (o->plugin.file)
        value_set_text(settings, "plugin", o->plugin.id);
    value_set_flag(settings, "cuda_graph", o->cuda_graph);
    value_set_count(settings, "runs", o->sampling.runs);
    value_set_flag(settings, "check", o->check.wanted);
    value_set_text(settings, "count", count_modes[o->count]);
    if (o->peaks.count > 0) {
        char text[MESSAGE_SIZE];
        calibration_text(&o->peaks.list[o->peaks.count - 1], text, sizeof text);
        value_set_text(settings, "peaks", text);
    }
    if (o->links.count > 0) {
        struct message text;
        link_text(&o->links.list[o->links.count - 1], LINK_SUM, &text);
        value_set_text(settings, "link", text.text);
    }
    return settings;
}

/* The devices' names: "name" of an object, or the text itself. Clock and temperature may differ. */
static struct value *names_of_devices(const struct value *head)
{
    struct value *names = value_new_array();
    for (struct walk w = value_walk(value_get(head, "devices")); walk_next(&w);) {
        const struct value *name = value_get(w.value, "name");
        value_append(names, value_copy(name ? name : w.value));
    }
    return names;
}

static bool agrees(const struct value *old, const struct value *new, const char *name, const char *path,
                   struct message *error)
{
    if (value_equal(old, new) || (!old && !new))
        return true;
    char *there = old ? value_print(old) : NULL;
    char *here = new ? value_print(new) : NULL;
    complain(error, "--resume: %.150s differs in its %s: %.120s there, %.120s here", path, name,
             there ? there : "nothing", here ? here : "nothing");
    free(there);
    free(here);
    return false;
}

static bool heads_agree(const struct value *old, const struct value *new, const char *path,
                        struct message *error)
{
    static const char *const parts[] = {
        "benchmark",    "commit", "compiler", "flags",
        "libraries",    "seed",   "host.cpu", "host.instruction_set",
        "host.waiting", "shard",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!agrees(value_get(old, parts[i]), value_get(new, parts[i]), parts[i], path, error))
            return false;
    for (struct walk w = value_walk(value_get(new, "settings")); walk_next(&w);) {
        char name[64];
        snprintf(name, sizeof name, "settings: %s", w.key);
        if (!agrees(value_get(value_get(old, "settings"), w.key), w.value, name, path, error))
            return false;
    }
    struct value *there = names_of_devices(old), *here = names_of_devices(new);
    bool same = agrees(there, here, "devices", path, error);
    value_free(there);
    value_free(here);
    return same;
}

/* Compares reals to 15 digits, as files store them. */
static bool same_value(const struct row *a, const struct row *b, const struct field *f)
{
    if (f->type != FIELD_REAL || !row_has_field(a, f) || !row_has_field(b, f))
        return row_order(a, b, f) == 0;
    double x = *field_real(a, f);
    return fabs(x - *field_real(b, f)) <= 1e-14 * fabs(x);
}

/* Whether a row of the same work matches the axes of `wanted`; graphs from files have their own size. */
static bool belongs(const struct row *row, const struct row *wanted, bool from_file)
{
    static const char *const of_files[] = {"nodes", "degree", "batch"};
    for (const struct field *f = schema_fields; schema_has(f); f++) {
        bool counts = f->symbol && row_has_field(wanted, f);
        for (size_t i = 0; i < sizeof of_files / sizeof *of_files && from_file; i++)
            counts = counts && strcmp(f->path, of_files[i]) != 0;
        if (counts && !same_value(row, wanted, f))
            return false;
    }
    return true;
}

/* Whether a time of the row has fewer turns than asked for. */
static bool lacks_turns(const struct row *row, const struct sampling_options *o)
{
    int wanted = o->runs > 0 && o->runs < o->turns ? o->runs : o->turns;
    bool lacks = false;
    for (size_t i = 0; i < TIMED; i++) {
        size_t turns = row_timed(row, i)->blocks.count;
        lacks = lacks || (turns > 0 && turns < (size_t)wanted);
    }
    return lacks;
}

/* complete: the sweep was not interrupted, so that a row with fewer turns had no time for more. */
static enum row_state state_of(const struct row *row, const struct options *o, bool complete)
{
    if (row_is_ok(row) && !complete && lacks_turns(row, &o->sampling))
        return ROW_PARTIAL;
    bool oom = row->status && strcmp(row->status, "oom") == 0;
    return row_is_ok(row) || oom ? ROW_KEPT : ROW_REDONE;
}

struct old_row {
    struct row *row;
    const char *work; /* its hash */
    size_t at;        /* in the file */
    bool taken;
};

static int old_rows_by_work(const void *a, const void *b)
{
    const struct old_row *x = a, *y = b;
    int order = strcmp(x->work, y->work);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int old_rows_by_place(const void *a, const void *b)
{
    const struct old_row *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Takes all rows out of the record; an array to free, sorted by work. */
static struct old_row *take_rows(struct rows *rows, size_t count)
{
    struct old_row *old = allocate(count, sizeof *old);
    while (rows_count(rows) > 0) {
        size_t at = rows_count(rows) - 1;
        struct row *row = rows_take(rows, at);
        old[at] = (struct old_row){.row = row, .work = row->work ? row->work : "", .at = at};
    }
    qsort(old, count, sizeof *old, old_rows_by_work);
    return old;
}

/* The first of the sorted rows whose work is not less. */
static size_t first_of_work(const struct old_row *old, size_t count, const char *work)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (strcmp(old[middle].work, work) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Takes the first row of this configuration and device that is not taken yet; null if there is none. */
static struct row *take_row(struct old_row *old, size_t count, const struct options *o,
                            const struct config *c, int device)
{
    struct row *wanted = row_new(), *taken = NULL;
    char name[DEVICE_NAME];
    fields_config(wanted, c, o);
    device_name(&o->device, device, name);
    wanted->device = row_keep(wanted, name);
    const char *work = wanted->work;
    for (size_t i = first_of_work(old, count, work); !taken && i < count && strcmp(old[i].work, work) == 0;
         i++)
        if (!old[i].taken && belongs(old[i].row, wanted, graph_is_file(c->graph.family))) {
            old[i].taken = true;
            taken = old[i].row;
        }
    row_free(wanted);
    return taken;
}

/* Orders the record's rows like the configurations, with rows of no configuration first. */
static void match(struct resume *r, const struct options *o, struct record *record)
{
    struct rows *rows = record_rows(record), *asked = rows_new_view();
    bool complete = value_get(record_head(record), "fits");
    size_t old_count = rows_count(rows);
    struct old_row *old = take_rows(rows, old_count);
    int64_t count = o->plan.count;
    for (int64_t i = 0; i < count * o->device.count; i++) {
        const struct config *c = &o->plan.list[i % count];
        struct row *row = take_row(old, old_count, o, c, (int)(i / count));
        if (!row)
            continue;
        r->state[i] = state_of(row, o, complete);
        row->position = c->position; /* in this sweep */
        rows_append(asked, row);
    }
    qsort(old, old_count, sizeof *old, old_rows_by_place);
    for (size_t i = 0; i < old_count; i++)
        if (!old[i].taken) {
            old[i].row->position = COUNT_ABSENT;
            rows_append(rows, old[i].row);
        }
    r->others = rows_count(rows);
    for (size_t i = 0; i < rows_count(asked); i++)
        rows_append(rows, rows_at(asked, i));
    rows_free(asked);
    free(old);
}

/* Notes the resuming command in the record; returns the note. */
static struct value *note_resumed(struct value *head, const struct value *by)
{
    struct value *entry = value_new_object();
    value_set(entry, "command", value_copy(value_get(by, "command")));
    value_set(entry, "started", value_copy(value_get(by, "started")));
    if (value_kind(value_get(head, "resumed")) != VALUE_ARRAY)
        value_set(head, "resumed", value_new_array());
    value_append(value_get(head, "resumed"), entry);
    return entry;
}

bool resume_open(struct resume *r, const struct options *o, const char *path, struct record **record,
                 struct message *error)
{
    struct message why;
    struct stat there;
    size_t rows = (size_t)o->plan.count * (size_t)o->device.count;
    *r = (struct resume){.state = allocate(rows, sizeof *r->state), .run = record_head(*record)};
    if (!o->output.resume || !path || stat(path, &there) != 0 || there.st_size == 0)
        return true;
    struct record *old = record_load(path, why.text);
    if (!old)
        return complain(error, "--resume: %.400s", why.text);
    if (!heads_agree(record_head(old), record_head(*record), path, error)) {
        record_free(old);
        return false;
    }
    match(r, o, old);
    value_remove(record_head(old), "fits"); /* computed from fewer rows */
    r->run = note_resumed(record_head(old), record_head(*record));
    record_free(*record);
    *record = old;
    return true;
}

void resume_close(struct resume *r)
{
    free(r->state);
    *r = (struct resume){0};
}
