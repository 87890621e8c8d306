#include "bench/row/row_resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/schema.h"

static const char *const groups[TIMED] = {"forward.time", "step.time", "kernel.time", "encoding.time"};

/* The times of a phase in the samples; NAN if the row does not have them, or those of launched runs. */
static void load_phase(struct samples *s, enum phase phase, const struct row *from, size_t program)
{
    const struct row_program *p = program < TIMED - 1 ? row_program(from, program) : NULL;
    struct items seconds = {NULL, 0};
    if (p && p->eager.n == COUNT_ABSENT)
        seconds = phase == PHASE_BACKWARD    ? p->backward.time.samples
                  : phase == PHASE_OPTIMIZER ? p->optimizer.time.samples
                  : phase == PHASE_RECOMPUTE ? p->recompute.time.samples
                                             : seconds;
    for (int i = 0; i < s->n; i++)
        s->phase[phase][i] = seconds.count == (size_t)s->n ? seconds.list[i].real : NAN;
}

/* Whether each turn has samples, and all together have n. */
static bool turns_hold(const struct turn *turns, size_t count, size_t n)
{
    size_t all = 0, filled = 0;
    for (size_t i = 0; i < count; i++) {
        all += turns[i].samples;
        filled += turns[i].samples > 0;
    }
    return n > 0 && all == n && filled == count;
}

void samples_load(struct samples *s, const struct row *from, size_t program)
{
    const struct row_times *times = row_timed(from, program);
    size_t n = times->samples.count, count;
    struct turn *turns = row_turns(times, &count);
    *s = (struct samples){0};
    if (!turns_hold(turns, count, n)) {
        free(turns);
        return;
    }
    samples_allocate(s, n);
    s->n = (int)n;
    s->turns = (int)count;
    s->turn = turns;
    for (size_t i = 0; i < n; i++) {
        s->seconds[i] = times->samples.list[i].real;
        s->clock[i] = NAN;
    }
    s->used.cpu = times->cpu * (double)n;
    s->lost = malloc(count * sizeof *s->lost);
    if (!s->lost)
        abort();
    for (size_t i = 0; i < count; i++)
        s->lost[i] = times->lost; /* the median of all of them */
    for (enum phase p = 0; p < PHASES; p++)
        load_phase(s, p, from, program);
    s->first = from->loss;
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

/* Of what both rows have, that of `row`; of times and their statistics, all of them. Results are checked with
 * the first turn: what the earlier row says of that stands, unless they were checked again. */
struct row *row_over(struct row *row, const struct row *from)
{
    struct row *both = row_copy(from);
    if (from->checked && row->checked && strcmp(row->checked, "none") == 0)
        row_clear(row, "checked");
    clear_explained(both, row);
    for (size_t i = 0; i < TIMED; i++)
        if (row_has(row, groups[i]))
            row_clear(both, groups[i]);
    for (const struct field *f = schema_fields; schema_has(f); f++)
        row_copy_field(both, row, f);
    for (size_t i = 0; i < row->reason_count; i++)
        if (!row_has(both, row->reasons[i].path))
            row_omit(both, row->reasons[i].path, row->reasons[i].text);
    row_free(row);
    return both;
}
