#include "bench/cli/gates_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"

const struct gate_kind gate_kinds[GATE_KINDS] = {
    [GATE_LATENCY] = {"latency", "time.median", "time.median", false, false, QUANTITY_SECONDS},
    [GATE_P99] = {"p99", "time.p99", "time.p99", false, false, QUANTITY_SECONDS},
    [GATE_THROUGHPUT] = {"throughput", "throughput", NULL, false, true, QUANTITY_PER_SECOND},
    [GATE_NODES] = {"throughput", "nodes_per_second", NULL, false, true, QUANTITY_NODES_PER_SECOND},
    [GATE_EDGES] = {"throughput", "edges_per_second", NULL, false, true, QUANTITY_EDGES_PER_SECOND},
    [GATE_MEMORY] = {"memory", "memory.planned", "peak", false, false, QUANTITY_BYTES},
    [GATE_FLOPS] = {"flops", "flops.analytic", "flops", false, false, QUANTITY_FLOP},
    [GATE_ERROR] = {"error", "error.norm", NULL, true, false, QUANTITY_RATIO},
    [GATE_MOST] = {"most", NULL, NULL, false, false, QUANTITY_RATIO},
    [GATE_LEAST] = {"least", NULL, NULL, false, true, QUANTITY_RATIO},
};

/* Reads "step." and moves past it; GATE_ALL if there is none. */
static int read_program(const char **text)
{
    for (int p = 0; p < GATE_ALL; p++) {
        size_t length = strlen(program_name((size_t)p));
        if (strncmp(*text, program_name((size_t)p), length) == 0 && (*text)[length] == '.') {
            *text += length + 1;
            return p;
        }
    }
    return GATE_ALL;
}

/* Reads "most.NAME:NUMBER", from its kind on. */
static bool read_metric(const char *text, struct gate *g)
{
    size_t length = strcspn(text, ":");
    if (length == 0 || length >= GATE_METRIC || !text[length])
        return false;
    snprintf(g->metric, GATE_METRIC, "%.*s", (int)length, text);
    return quantity_parse_or_zero(text + length + 1, QUANTITY_RATIO, &g->limit);
}

static bool read_gate(const char *item, struct gate *g, struct message *error)
{
    const char *name = item;
    const struct gate_kind *known = NULL;
    *g = (struct gate){.program = read_program(&name)};
    size_t length = strcspn(name, ":.");
    for (; g->kind < GATE_KINDS; g->kind++) {
        const struct gate_kind *k = &gate_kinds[g->kind];
        if (strlen(k->name) != length || strncmp(k->name, name, length) != 0)
            continue;
        if (k->of_row && g->program != GATE_ALL)
            return complain(error, "--threshold %.200s: %s is per row, not per program", item, k->name);
        if (!k->of_encoding && g->program == GATE_ENCODING)
            return complain(error, "--threshold %.200s: an encoding has no %s", item, k->name);
        if (!k->field && name[length] == '.' && read_metric(name + length + 1, g))
            return true;
        if (k->field && name[length] == ':' && quantity_parse(name + length + 1, k->quantity, &g->limit))
            return true;
        known = known ? known : k;
    }
    if (known)
        return complain(error, "--threshold %.200s: after %s: %s%s%s", item, known->name,
                        known->field ? "" : "the name of a metric and ", quantity_allowed(known->quantity),
                        known->quantity == QUANTITY_PER_SECOND ? "; or with nodes/s or edges/s" : "");
    return complain(error,
                    "--threshold %.200s: latency:TIME, p99:TIME, throughput:RATE, memory:SIZE, flops:COUNT, "
                    "error:NUMBER, most.METRIC:NUMBER or least.METRIC:NUMBER, for one with forward., step., "
                    "kernel. or encoding. before it",
                    item);
}

bool gates_parse(const char *text, struct gates *g, struct message *error)
{
    char *copy = copied(text), *next = copy;
    bool good = true;
    for (char *item; good && (item = strsep(&next, ",")) != NULL;) {
        good = g->count < GATES_MAX || complain(error, "--threshold: at most %d gates", GATES_MAX);
        good = good && read_gate(item, &g->list[g->count], error);
        g->count += good;
    }
    free(copy);
    return good;
}
