#include "analysis/statistics/allocate.h"
#include "bench/cli/flags.h"

#include <string.h>

#include "bench/base/suggest.h"
#include "kernels/converted.h"
#include "kernels/plugin_rows.h"
#include "models/layers/op_program.h"

static const char *name_at(int index)
{
    return form_name(form_at(index));
}

bool kernels_read(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    char nearest[SUGGESTION_TEXT];
    return names_read(a->value, name_at, o->forms, nearest) ||
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

static int add_form(struct options *o, struct form f)
{
    const struct backend *top = o->device.backend;
    const char *variant = o->variant[f.op][f.options];
    int before = o->kernel_count;
    for (const struct backend *from = top; from; from = from->base)
        for (int i = 0; i < from->count; i++) {
            const struct kernel *k = &from->kernels[i];
            bool wanted = (!variant || strcmp(k->variant, variant) == 0) &&
                          (f.op != OP_function || plugin_is_row(k)); /* the reference's does nothing */
            if (k->op == f.op && k->dtype == F32 && k == converted_over(k) && wanted &&
                kernel_supports(k, f.options) && !covered(top, from, k)) {
                o->kernels = grow(o->kernels, (size_t)o->kernel_count, sizeof *o->kernels);
                o->kernels[o->kernel_count++] = (struct timed_kernel){k, f};
            }
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
    bool chosen = memchr(o->forms, true, sizeof o->forms) != NULL;
    if (!refuse_flags(o, chosen, error))
        return false;
    for (int i = 0; o->bench->kernels && form_at(i).op < OPS; i++) {
        struct form f = form_at(i);
        bool usual = !op_info(f.op)->exchange && (f.options & (f.options - 1)) == 0; /* one option at most */
        if (!(chosen ? o->forms[i] : usual))
            continue;
        const char *why = op_program_refuses(f.op), *name = form_name(f);
        if (!why && add_form(o, f))
            continue;
        char none[64];
        if (f.op == OP_function && !chosen)
            continue;
        snprintf(none, sizeof none, "%s",
                 f.op == OP_function ? "--plugin has functions" : "the device has no kernel for it");
        why = why ? why : none;
        if (chosen)
            return complain(error, "--op %s: %s", name, why);
        fprintf(stderr, "note: %s is left out: %s\n", name, why);
    }
    return true;
}
