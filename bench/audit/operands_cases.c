#include "bench/audit/operands.h"

#include <stdlib.h>

const struct operands_shape operands_shapes[] = {
    {{1, 2, 1, 1, 1, 1, 1, 1, 0}, true, true, 1},
    {{1, 2, 2, 3, 2, 1, 2, 0, 0}, true, true, 2},
    {{1, 2, 7, 5, 12, 3, 3, 30, 0}, true, true, 3},
    {{1, 2, 13, 17, 11, 1, 2, 20, 0}, true, true, 4},
    {{1, 2, 31, 33, 24, 4, 5, 100, 0}, true, true, 5},
    {{1, 2, 3, 16, 64, 2, 1, 2, 0}, true, true, 6},
    {{1, 2, 67, 129, 40, 5, 4, 333, 0}, false, true, 7},
    {{1, 2, 64, 64, 128, 8, 1, 64, 0}, false, false, 8},
    /* Rows for three threads, many heads and graphs; rows of many vectors, and graphs of several blocks. */
    {{1, 2, 103, 9, 48, 12, 70, 300, 0}, true, false, 9},
    {{1, 2, 40, 3, 252, 4, 2, 150, 0}, true, false, 10},
    {{1, 2, 300, 129, 64, 4, 8, 1500, 0}, false, false, 11},
    {{1, 2, 1087, 3, 8, 1, 3, 9, 0}, false, false, 12},
    {{1, 2, 331, 19, 36, 2, 40, 4100, 0}, false, false, 13},
    /* Rows of over 256 edges, which cpu cuts into pieces (kernels/cpu/edges.h), also narrower than a vector;
     * graphs of several blocks of keys. */
    {{1, 2, 9, 3, 20, 2, 2, 2400, 0}, true, true, 14},
    {{1, 2, 9, 3, 3, 1, 2, 2400, 0}, true, false, 15},
    {{1, 2, 300, 3, 5, 1, 2, 1200, 0}, true, false, 16},
    {.seed = 0},
};

unsigned operands_without(enum op op, unsigned options)
{
    const struct op_info *info = op_info(op);
    unsigned absent = 0;
    for (int i = 0; i < info->operand_count; i++)
        if (info->operands[i].option && !(operand_option(op, &info->operands[i]) & options))
            absent |= 1u << i;
    return absent;
}

/* The number of activations or of kinds of features; 1 if the op has neither. */
static int choices_of(enum op op)
{
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++)
        if (info->operands[i].values == VALUES_ACTIVATION || info->operands[i].values == VALUES_FEATURES)
            return info->operands[i].values == VALUES_ACTIVATION ? (int)ACT_KINDS : (int)FEATURES_KINDS;
    return 1;
}

/* Adds a case for every subset of absent operands, beside those of other options. */
static int add_cases(const struct sample *of, unsigned choices, struct sample cases[CASES_MAX], int count)
{
    unsigned absent = 0;
    do {
        if (count == CASES_MAX)
            abort();
        cases[count] = *of;
        cases[count++].absent |= absent;
        absent = (absent - choices) & choices;
    } while (absent);
    return count;
}

int operands_cases(const struct sample *base, bool all, struct sample cases[CASES_MAX])
{
    const struct op_info *info = op_info(base->op);
    unsigned choices = 0, gradients = 0;
    for (int i = 0; i < info->operand_count; i++) {
        bool choice = all && operand_optional(&info->operands[i]) && !info->operands[i].option;
        choices |= (unsigned)choice << i;
        gradients |= info->operands[i].role == ROLE_GRAD ? 1u << i : 0;
    }
    int acts = choices_of(base->op), count = 0;
    for (int form = 0; form < info->form_count; form++)
        for (int act = 0; act < acts; act++)
            for (int acc = 0; acc < (gradients ? 2 : 1); acc++) {
                struct sample one = *base;
                one.act = act;
                one.acc = acc ? gradients : 0;
                one.absent = operands_without(base->op, (unsigned)form);
                count = add_cases(&one, choices, cases, count);
            }
    return count;
}
