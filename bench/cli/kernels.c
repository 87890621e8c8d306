#include "bench/cli/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/suggest.h"
#include "models/layers/op_program.h"

static const char *op_at(int index)
{
    return index < OPS ? op_info((enum op)index)->name : NULL;
}

bool kernels_read(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    char nearest[SUGGESTION_TEXT];
    return names_read(a->value, op_at, o->ops, nearest) ||
           complain(error, "--op %.200s: one or more of the ops of --list ops, each once%s", a->value,
                    nearest);
}

/* Whether a backend from `top` down to `from`, exclusive, overrides this kernel. */
static bool covered(const struct backend *top, const struct backend *from, const struct kernel *k)
{
    for (; top != from; top = top->base)
        for (int i = 0; i < top->count; i++)
            if (top->kernels[i].op == k->op && top->kernels[i].dtype == k->dtype &&
                strcmp(top->kernels[i].variant, k->variant) == 0)
                return true;
    return false;
}

static void add_kernel(struct options *o, const struct kernel *k)
{
    o->kernels = realloc(o->kernels, ((size_t)o->kernel_count + 1) * sizeof *o->kernels);
    if (!o->kernels)
        abort();
    o->kernels[o->kernel_count++] = k;
}

/* Adds the kernels of an op; returns how many. */
static int add_op(struct options *o, enum op op)
{
    const struct backend *top = o->device.backend;
    int before = o->kernel_count;
    for (const struct backend *from = top; from; from = from->base)
        for (int i = 0; i < from->count; i++) {
            const struct kernel *k = &from->kernels[i];
            bool wanted = !o->variant[op] || strcmp(k->variant, o->variant[op]) == 0;
            if (k->op == op && k->dtype == MODEL_DTYPE && wanted && !covered(top, from, k))
                add_kernel(o, k);
        }
    return o->kernel_count - before;
}

static bool refuse_flags(const struct options *o, bool chosen, struct message *error)
{
    if (!o->bench->kernels)
        return !chosen ||
               complain(error, "--op: not in %s, which times whole programs; bench_kernels times ops",
                        o->bench->name);
    if (!o->programs[PROGRAM_KERNEL])
        return complain(error, "--phase: not in %s, which times ops, not programs", o->bench->name);
    return true;
}

bool kernels_choose(struct options *o, struct message *error)
{
    bool chosen = false;
    for (enum op op = 0; op < OPS; op++)
        chosen = chosen || o->ops[op];
    if (!refuse_flags(o, chosen, error))
        return false;
    for (enum op op = 0; o->bench->kernels && op < OPS; op++) {
        if (chosen ? !o->ops[op] : op_info(op)->exchange)
            continue;
        const char *why = op_program_refuses(op);
        if (!why && add_op(o, op))
            continue;
        char none[64];
        snprintf(none, sizeof none, "the device has no %s kernel for it", dtype_name(MODEL_DTYPE));
        why = why ? why : none;
        if (chosen)
            return complain(error, "--op %s: %s", op_info(op)->name, why);
        fprintf(stderr, "note: %s is left out: %s\n", op_info(op)->name, why);
    }
    return true;
}
