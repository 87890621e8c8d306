/* What rows say about themselves, and whether two were measured in one state of the machine. */
#include "analysis/record/row.h"

#include "analysis/statistics/disturbance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool row_is_ok(const struct row *row)
{
    return row && row->status && strcmp(row->status, "ok") == 0;
}

const char *row_noisy(const struct row *row, size_t kind)
{
    const char *noisy = row_timed(row, kind)->noisy;
    return noisy && *noisy ? noisy : NULL;
}

double row_width(const struct row_times *time)
{
    return (time->ci95_high - time->ci95_low) / time->median;
}

bool row_settled(const struct row *row, size_t kind)
{
    const struct row_times *time = row_timed(row, kind);
    const char *noisy = row_noisy(row, kind);
    bool unsettled = noisy && strcmp(noisy, ROW_UNSETTLED) == 0;
    return time->turn_medians.count >= REPORTED_MIN && !unsettled && !(time->lost > NOISY_LOST);
}

const char *row_unchecked(const struct row *row)
{
    const char *reason = row_reason(row, "checked");
    bool none = row_is_ok(row) && row->checked && strcmp(row->checked, "none") == 0;
    bool ran = !isnan(row->forward.time.median) || !isnan(row->step.time.median) ||
               !isnan(row->kernel.time.median); /* encodings are checked as they are made */
    return none && ran ? reason ? reason : "not checked" : NULL;
}

bool row_validate_status(const struct row *row, char *error)
{
    static const char *const allowed[] = {"ok", "skipped", "oom", "failed", "wrong"};
    bool known = false;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        known = known || (row->status && strcmp(row->status, allowed[i]) == 0);
    if (!known)
        snprintf(error, MESSAGE_SIZE, "status: %.40s is none of ok, skipped, oom, failed, wrong",
                 row->status ? row->status : "");
    else if (!row_is_ok(row) && (!row->reason || !*row->reason))
        snprintf(error, MESSAGE_SIZE, "reason: a row that is %s needs one", row->status);
    else
        return true;
    return false;
}

bool row_validate(const struct row *row, char *error)
{
    if (!row->flaw)
        return row_validate_status(row, error);
    snprintf(error, MESSAGE_SIZE, "%s", row->flaw);
    return false;
}

bool row_solved_nothing(const struct row *row)
{
    return row->encoding.iterated == 0 && row->encoding.nullity > 0;
}

/* Whether both ran on one device with as many threads. */
static bool same_place(const struct row *a, const struct row *b)
{
    bool same_device = a->device && b->device ? strcmp(a->device, b->device) == 0 : a->device == b->device;
    return same_device && a->threads == b->threads;
}

/* The state that times report; parts that they lack are those of `other`. */
static struct probe reported_state(const struct row_times *times, const struct row_times *other)
{
    struct probe state = {{[PROBE_PING] = times->state.ping,
                           [PROBE_FMA] = times->state.fma,
                           [PROBE_SHARING] = times->state.sharing}};
    const double others[] = {[PROBE_PING] = other->state.ping,
                             [PROBE_FMA] = other->state.fma,
                             [PROBE_SHARING] = other->state.sharing};
    for (int part = 0; part < PROBE_PARTS; part++)
        if (isnan(state.seconds[part]))
            state.seconds[part] = others[part];
    return state;
}

double row_state_ratio(const struct row *a, size_t of_a, const struct row *b, size_t of_b, int part)
{
    const struct row_times *x = row_timed(a, of_a), *y = row_timed(b, of_b);
    if (!same_place(a, b))
        return NAN;
    return reported_state(y, x).seconds[part] / reported_state(x, y).seconds[part];
}

/* Appends turns to list[n], which is grown. Returns their number. */
static size_t append_turns(struct turn **list, size_t n, const struct row_times *times)
{
    size_t count;
    struct turn *turns = row_turns(times, &count);
    struct turn *all = realloc(*list, (n + count + 1) * sizeof *all);
    if (!all)
        abort();
    for (size_t i = 0; i < count; i++)
        all[n + i] = turns[i];
    free(turns);
    *list = all;
    return n + count;
}

bool row_states_differ(const struct row *a, size_t of_a, const struct row *b, size_t of_b)
{
    const struct row_times *x = row_timed(a, of_a), *y = row_timed(b, of_b);
    if (!same_place(a, b))
        return false;
    struct turn *turns = NULL;
    struct probe in_a = reported_state(x, y), in_b = reported_state(y, x);
    size_t n = append_turns(&turns, 0, x);
    n = append_turns(&turns, n, y);
    struct states s = states_find(turns, n);
    free(turns);
    return !states_same(&s, &in_a, &in_b) ||
           states_shared(&s, in_a.seconds[PROBE_FMA]) != states_shared(&s, in_b.seconds[PROBE_FMA]);
}
