/*
 * The file is {"calibrations": [...]}, one for each set of conditions. It is a cache: what cannot be read, or
 * is not a calibration, is measured again.
 */
#include "bench/machine/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/record/record.h"

const char *memory_level_name(enum memory_level level)
{
    static const char *const names[] = {"L2", "LLC", "DRAM"};
    return names[level];
}

/*
 * The processor's name and generation, since virtual machines omit the generation from the name: "family 26,
 * model 2, AMD EPYC, stepping 1". On ARM there are only implementer and part.
 */
static void identify_cpu(char *text, size_t size)
{
    static const char *const parts[][2] = {{"cpu family", "family "}, {"model", "model "},
                                           {"model name", ""},        {"stepping", "stepping "},
                                           {"CPU part", "part "},     {"CPU implementer", "implementer "}};
    char line[512];
    size_t used = 0;
    snprintf(text, size, "unknown");
    FILE *in = fopen("/proc/cpuinfo", "r");
    while (in && fgets(line, sizeof line, in) && *line != '\n') { /* the first processor */
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        line[strcspn(line, "\t:")] = '\0';
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strcmp(line, parts[i][0]) == 0 && used < size)
                used += (size_t)snprintf(text + used, size - used, "%s%s%.*s", used ? ", " : "", parts[i][1],
                                         (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (in)
        fclose(in);
}

struct calibration calibration_conditions(const struct peak *peak, int threads)
{
    struct calibration c = {.threads = threads,
                            .memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)};
    identify_cpu(c.cpu, sizeof c.cpu);
    snprintf(c.isa, sizeof c.isa, "%s", peak->isa);
    if (getloadavg(&c.load, 1) != 1)
        c.load = 0;
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(c.time, sizeof c.time, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return c;
}

static bool same_conditions(const struct calibration *a, const struct calibration *b)
{
    return strcmp(a->cpu, b->cpu) == 0 && strcmp(a->isa, b->isa) == 0 && a->threads == b->threads &&
           a->memory == b->memory;
}

json_t *calibration_json(const struct calibration *c)
{
    json_t *levels = json_object();
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++) {
        const struct bandwidth *b = &c->level[l];
        if (b->capacity)
            json_object_set_new(levels, memory_level_name(l),
                                json_pack("{sI sI sf sf sf}", "capacity", (json_int_t)b->capacity,
                                          "working_set", (json_int_t)b->working_set, "read", b->read, "write",
                                          b->write, "triad", b->triad));
    }
    return json_pack("{ss ss si sI sf ss sf so}", "cpu", c->cpu, "isa", c->isa, "threads", c->threads,
                     "memory", (json_int_t)c->memory, "load", c->load, "time", c->time, "peak", c->peak,
                     "bandwidth", levels);
}

static bool read_text(const json_t *json, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(json, key));
    return value && (size_t)snprintf(text, size, "%s", value) < size;
}

static bool read_integer(const json_t *json, const char *key, int64_t *value)
{
    const json_t *number = json_object_get(json, key);
    *value = json_integer_value(number);
    return json_is_integer(number) && *value > 0;
}

static bool read_rate(const json_t *json, const char *key, double *value)
{
    *value = json_number_value(json_object_get(json, key));
    return isfinite(*value) && *value > 0;
}

static bool read_bandwidth(const json_t *json, struct bandwidth *b)
{
    return read_integer(json, "capacity", &b->capacity) &&
           read_integer(json, "working_set", &b->working_set) && read_rate(json, "read", &b->read) &&
           read_rate(json, "write", &b->write) && read_rate(json, "triad", &b->triad);
}

bool calibration_read(const json_t *json, struct calibration *c)
{
    *c = (struct calibration){0};
    int64_t threads;
    if (!read_text(json, "cpu", c->cpu, sizeof c->cpu) || !read_text(json, "isa", c->isa, sizeof c->isa) ||
        !read_text(json, "time", c->time, sizeof c->time) || !read_integer(json, "memory", &c->memory) ||
        !read_integer(json, "threads", &threads) || threads > INT32_MAX || !read_rate(json, "peak", &c->peak))
        return false;
    c->threads = (int)threads;
    c->load = json_number_value(json_object_get(json, "load"));
    const json_t *levels = json_object_get(json, "bandwidth");
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++) {
        const json_t *level = json_object_get(levels, memory_level_name(l));
        if (level && !read_bandwidth(level, &c->level[l]))
            return false;
    }
    return c->level[MEMORY_DRAM].capacity > 0;
}

/* The array of calibrations in a file; empty if there are none. To be freed. */
static json_t *load_all(const char *path)
{
    json_t *file = json_load_file(path, 0, NULL), *all = json_object_get(file, "calibrations");
    all = json_is_array(all) ? json_incref(all) : json_array();
    json_decref(file);
    return all;
}

/* Finds the calibration for these conditions; returns its index, or -1. */
static int find(const json_t *all, const struct calibration *conditions, struct calibration *found)
{
    for (size_t i = 0; i < json_array_size(all); i++)
        if (calibration_read(json_array_get(all, i), found) && same_conditions(found, conditions))
            return (int)i;
    return -1;
}

/* Writes the calibration to the file, replacing its predecessor. */
static bool keep(const char *path, const struct calibration *c, struct message *error)
{
    struct calibration old;
    json_t *all = load_all(path);
    int at = find(all, c, &old);
    if (at >= 0)
        json_array_set_new(all, (size_t)at, calibration_json(c));
    else
        json_array_append_new(all, calibration_json(c));
    json_t *file = json_pack("{so}", "calibrations", all);
    bool saved = record_save(file, path, error->text);
    json_decref(file);
    return saved;
}

bool calibration_kept(const char *path, const struct peak *peak, int threads, struct calibration *c)
{
    struct calibration conditions = calibration_conditions(peak, threads);
    json_t *all = load_all(path);
    int at = find(all, &conditions, c);
    json_decref(all);
    return at >= 0;
}

bool calibration_get(const struct calibration_request *r, struct calibration *c, struct message *message)
{
    message->text[0] = '\0';
    if (r->path && !r->refresh && calibration_kept(r->path, r->peak, r->threads, c))
        return true;
    if (!calibrate(r->peak, r->threads, r->seconds, c, message))
        return false;
    if (r->path)
        keep(r->path, c, message);
    return true;
}
