#include "bench/machine/peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "bench/base/clock.h"
#include "bench/machine/machine.h"
#include "bench/machine/probe.h"

/* Calibrations of a run for one number of threads, at most, of more states than are worth measuring. */
enum { CALIBRATIONS_MOST = 4 };

/* Between two looks at the machine's state. */
static const double look_seconds = 1;

struct calibrated {
    int threads;
    int count; /* calibrations of this run */
    double looked;
};

static struct calibrated *calibrated_for(struct peaks *c, int threads)
{
    for (int i = 0; i < c->calibrated_count; i++)
        if (c->calibrated[i].threads == threads)
            return &c->calibrated[i];
    c->calibrated = grow(c->calibrated, (size_t)c->calibrated_count, sizeof *c->calibrated);
    c->calibrated[c->calibrated_count] = (struct calibrated){.threads = threads, .looked = -INFINITY};
    return &c->calibrated[c->calibrated_count++];
}

static void add(struct peaks *c, const struct calibration *new)
{
    c->list = grow(c->list, (size_t)c->count, sizeof *c->list);
    c->list[c->count++] = *new;
}

/* Of a GPU, those of the card in use. */
static bool is_for(const struct peaks *c, int i, int threads)
{
    const struct calibration *one = &c->list[i];
    if (c->device)
        return strcmp(one->cpu, c->device->card) == 0;
    return one->threads == threads && !one->replaced;
}

static void load_all(struct peaks *c, int threads)
{
    struct calibration conditions = calibration_conditions(c->peak, threads), list[CALIBRATION_STATES];
    int count = *c->path ? calibration_load(c->path, &conditions, list) : 0;
    for (int i = 0; i < count; i++)
        add(c, &list[i]);
}

static void note_not_kept(const struct message *error)
{
    struct message note;
    complain(&note, "%s; calibrations are not kept", error->text);
    message_fail("note", &note, EXIT_GOOD);
}

static void save(const struct peaks *c, int threads)
{
    struct calibration list[CALIBRATION_STATES];
    struct message error;
    int count = 0;
    for (int i = 0; i < c->count; i++)
        if (is_for(c, i, threads))
            list[count++] = c->list[i];
    if (*c->path && !calibration_save(c->path, list, count, &error))
        note_not_kept(&error);
}

void peaks_add(struct peaks *c, struct calibration *new)
{
    const char *reason;
    struct probe state = calibration_state(new);
    const struct calibration *same =
        peaks_in(c, new->threads, new->turn, (size_t) new->turns, &state, &reason);
    int old = same ? (int)(same - c->list) : -1, count = 0;
    if (same)
        calibration_merge(new, same);
    for (int i = c->count - 1; i >= 0 && !same; i--)
        if (is_for(c, i, new->threads) && ++count == CALIBRATION_STATES)
            old = i;
    if (old >= 0)
        c->list[old].replaced = true;
    add(c, new);
}

/* False if nothing was measured. */
static bool calibrate_now(struct peaks *c, int threads)
{
    struct message error;
    struct calibration new;
    calibrated_for(c, threads)->count++;
    bool measured = c->device ? calibrate_device(c->device, threads, &new, &error)
                              : calibrate(c->peak, threads, CALIBRATION_SECONDS, &new, &error);
    if (measured) {
        peaks_add(c, &new);
        save(c, threads);
    } else {
        message_fail("note", &error, EXIT_GOOD);
    }
    return measured;
}

/* The calibration of the machine's present state; null if there is none. */
static const struct calibration *present(const struct peaks *c, int threads)
{
    const char *reason;
    struct turn turns[BURST];
    for (int i = 0; i < BURST; i++) {
        turns[i].before = probe_take(c->peak, threads);
        turns[i].after = probe_take(c->peak, threads);
    }
    struct probe state = states_median(turns, BURST, NULL);
    return peaks_in(c, threads, turns, BURST, &state, &reason);
}

static struct peaks start(const struct peaks_request *r, const char *reason)
{
    bool given = r->given && r->given->count > 0;
    struct peaks c = {.peak = r->no_peaks || given ? NULL : r->peak,
                      .device = r->no_peaks || given ? NULL : r->device,
                      .no_peaks = r->no_peaks              ? r->no_peaks
                                  : !r->peak && !r->device ? "this device has no calibration"
                                                           : reason,
                      .given = given};
    for (int i = 0; c.given && i < r->given->count; i++)
        add(&c, &r->given->list[i]);
    return c;
}

static void move_last(struct peaks *c, int index)
{
    struct calibration copy = c->list[index];
    memmove(&c->list[index], &c->list[index + 1], (size_t)(c->count - index - 1) * sizeof copy);
    c->list[c->count - 1] = copy;
}

void peaks_get(struct peaks *c, const struct peaks_request *r)
{
    struct message error;
    *c = start(r, "the calibration failed");
    if (c->peak && !paths_default("calibration.json", c->path, &error)) {
        note_not_kept(&error);
        *c->path = '\0';
    }
    if (c->device && c->device->context)
        calibrate_now(c, machine_threads(*r->threads));
    for (int i = 0; i < r->count && c->peak; i++) {
        int threads = machine_threads(r->threads[i]);
        if (peaks_for(c, threads))
            continue;
        if (!r->calibrate)
            load_all(c, threads);
        const struct calibration *found = present(c, threads);
        if (found)
            move_last(c, (int)(found - c->list));
        else
            calibrate_now(c, threads);
    }
}

struct peaks peaks_kept(const struct peaks_request *r)
{
    struct peaks c = start(r, "no calibration yet; a run makes one");
    if (c.peak && !place_name("calibration.json", c.path))
        *c.path = '\0';
    for (int i = 0; i < r->count && c.peak; i++)
        if (!peaks_for(&c, machine_threads(r->threads[i])))
            load_all(&c, machine_threads(r->threads[i]));
    return c;
}

void peaks_free(struct peaks *c)
{
    free(c->list);
    free(c->calibrated);
    *c = (struct peaks){0};
}

const struct calibration *peaks_for(const struct peaks *c, int threads)
{
    const struct calibration *most = NULL;
    for (int i = c->count - 1; i >= 0; i--) {
        if (is_for(c, i, threads))
            return &c->list[i];
        if (!most || c->list[i].threads > most->threads)
            most = &c->list[i];
    }
    return c->given ? most : NULL;
}

bool peaks_were_exceeded(const struct peaks *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->list[i].exceeded > 0)
            return true;
    return false;
}

/* A part that was measured in only one of the probes makes another state. */
static bool is_state(const struct states *states, const struct probe *a, const struct probe *b)
{
    for (int part = 0; part < PROBE_PARTS; part++)
        if (isnan(a->seconds[part]) != isnan(b->seconds[part]))
            return false;
    return states_same(states, a, b);
}

const struct calibration *peaks_in(const struct peaks *c, int threads, const struct turn *turns, size_t n,
                                   const struct probe *probe, const char **reason)
{
    if (c->given || c->device) { /* of a machine, not of its states */
        const struct calibration *only = peaks_for(c, threads);
        *reason = only ? NULL : c->no_peaks;
        return only;
    }
    struct turn *all = allocate(n + (size_t)c->count * CALIBRATION_TURNS, sizeof *all);
    const struct calibration *found = NULL;
    memcpy(all, turns, n * sizeof *all);
    for (int i = 0; i < c->count; i++)
        if (is_for(c, i, threads)) {
            memcpy(all + n, c->list[i].turn, (size_t)c->list[i].turns * sizeof *all);
            n += (size_t)c->list[i].turns;
        }
    struct states states = states_find(all, n);
    free(all);
    *reason =
        peaks_for(c, threads) ? "the peak rates were measured in another state of the machine" : c->no_peaks;
    for (int i = c->count - 1; i >= 0 && !found; i--) {
        struct probe state = calibration_state(&c->list[i]);
        if (is_for(c, i, threads) && is_state(&states, probe, &state))
            found = &c->list[i];
    }
    return found;
}

bool peaks_refresh(struct peaks *c, int threads)
{
    struct calibrated *done = calibrated_for(c, threads);
    if (c->device && !peaks_for(c, threads) && done->count < CALIBRATIONS_MOST)
        return calibrate_now(c, threads);
    if (!c->peak || done->count >= CALIBRATIONS_MOST || clock_now() - done->looked < look_seconds)
        return false;
    bool measured = !present(c, threads) && calibrate_now(c, threads);
    done->looked = clock_now();
    return measured;
}

bool peaks_exceeded(struct peaks *c, int threads, const char *time, double percent)
{
    bool marked = false;
    for (int i = 0; i < c->count; i++)
        if (is_for(c, i, threads) && strcmp(c->list[i].time, time) == 0 && percent > c->list[i].exceeded) {
            c->list[i].exceeded = percent;
            save(c, threads);
            marked = true;
        }
    return marked;
}

struct value *peaks_json(const struct peaks *c)
{
    struct value *list = value_new_array();
    for (int i = 0; i < c->count && !c->given; i++)
        value_append(list, calibration_json(&c->list[i]));
    return list;
}
