#include "bench/row/row_resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/schema.h"

/* The numbers of a field, to be freed; null if it has none. */
static double *load_reals(const struct row *row, const char *path, size_t *n)
{
    *n = row_reals_count(row, path);
    double *values = *n > 0 ? malloc(*n * sizeof *values) : NULL;
    if (*n > 0 && !values)
        abort();
    if (values)
        row_get_reals(row, path, values, *n, n);
    return values;
}

/* The times of a phase in the samples; NAN if the row does not have them, or those of launched runs. */
static void load_phase(struct samples *s, enum phase phase, const struct row *from, const char *program)
{
    char path[SCHEMA_PATH], launched[SCHEMA_PATH];
    size_t n = 0;
    snprintf(path, sizeof path, "%s.%s.statistics.samples", program, phase_name(phase));
    snprintf(launched, sizeof launched, "%s.launched.n", program);
    bool has = schema_find(path) && !row_has(from, launched);
    double *seconds = has ? load_reals(from, path, &n) : NULL;
    for (int i = 0; i < s->n; i++)
        s->phase[phase][i] = n == (size_t)s->n ? seconds[i] : NAN;
    free(seconds);
}

void samples_load(struct samples *s, const struct row *from, const char *program)
{
    char group[SCHEMA_PATH], path[SCHEMA_PATH];
    size_t n, count, all = 0;
    bool whole = true;
    snprintf(group, sizeof group, "%s.time", program);
    snprintf(path, sizeof path, "%s.time.samples", program);
    double *seconds = load_reals(from, path, &n);
    struct turn *turns = row_turns(row_times(from, group), &count);
    for (size_t i = 0; i < count; i++) {
        all += turns[i].samples;
        whole = whole && turns[i].samples > 0;
    }
    *s = (struct samples){0};
    if (n > 0 && all == n && whole) {
        samples_allocate(s, n);
        s->n = (int)n;
        s->turns = (int)count;
        s->turn = turns;
        for (size_t i = 0; i < n; i++) {
            s->seconds[i] = seconds[i];
            s->clock[i] = NAN;
        }
        for (enum phase p = 0; p < PHASES; p++)
            load_phase(s, p, from, program);
        s->first = NAN;
        row_get_real(from, "loss", &s->first);
    } else {
        free(turns);
    }
    free(seconds);
}

/* Clears a group that lacks something in an earlier row for a reason, if the new row has it. */
static void clear_explained(struct row *both, const struct row *row)
{
    char path[SCHEMA_PATH];
    for (size_t i = 0; i < both->reason_count;) {
        snprintf(path, sizeof path, "%s", both->reasons[i].path);
        bool has = row_has(row, path);
        if (has)
            row_clear(both, path);
        i = has ? 0 : i + 1;
    }
}

/* Of what both rows have, that of `row`; of times and their statistics, all of them. */
struct row *row_over(struct row *row, const struct row *from)
{
    struct row *both = row_copy(from);
    clear_explained(both, row);
    for (size_t i = 0; i < TIMED; i++) {
        char group[SCHEMA_PATH];
        snprintf(group, sizeof group, "%s.time", program_name(i));
        if (row_has(row, group))
            row_clear(both, group);
    }
    for (const struct field *f = schema_fields; schema_has(f); f++)
        row_copy_field(both, row, f);
    for (size_t i = 0; i < row->reason_count; i++)
        if (!row_has(both, row->reasons[i].path))
            row_omit(both, row->reasons[i].path, row->reasons[i].text);
    row_free(row);
    return both;
}
