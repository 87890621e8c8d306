#include "bench/cli/crossover.h"

#include <string.h>

#include "bench/cli/config.h"
#include "bench/cli/kernels.h"

static bool is_name(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

bool crossover_read(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    struct crossover *c = &o->crossover;
    size_t length = strcspn(a->value, "=");
    *c = (struct crossover){.values = a->value[length] ? a->value + length + 1 : ""};
    for (enum program_kind p = 0; p < MODEL_PROGRAMS; p++)
        if (is_name(a->value, length, "encoding") && strcmp(c->values, program_name(p)) == 0) {
            c->kind = CROSSOVER_ENCODING;
            c->program = p;
        }
    if (is_name(a->value, length, "op") && *c->values)
        c->kind = CROSSOVER_OPS;
    for (enum axis axis = 0; axis < AXES; axis++)
        if (is_name(a->value, length, axis_info(axis)->name) && *c->values) {
            c->kind = CROSSOVER_AXIS;
            c->variants = axis;
        }
    return c->kind ||
           complain(error,
                    "--find-crossover %.200s: AXIS=A,B as attention=dense,sparse, in bench_kernels "
                    "op=attention,sparse_attention, or encoding=step",
                    a->value);
}

bool crossover_choose(struct options *o, struct message *error)
{
    struct crossover *c = &o->crossover;
    if (c->kind == CROSSOVER_OPS) {
        struct message why;
        return kernels_read(&(struct argument){.options = o, .value = c->values}, &why) ||
               complain(error, "--find-crossover op=%.200s: two different ops of --list-ops, without --op",
                        c->values);
    }
    if (c->kind != CROSSOVER_AXIS)
        return true;
    const char *name = axis_info(c->variants)->name;
    if (o->given[c->variants])
        return complain(error, "--find-crossover %s=%.200s: not with --%s", name, c->values, name);
    struct message why;
    return axis_parse(c->variants, c->values, &o->axes[c->variants], &why) ||
           complain(error, "--find-crossover: %.400s", why.text);
}

/* Whether there is exactly one axis with several values that can be searched, besides that of the variants.
 */
static bool find_axis(struct options *o)
{
    static const enum axis possible[] = {AXIS_NODES, AXIS_DEGREE, AXIS_BATCH, AXIS_LAYERS};
    struct crossover *c = &o->crossover;
    int found = 0;
    for (size_t i = 0; i < sizeof possible / sizeof *possible; i++) {
        bool variants = c->kind == CROSSOVER_AXIS && possible[i] == c->variants;
        if (o->axes[possible[i]].count > 1 && !variants) {
            c->over = possible[i];
            found++;
        }
    }
    return found == 1;
}

/* Of each op, the first kernel: its default. */
static void keep_defaults(struct options *o)
{
    int kept = 0;
    for (int i = 0; i < o->kernel_count; i++)
        if (kept == 0 || o->kernels[i]->op != o->kernels[kept - 1]->op)
            o->kernels[kept++] = o->kernels[i];
    o->kernel_count = kept;
}

int crossover_variants(const struct options *o)
{
    const struct crossover *c = &o->crossover;
    return c->kind == CROSSOVER_AXIS  ? o->axes[c->variants].count
           : c->kind == CROSSOVER_OPS ? o->kernel_count
                                      : 2;
}

bool crossover_check(struct options *o, struct message *error)
{
    struct crossover *c = &o->crossover;
    if (c->kind == CROSSOVER_NONE)
        return true;
    if (c->kind == CROSSOVER_OPS)
        keep_defaults(o);
    bool one_axis = find_axis(o), encodes = c->kind == CROSSOVER_ENCODING;
    int variants = crossover_variants(o), configs = encodes ? 1 : variants;
    struct config first = config_at(o, 0);
    const struct {
        bool applies;
        const char *why;
    } refusals[] = {
        {o->largest.kind != LARGEST_NONE, "not with --find-max"},
        {o->output.resume, "not with --resume"},
        {o->against != NULL, "not with --against"},
        {o->output.dump != NULL, "not with --dump"},
        {o->action == ACTION_LIST_TAPE, "not with --list-tape"},
        {o->device.all, "not with --device cuda:all: one device"},
        {o->model_nodes > 0, "needs --phase in this benchmark, which otherwise runs encodings only"},
        {!one_axis, "needs one of --nodes, --degree, --batch and --layers with several values: the search is "
                    "between the smallest and the largest"},
        {one_axis && (variants < 2 || variants > CROSSOVER_VARIANTS_MAX ||
                      config_count(o) != configs * o->axes[c->over].count),
         "needs two variants, or up to six, and one value of every other axis"},
        {encodes && (first.parts.pe.kind == ENCODING_NONE || !o->programs[c->program]),
         "encoding=PROGRAM needs an encoding (--pe) and that program (--phase)"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].applies)
            return complain(error, "--find-crossover: %s", refusals[i].why);
    return true;
}
