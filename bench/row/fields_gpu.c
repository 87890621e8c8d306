/* What a GPU said of itself while a program was sampled, and in the pass for energy. */
#include "bench/row/fields.h"

#include <math.h>

#include "analysis/record/schema.h"
#include "analysis/statistics/statistics.h"
#include "bench/machine/throttle.h"

static const char *path(char text[SCHEMA_PATH], enum program_kind kind, const char *field)
{
    snprintf(text, SCHEMA_PATH, "%s.%s", program_name(kind), field);
    return text;
}

/* A value, or null for the reason where there is one or the value is not a number. */
static void set(json_t *row, enum program_kind kind, const char *field, double value, const char *missing)
{
    char p[SCHEMA_PATH];
    path(p, kind, field);
    if (missing || isnan(value))
        row_set_null(row, p, missing ? missing : "the GPU does not tell");
    else
        row_set_real(row, p, value);
}

void facts_no_gpu(json_t *row, enum program_kind kind, const char *reason)
{
    char p[SCHEMA_PATH];
    row_set_null(row, path(p, kind, "gpu"), reason);
    row_set_null(row, path(p, kind, "time.discarded"), reason);
}

static void facts_throttle(json_t *row, enum program_kind kind, const struct seen *seen)
{
    static const char untold[] = "the GPU does not tell why its clocks are low";
    char p[SCHEMA_PATH], text[THROTTLE_TEXT];
    if (!seen->told) {
        row_set_null(row, path(p, kind, "time.discarded"), untold);
        row_set_null(row, path(p, kind, "gpu.throttled"), untold);
        row_set_null(row, path(p, kind, "gpu.throttle"), untold);
        return;
    }
    throttle_text(seen->reasons, text);
    row_set_count(row, path(p, kind, "time.discarded"), seen->discarded);
    row_set_count(row, path(p, kind, "gpu.throttled"), seen->throttled);
    row_set_text(row, path(p, kind, "gpu.throttle"), text);
}

/* Whether none is missing. */
static bool told(const double *values, int n)
{
    int i = 0;
    while (i < n && !isnan(values[i]))
        i++;
    return i == n;
}

void facts_gpu(json_t *row, enum program_kind kind, const struct samples *s)
{
    struct summary clock = {.median = NAN, .min = NAN};
    if (told(s->clock, s->n))
        clock = summarize(s->clock, (size_t)s->n);
    facts_throttle(row, kind, &s->seen);
    set(row, kind, "gpu.clock", clock.median, NULL);
    set(row, kind, "gpu.clock_min", clock.min, NULL);
    set(row, kind, "gpu.temperature", s->seen.temperature, NULL);
}

void facts_energy(json_t *row, enum program_kind kind, const struct energy *e, const struct batch *b)
{
    set(row, kind, "gpu.energy_per_graph", e->joules / (double)b->graphs, e->missing);
    set(row, kind, "gpu.power", e->watts, e->missing);
    set(row, kind, "gpu.energy_span", e->seconds, e->missing);
    set(row, kind, "gpu.busy", e->busy, e->busy_missing);
    set(row, kind, "gpu.memory_busy", e->memory_busy, e->busy_missing);
}
