/* What wrong samples have in common: the first property that exactly these have, for its largest value. */
#include <stdio.h>

#include "bench/audit/audit.h"

enum property {
    ABSENT,
    ACCUMULATES,
    NO_EDGES,
    HUB,
    WIDTH,
    HEAD_WIDTH,
    WIDTH_OUT,
    HEADS,
    GRAPHS,
    GAPS,
    PROPERTIES
};

/* With its value; that of ABSENT is the number of an operand, which the words have the name of. */
static const char *const words[PROPERTIES] = {"where %s is absent",
                                              "where an output accumulates",
                                              "without edges",
                                              "where a node has more than %d edges",
                                              "where D is no multiple of %d",
                                              "where the columns of a head are no multiple of %d",
                                              "where M is no multiple of %d",
                                              "with more than %d head",
                                              "with more than %d graph",
                                              "where rows have gaps between them (ld > cols)"};

/* The first value to try and the last; below the last each is half of the one before. */
static const int values[PROPERTIES][2] = {[HUB] = {256, 8},      [WIDTH] = {32, 2}, [HEAD_WIDTH] = {16, 2},
                                          [WIDTH_OUT] = {32, 2}, [HEADS] = {1, 1},  [GRAPHS] = {1, 1}};

static bool has(const struct tried *t, enum property p, int value)
{
    const int64_t *dims = t->sample.dims;
    switch (p) {
    case ABSENT:
        return t->sample.absent >> value & 1;
    case ACCUMULATES:
        return t->sample.acc;
    case NO_EDGES:
        return dims[DIM_E] == 0;
    case HUB:
        return t->hub > value;
    case WIDTH:
        return dims[DIM_D] % value;
    case HEAD_WIDTH:
        return dims[DIM_D] / dims[DIM_H] % value;
    case WIDTH_OUT:
        return dims[DIM_M] % value;
    case HEADS:
        return dims[DIM_H] > value;
    case GRAPHS:
        return dims[DIM_B] > value;
    default:
        return t->sample.pad > 0;
    }
}

static bool explains(const struct tried *tried, int count, enum property p, int value)
{
    bool same = true;
    for (int i = 0; i < count && same; i++)
        same = has(&tried[i], p, value) == tried[i].wrong;
    return same;
}

void audit_common(const struct tried *tried, int count, char *text, size_t size)
{
    const struct op_info *info = op_info(tried->sample.op);
    for (int o = 0; o < info->operand_count; o++)
        if (explains(tried, count, ABSENT, o)) {
            snprintf(text, size, words[ABSENT], info->operands[o].name);
            return;
        }
    for (enum property p = ACCUMULATES; p < PROPERTIES; p++)
        for (int value = values[p][0]; value >= values[p][1]; value = value > 1 ? value / 2 : -1)
            if (explains(tried, count, p, value)) {
                snprintf(text, size, words[p], value);
                return;
            }
    *text = '\0';
}
