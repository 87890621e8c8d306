/* The states of the machine in which two rows were measured. */
#include "analysis/record/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Appends the turns of a row to list[n], which is grown. Returns their number. */
static size_t append_turns(struct turn **list, size_t n, const struct row *row, const char *program)
{
    char group[SCHEMA_PATH];
    size_t count;
    snprintf(group, sizeof group, "%s.time", program);
    struct turn *turns = row_turns(row, group, &count);
    struct turn *all = realloc(*list, (n + count + 1) * sizeof *all);
    if (!all)
        abort();
    for (size_t i = 0; i < count; i++)
        all[n + i] = turns[i];
    free(turns);
    *list = all;
    return n + count;
}

/* The state that a row reports; parts that it lacks are those of `other`. */
static struct probe reported_state(const struct row *row, const char *program, const struct row *other,
                                   const char *of_other)
{
    struct probe state;
    for (int part = 0; part < PROBE_PARTS; part++) {
        char path[SCHEMA_PATH];
        double *seconds = &state.seconds[part];
        snprintf(path, sizeof path, "%s.time.state.%s", program, probe_parts[part]);
        *seconds = NAN;
        if (row_get_real(row, path, seconds))
            continue;
        snprintf(path, sizeof path, "%s.time.state.%s", of_other, probe_parts[part]);
        row_get_real(other, path, seconds);
    }
    return state;
}

double row_state_ratio(const struct row *a, const char *of_a, const struct row *b, const char *of_b, int part)
{
    if (!row_same(a, b, "device") || !row_same(a, b, "threads"))
        return NAN;
    return reported_state(b, of_b, a, of_a).seconds[part] / reported_state(a, of_a, b, of_b).seconds[part];
}

bool row_states_differ(const struct row *a, const char *of_a, const struct row *b, const char *of_b)
{
    if (!row_same(a, b, "device") || !row_same(a, b, "threads"))
        return false;
    struct turn *turns = NULL;
    struct probe in_a = reported_state(a, of_a, b, of_b), in_b = reported_state(b, of_b, a, of_a);
    size_t n = append_turns(&turns, 0, a, of_a);
    n = append_turns(&turns, n, b, of_b);
    struct states s = states_find(turns, n);
    free(turns);
    return !states_same(&s, &in_a, &in_b) ||
           states_shared(&s, in_a.seconds[PROBE_FMA]) != states_shared(&s, in_b.seconds[PROBE_FMA]);
}
