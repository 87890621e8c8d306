#include "bench/cli/gates_parse.h"

#include <stdlib.h>
#include <string.h>

const struct gate_kind gate_kinds[GATE_KINDS] = {
    [GATE_LATENCY] = {"latency", "time.median", false, false, QUANTITY_SECONDS},
    [GATE_THROUGHPUT] = {"throughput", "throughput", false, true, QUANTITY_PER_SECOND},
    [GATE_NODES] = {"throughput", "nodes_per_second", false, true, QUANTITY_NODES_PER_SECOND},
    [GATE_EDGES] = {"throughput", "edges_per_second", false, true, QUANTITY_EDGES_PER_SECOND},
    [GATE_MEMORY] = {"memory", "memory.planned", false, false, QUANTITY_BYTES},
    [GATE_ERROR] = {"error", "error.norm", true, false, QUANTITY_RATIO},
};

/* Reads "step." and moves past it; PROGRAMS if there is none. */
static int read_program(const char **text)
{
    for (enum program_kind p = 0; p < PROGRAMS; p++) {
        size_t length = strlen(program_name(p));
        if (strncmp(*text, program_name(p), length) == 0 && (*text)[length] == '.') {
            *text += length + 1;
            return (int)p;
        }
    }
    return PROGRAMS;
}

static bool read_gate(const char *item, struct gate *g, struct message *error)
{
    const char *name = item;
    const struct gate_kind *known = NULL;
    *g = (struct gate){.program = read_program(&name)};
    size_t length = strcspn(name, ":");
    for (; g->kind < GATE_KINDS; g->kind++) {
        const struct gate_kind *k = &gate_kinds[g->kind];
        if (strlen(k->name) != length || strncmp(k->name, name, length) != 0)
            continue;
        if (k->of_row && g->program != PROGRAMS)
            return complain(error, "--threshold %.200s: %s is per row, not per program", item, k->name);
        if (name[length] && quantity_parse(name + length + 1, k->quantity, &g->limit))
            return true;
        known = known ? known : k;
    }
    if (known)
        return complain(error, "--threshold %.200s: after %s: %s%s", item, known->name,
                        quantity_allowed(known->quantity),
                        known->quantity == QUANTITY_PER_SECOND ? "; or with nodes/s or edges/s" : "");
    return complain(
        error,
        "--threshold %.200s: latency:TIME, throughput:RATE, memory:SIZE or error:NUMBER, with forward. "
        "or step. before it for one program",
        item);
}

bool gates_parse(const char *text, struct gates *g, struct message *error)
{
    char *copy = strdup(text), *next = copy;
    bool good = copy != NULL;
    for (char *item; good && (item = strsep(&next, ",")) != NULL;) {
        good = g->count < GATES_MAX || complain(error, "--threshold: at most %d gates", GATES_MAX);
        good = good && read_gate(item, &g->list[g->count], error);
        g->count += good;
    }
    free(copy);
    return good;
}
