#include "bench/machine/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/tables/units.h"
#include "bench/base/affinity.h"
#include "bench/base/kinds.h"
#include "bench/base/members.h"
#include "bench/base/paths.h"
#include "bench/machine/caches.h"

static const char *const parts[][2] = {{"cpu family", "family "}, {"model", "model "},
                                       {"model name", ""},        {"stepping", "stepping "},
                                       {"CPU part", "part "},     {"CPU implementer", "implementer "}};

/* The parts that /proc/cpuinfo has of processor `cpu`, of the first for -1. False if there are none. */
static bool read_parts(int cpu, char *text, size_t size)
{
    char line[512];
    size_t used = 0;
    bool of_it = cpu < 0;
    FILE *in = fopen("/proc/cpuinfo", "r");
    while (in && fgets(line, sizeof line, in) && !(used && *line == '\n')) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        line[strcspn(line, "\t:")] = '\0';
        if (cpu >= 0 && strcmp(line, "processor") == 0)
            of_it = atoi(colon + 1) == cpu;
        for (size_t i = 0; of_it && i < sizeof parts / sizeof *parts; i++)
            if (strcmp(line, parts[i][0]) == 0 && used < size)
                used += (size_t)snprintf(text + used, size - used, "%s%s%.*s", used ? ", " : "", parts[i][1],
                                         (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (in)
        fclose(in);
    return used;
}

int calibration_cpu(char *text, size_t size)
{
    char kind[KIND_NAME];
    cpu_set_t granted;
    affinity_granted(&granted);
    int first = affinity_first(&granted);
    if (!read_parts(first, text, size) && !read_parts(-1, text, size))
        snprintf(text, size, "unknown");
    bool one = kinds_fastest("/sys", &granted, kind);
    size_t used = strlen(text);
    if (*kind)
        snprintf(text + used, size - used, ", %s", one ? kind : "several kinds");
    return first;
}

struct calibration calibration_conditions(const struct peak *peak, int threads)
{
    struct calibration c = {.threads = threads,
                            .memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)};
    char line[KINDS_LINE];
    int cpu = calibration_cpu(c.cpu, sizeof c.cpu);
    if (kinds_line("/sys", "%s/devices/system/cpu/cpu%d/cpufreq/scaling_max_freq", cpu, 0, line))
        c.clock = 1000 * atoll(line);
    snprintf(c.isa, sizeof c.isa, "%s", peak->isa);
    if (getloadavg(&c.load, 1) != 1)
        c.load = 0;
    utc_now(c.time);
    return c;
}

static bool same_conditions(const struct calibration *a, const struct calibration *b)
{
    return strcmp(a->cpu, b->cpu) == 0 && strcmp(a->isa, b->isa) == 0 && a->threads == b->threads &&
           a->memory == b->memory && a->clock == b->clock;
}

struct probe calibration_state(const struct calibration *c)
{
    return states_median(c->turn, (size_t)c->turns, NULL);
}

void calibration_merge(struct calibration *c, const struct calibration *earlier)
{
    for (int i = 0; i < c->points; i++)
        if (c->points != earlier->points || c->sweep[i].working_set != earlier->sweep[i].working_set)
            return;
    c->peak = fmax(c->peak, earlier->peak);
    c->tf32 = fmax(c->tf32, earlier->tf32);
    c->bf16 = fmax(c->bf16, earlier->bf16);
    for (int i = 0; i < c->points; i++)
        bandwidth_raise(&c->sweep[i], &earlier->sweep[i]);
    levels_find(c->level, c->sweep, c->points, caches_find(NULL, c->threads).l2, c->memory);
}

static const struct member rates[] = {{MEMBER(bandwidth, COUNT, capacity), .may_lack = true},
                                      {MEMBER(bandwidth, COUNT, working_set)},
                                      {MEMBER(bandwidth, RATE, read)},
                                      {MEMBER(bandwidth, RATE, write)},
                                      {MEMBER(bandwidth, RATE, update)},
                                      {MEMBER(bandwidth, RATE, triad)},
                                      {.name = NULL}};

static const struct member members[] = {{MEMBER(calibration, TEXT, cpu)},
                                        {MEMBER(calibration, TEXT, isa)},
                                        {MEMBER(calibration, INT, threads)},
                                        {MEMBER(calibration, COUNT, memory)},
                                        {MEMBER(calibration, COUNT, clock), .may_lack = true},
                                        {MEMBER(calibration, REAL, load)},
                                        {MEMBER(calibration, TEXT, time)},
                                        {MEMBER(calibration, RATE, peak)},
                                        {MEMBER(calibration, RATE, tf32), .may_lack = true},
                                        {MEMBER(calibration, RATE, bf16), .may_lack = true},
                                        {.name = NULL}};

static struct value *bandwidth_json(const struct bandwidth *b)
{
    struct value *json = value_new_object();
    members_write(rates, b, json);
    return json;
}

/* Before and after each turn, as in the state of a row. */
static struct value *probes_json(const struct calibration *c)
{
    struct value *json = value_new_object();
    for (int part = 0; part < PROBE_PARTS; part++) {
        struct value *list = value_new_array();
        for (int i = 0; i < c->turns; i++) {
            value_append(list, value_new_real(c->turn[i].before.seconds[part]));
            value_append(list, value_new_real(c->turn[i].after.seconds[part]));
        }
        value_set(json, probe_parts[part], list);
    }
    return json;
}

struct value *calibration_json(const struct calibration *c)
{
    struct value *json = value_new_object(), *levels = value_new_object(), *sweep = value_new_array();
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++)
        if (c->level[l].capacity)
            value_set(levels, memory_level_name(l), bandwidth_json(&c->level[l]));
    for (int i = 0; i < c->points; i++)
        value_append(sweep, bandwidth_json(&c->sweep[i]));
    members_write(members, c, json);
    value_set(json, "bandwidth", levels);
    value_set(json, "sweep", sweep);
    value_set(json, "probes", probes_json(c));
    value_set_real(json, "exceeded", c->exceeded);
    return json;
}

/* ", bf16 312 TFLOP/s"; empty without a rate. */
static void say_products(char text[2 * UNITS_TEXT], const char *type, double rate)
{
    char number[UNITS_TEXT];
    units_format(number, 1e9 * rate, UNITS_SI, "FLOP/s");
    snprintf(text, rate > 0 ? 2 * UNITS_TEXT : 1, ", %s %s", type, number);
}

void calibration_text(const struct calibration *c, char *text, size_t size)
{
    char peak[UNITS_TEXT], tf32[2 * UNITS_TEXT], bf16[2 * UNITS_TEXT], dram[UNITS_TEXT];
    units_format(peak, 1e9 * c->peak, UNITS_SI, "FLOP/s");
    say_products(tf32, "tf32", c->tf32);
    say_products(bf16, "bf16", c->bf16);
    units_format(dram, 1e9 * bandwidth_highest(&c->level[MEMORY_DRAM]), UNITS_SI, "B/s");
    size_t used = (size_t)snprintf(text, size, "%s%s%s, DRAM %s", peak, tf32, bf16, dram);
    if (c->threads > 0 && used < size)
        snprintf(text + used, size - used, "; %s, %d thread%s, calibrated %s", c->cpu, c->threads,
                 c->threads == 1 ? "" : "s", c->time);
}

static bool read_levels(const struct value *json, struct calibration *c)
{
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++) {
        const struct value *level = value_get(json, memory_level_name(l));
        if (level && !(members_read(rates, level, &c->level[l]) && c->level[l].capacity > 0))
            return false;
    }
    return c->level[MEMORY_DRAM].capacity > 0;
}

static bool read_sweep(const struct value *json, struct calibration *c)
{
    for (struct walk w = value_walk(json); walk_next(&w); c->points++)
        if (c->points == SWEEP_MOST || !members_read(rates, w.value, &c->sweep[c->points]))
            return false;
    return c->points > 0;
}

/* A probe that was not measured is null; older files have no rates of sharing. */
static bool read_probes(const struct value *json, struct calibration *c)
{
    for (int part = 0; part < PROBE_PARTS; part++) {
        int n = 0;
        if (part == PROBE_SHARING && !value_get(json, probe_parts[part])) {
            for (; n < c->turns; n++)
                c->turn[n].before.seconds[part] = c->turn[n].after.seconds[part] = NAN;
            continue;
        }
        for (struct walk w = value_walk(value_get(json, probe_parts[part])); walk_next(&w); n++) {
            double seconds = NAN;
            value_read_real(w.value, &seconds);
            if (n == 2 * CALIBRATION_TURNS)
                return false;
            (n % 2 ? &c->turn[n / 2].after : &c->turn[n / 2].before)->seconds[part] = seconds;
        }
        if (n == 0 || n % 2 != 0 || (part > 0 && n != 2 * c->turns))
            return false;
        c->turns = n / 2;
    }
    return true;
}

bool calibration_read(const struct value *json, struct calibration *c)
{
    *c = (struct calibration){0};
    value_get_real(json, "exceeded", &c->exceeded);
    return members_read(members, json, c) && read_levels(value_get(json, "bandwidth"), c) &&
           read_sweep(value_get(json, "sweep"), c) &&
           (strcmp(c->isa, "cuda") == 0 || read_probes(value_get(json, "probes"), c));
}

/* The file is {"calibrations": [...]}, for each set of conditions one for each state of the machine, and
 * "choices". It is a cache: what cannot be read, or is not a calibration, is measured again. */

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

int calibration_load(const char *path, const struct calibration *conditions,
                     struct calibration list[CALIBRATION_STATES])
{
    struct value *file = load(path);
    int count = 0;
    for (struct walk w = value_walk(value_get(file, "calibrations"));
         count < CALIBRATION_STATES && walk_next(&w);)
        count += calibration_read(w.value, &list[count]) && same_conditions(&list[count], conditions);
    value_free(file);
    return count;
}

bool calibration_save(const char *path, const struct calibration *list, int count, struct message *error)
{
    struct calibration other;
    struct value *file = load(path), *all = value_new_array();
    for (struct walk w = value_walk(value_get(file, "calibrations")); walk_next(&w);)
        if (calibration_read(w.value, &other) && !same_conditions(&other, list))
            value_append(all, value_copy(w.value));
    for (int i = 0; i < count; i++)
        value_append(all, calibration_json(&list[i]));
    value_set(file, "calibrations", all);
    bool saved = value_save(file, path, 1, error->text);
    value_free(file);
    return saved;
}

static void keep_choice(void *lines, const char *line)
{
    value_append(lines, value_new_text(line));
}

void calibration_choices(const struct device_choice *d, bool keep)
{
    char path[PATH_MAX];
    const char *line;
    struct message error;
    if (!d->context || !d->backend->device->recall || !place_name("calibration.json", path))
        return;
    struct value *file = load(path), *lines = value_get(file, "choices");
    if (value_kind(lines) != VALUE_ARRAY)
        value_set(file, "choices", lines = value_new_array());
    size_t before = value_size(lines);
    if (keep)
        d->backend->device->choices(d->context, true, keep_choice, lines);
    for (struct walk w = value_walk(lines); !keep && walk_next(&w);)
        if (value_read_text(w.value, &line))
            d->backend->device->recall(d->context, line);
    if (value_size(lines) > before &&
        !(paths_default("calibration.json", path, &error) && value_save(file, path, 1, error.text)))
        message_fail("note", &error, EXIT_GOOD);
    value_free(file);
}
