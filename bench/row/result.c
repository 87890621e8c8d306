#include "bench/row/result.h"

#include <stdio.h>

void result_plan(struct program_result *p, struct tape *t)
{
    p->planned = true;
    p->plan = *tape_plan(t);
    const struct entry *e = tape_entry(t, p->plan.peak_entry);
    snprintf(p->peak_op, sizeof p->peak_op, "%s %s", e->span, op_info(e->op)->name);
    for (enum phase phase = 0; phase < PHASES; phase++)
        p->cost[phase] = tape_cost(t, phase);
}

struct cost result_cost(const struct program_result *p)
{
    struct cost total = {0};
    for (enum phase phase = 0; phase < PHASES; phase++)
        total = cost_add(total, p->cost[phase]);
    return total;
}
