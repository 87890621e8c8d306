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

#include "analysis/record/value.h"

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

static struct value *bandwidth_json(const struct bandwidth *b)
{
    struct value *json = value_new_object();
    value_set_count(json, "capacity", b->capacity);
    value_set_count(json, "working_set", b->working_set);
    value_set_real(json, "read", b->read);
    value_set_real(json, "write", b->write);
    value_set_real(json, "triad", b->triad);
    return json;
}

struct value *calibration_json(const struct calibration *c)
{
    struct value *json = value_new_object(), *levels = value_new_object();
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++)
        if (c->level[l].capacity)
            value_set(levels, memory_level_name(l), bandwidth_json(&c->level[l]));
    value_set_text(json, "cpu", c->cpu);
    value_set_text(json, "isa", c->isa);
    value_set_count(json, "threads", c->threads);
    value_set_count(json, "memory", c->memory);
    value_set_real(json, "load", c->load);
    value_set_text(json, "time", c->time);
    value_set_real(json, "peak", c->peak);
    value_set(json, "bandwidth", levels);
    return json;
}

static bool read_text(const struct value *json, const char *key, char *text, size_t size)
{
    const char *value;
    return value_get_text(json, key, &value) && (size_t)snprintf(text, size, "%s", value) < size;
}

static bool read_integer(const struct value *json, const char *key, int64_t *value)
{
    return value_get_count(json, key, value) && *value > 0;
}

static bool read_rate(const struct value *json, const char *key, double *value)
{
    return value_get_real(json, key, value) && *value > 0;
}

static bool read_bandwidth(const struct value *json, struct bandwidth *b)
{
    return read_integer(json, "capacity", &b->capacity) &&
           read_integer(json, "working_set", &b->working_set) && read_rate(json, "read", &b->read) &&
           read_rate(json, "write", &b->write) && read_rate(json, "triad", &b->triad);
}

bool calibration_read(const struct value *json, struct calibration *c)
{
    *c = (struct calibration){0};
    int64_t threads;
    if (!read_text(json, "cpu", c->cpu, sizeof c->cpu) || !read_text(json, "isa", c->isa, sizeof c->isa) ||
        !read_text(json, "time", c->time, sizeof c->time) || !read_integer(json, "memory", &c->memory) ||
        !read_integer(json, "threads", &threads) || threads > INT32_MAX || !read_rate(json, "peak", &c->peak))
        return false;
    c->threads = (int)threads;
    value_get_real(json, "load", &c->load);
    const struct value *levels = value_get(json, "bandwidth");
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++) {
        const struct value *level = value_get(levels, memory_level_name(l));
        if (level && !read_bandwidth(level, &c->level[l]))
            return false;
    }
    return c->level[MEMORY_DRAM].capacity > 0;
}

/* A file with an array of calibrations; empty if there are none. To be freed. */
static struct value *load(const char *path)
{
    char ignored[MESSAGE_SIZE];
    struct value *file = value_load(path, ignored);
    if (value_kind(value_get(file, "calibrations")) == VALUE_ARRAY)
        return file;
    value_free(file);
    file = value_new_object();
    value_set(file, "calibrations", value_new_array());
    return file;
}

/* Finds the calibration for these conditions; returns its index, or -1. */
static int find(const struct value *file, const struct calibration *conditions, struct calibration *found)
{
    int i = 0;
    for (struct walk w = value_walk(value_get(file, "calibrations")); walk_next(&w); i++)
        if (calibration_read(w.value, found) && same_conditions(found, conditions))
            return i;
    return -1;
}

/* Writes the calibration to the file, replacing its predecessor. */
static bool keep(const char *path, const struct calibration *c, struct message *error)
{
    struct calibration old;
    struct value *file = load(path), *all = value_get(file, "calibrations");
    int at = find(file, c, &old);
    if (at >= 0)
        value_replace(all, (size_t)at, calibration_json(c));
    else
        value_append(all, calibration_json(c));
    bool saved = value_save(file, path, 1, error->text);
    value_free(file);
    return saved;
}

bool calibration_kept(const char *path, const struct peak *peak, int threads, struct calibration *c)
{
    struct calibration conditions = calibration_conditions(peak, threads);
    struct value *file = load(path);
    int at = find(file, &conditions, c);
    value_free(file);
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
