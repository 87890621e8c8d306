/* Ops, their forms and operands by name: the op NAME_backward computes the gradients of NAME. */
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

/* Forms of one option end with its name. */
unsigned operand_option(enum op op, const struct operand *o)
{
    const struct op_info *info = op_info(op);
    for (int form = 1; o->option && form < info->form_count; form *= 2)
        if (strcmp(strchr(info->forms[form], '+') + 1, o->option) == 0)
            return (unsigned)form;
    return 0;
}

unsigned op_options(enum op op, const void *args)
{
    const struct op_info *info = op_info(op);
    unsigned options = 0;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        bool read = o->role == ROLE_OPT || o->role == ROLE_OFFSETS;
        if (read && mat_present(*operand_mat(o, args)))
            options |= operand_option(op, o);
    }
    return options;
}

struct form form_at(int index)
{
    struct form f = {0, 0};
    for (; f.op < OPS && index >= op_info(f.op)->form_count; f.op++)
        index -= op_info(f.op)->form_count;
    f.options = f.op < OPS ? (unsigned)index : 0;
    return f;
}

const char *form_name(struct form f)
{
    return f.op < OPS ? op_info(f.op)->forms[f.options] : NULL;
}

const struct operand *operand_named(enum op op, const char *name)
{
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++)
        if (strcmp(info->operands[i].name, name) == 0)
            return &info->operands[i];
    return NULL;
}
