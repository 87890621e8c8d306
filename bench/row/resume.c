/* Rows that agree, and heads that do not. */
#include "bench/row/resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "analysis/record/schema.h"
#include "bench/cli/config.h"
#include "bench/row/fields.h"

json_t *resume_settings(const struct options *o)
{
    json_t *programs = json_array(), *variants = json_object();
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        if (o->programs[p])
            json_array_append_new(programs, json_string(program_name(p)));
    for (enum op op = 0; op < OPS; op++)
        if (o->variant[op])
            json_object_set_new(variants, op_info(op)->name, json_string(o->variant[op]));
    return json_pack("{so so sb}", "phase", programs, "impl", variants, "cuda_graph", (int)o->cuda_graph);
}

/* A device is its name, or an object with a "name"; its clock and temperature may be others. */
static json_t *names_of_devices(const json_t *record)
{
    json_t *names = json_array(), *device;
    size_t i;
    json_array_foreach(json_object_get(record, "devices"), i, device)
    {
        json_t *name = json_object_get(device, "name");
        json_array_append(names, name ? name : device);
    }
    return names;
}

static bool agrees(const json_t *old, const json_t *new, const char *name, const char *path,
                   struct message *error)
{
    if (old && new &&json_equal(old, new))
        return true;
    char *there = old ? json_dumps(old, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *here = new ? json_dumps(new, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    complain(error, "--resume: %.150s differs in its %s: %.120s there, %.120s here", path, name,
             there ? there : "nothing", here ? here : "nothing");
    free(there);
    free(here);
    return false;
}

static bool heads_agree(const json_t *old, const json_t *new, const char *path, struct message *error)
{
    static const char *const parts[] = {
        "benchmark", "commit",    "compiler",
        "flags",     "libraries", "seed",
        "settings",  "host.cpu",  "host.instruction_set",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!agrees(row_get(old, parts[i]), row_get(new, parts[i]), parts[i], path, error))
            return false;
    json_t *there = names_of_devices(old), *here = names_of_devices(new);
    bool same = agrees(there, here, "devices", path, error);
    json_decref(there);
    json_decref(here);
    return same;
}

/* Values as a file holds them: a real number has 15 digits there. */
static bool same_value(const json_t *a, const json_t *b)
{
    if (!json_is_real(a) || !json_is_real(b))
        return json_equal(a, b);
    double x = json_real_value(a), y = json_real_value(b);
    return fabs(x - y) <= 1e-14 * fabs(x);
}

/* Whether a row is of the configuration whose axes `wanted` has. A file says itself how large its graph is.
 */
static bool belongs(const json_t *row, const json_t *wanted, bool from_file)
{
    static const char *const of_files[] = {"nodes", "degree", "batch"};
    if (!json_equal(json_object_get(row, "work"), json_object_get(wanted, "work")))
        return false;
    for (size_t i = 0; i < schema_fields_count; i++) {
        const char *path = schema_fields[i].path;
        bool counts = schema_fields[i].symbol && row_get(wanted, path);
        for (size_t f = 0; f < sizeof of_files / sizeof *of_files && from_file; f++)
            counts = counts && strcmp(path, of_files[f]) != 0;
        if (counts && !same_value(row_get(row, path), row_get(wanted, path)))
            return false;
    }
    return true;
}

static enum row_state state_of(const json_t *row)
{
    const char *status = "";
    row_get_text(row, "status", &status);
    return strcmp(status, "ok") == 0 || strcmp(status, "oom") == 0 ? ROW_KEPT : ROW_REDONE;
}

/* The first row of the configuration on this device that no other took, or null; taken from `rows`. */
static json_t *take_row(json_t *rows, const struct options *o, const struct config *c, int device)
{
    json_t *wanted = json_object(), *row;
    char name[DEVICE_NAME];
    size_t i;
    fields_config(wanted, c, o);
    device_name(&o->device, device, name);
    row_set_text(wanted, "device", name);
    json_array_foreach(rows, i, row)
    {
        if (!belongs(row, wanted, graph_is_file(c->graph.family)))
            continue;
        json_incref(row);
        json_array_remove(rows, i);
        json_decref(wanted);
        return row;
    }
    json_decref(wanted);
    return NULL;
}

/* Puts the rows of the record into the order of the configurations, those of none before them. */
static void match(struct resume *r, const struct options *o, json_t *record)
{
    json_t *rows = json_object_get(record, "rows"), *asked = json_array();
    int64_t count = config_count(o);
    for (int64_t i = 0; i < count * o->device.count && json_array_size(rows) > 0; i++) {
        struct config c = config_at(o, i % count);
        json_t *row = take_row(rows, o, &c, (int)(i / count));
        if (!row)
            continue;
        r->state[i] = state_of(row);
        json_array_append_new(asked, row);
    }
    r->others = json_array_size(rows);
    json_array_extend(rows, asked);
    json_decref(asked);
}

/* Notes the command that goes on with the record; returns the note. */
static json_t *note_resumed(json_t *record, const json_t *by)
{
    json_t *list = json_object_get(record, "resumed");
    json_t *entry = json_pack("{sO sO}", "command", json_object_get(by, "command"), "started",
                              json_object_get(by, "started"));
    if (!json_is_array(list)) {
        list = json_array();
        json_object_set_new(record, "resumed", list);
    }
    json_array_append_new(list, entry);
    return entry;
}

bool resume_open(struct resume *r, const struct options *o, const char *path, json_t **record,
                 struct message *error)
{
    struct message why;
    size_t rows = (size_t)config_count(o) * (size_t)o->device.count;
    *r = (struct resume){.state = calloc(rows, sizeof *r->state), .run = *record};
    if (!r->state)
        return complain(error, "no memory for %zu rows", rows);
    if (!o->output.resume || !path || access(path, F_OK) != 0)
        return true;
    json_t *old = record_load(path, why.text);
    if (!old)
        return complain(error, "--resume: %.400s", why.text);
    if (!heads_agree(old, *record, path, error)) {
        json_decref(old);
        return false;
    }
    match(r, o, old);
    json_object_del(old, "fits"); /* of fewer rows */
    r->run = note_resumed(old, *record);
    json_decref(*record);
    *record = old;
    return true;
}

void resume_close(struct resume *r)
{
    free(r->state);
    *r = (struct resume){0};
}
