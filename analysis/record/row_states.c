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
static struct probe reported_state(const struct row *row, const struct row *other, const char *program)
{
    static const char *const parts[PROBE_PARTS] = {"ping", "fma"};
    struct probe state;
    for (int part = 0; part < PROBE_PARTS; part++) {
        char path[SCHEMA_PATH];
        double *seconds = &state.seconds[part];
        snprintf(path, sizeof path, "%s.time.state.%s", program, parts[part]);
        *seconds = NAN;
        if (!row_get_real(row, path, seconds))
            row_get_real(other, path, seconds);
    }
    return state;
}

bool row_states_differ(const struct row *a, const struct row *b, const char *program)
{
    if (!row_same(a, b, "device") || !row_same(a, b, "threads"))
        return false;
    struct turn *turns = NULL;
    struct probe of_a = reported_state(a, b, program), of_b = reported_state(b, a, program);
    size_t n = append_turns(&turns, 0, a, program);
    n = append_turns(&turns, n, b, program);
    struct states s = states_find(turns, n);
    free(turns);
    return !states_same(&s, &of_a, &of_b) ||
           states_shared(&s, of_a.seconds[PROBE_FMA]) != states_shared(&s, of_b.seconds[PROBE_FMA]);
}
