/* Ops and operands by name: the op NAME_backward computes the gradients of NAME. */
#include "kernels/ops.h"

#include <stdio.h>
#include <string.h>

enum op op_named(const char *name)
{
    enum op op = 0;
    while (op < OPS && strcmp(op_info(op)->name, name) != 0)
        op++;
    return op;
}

static const char backward[] = "_backward";

enum op op_forward_of(enum op op)
{
    const char *name = op_info(op)->name, *suffix = strstr(name, backward);
    char forward[64];
    snprintf(forward, sizeof forward, "%.*s", suffix ? (int)(suffix - name) : 0, name);
    return op_named(forward);
}

enum op op_backward_of(enum op op)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", op_info(op)->name, backward);
    return op_named(name);
}

const struct operand *operand_named(enum op op, const char *name)
{
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++)
        if (strcmp(info->operands[i].name, name) == 0)
            return &info->operands[i];
    return NULL;
}
