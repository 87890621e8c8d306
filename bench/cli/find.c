#include "bench/cli/find.h"

#include <string.h>

#include "bench/base/quantity.h"
#include "bench/cli/config.h"
#include "bench/cli/kernels.h"
#include "bench/machine/machine.h"

/* What follows `prefix`, which begins the text; null if it does not. */
static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* The axis of this name; AXES if there is none. */
static enum axis axis_named(const char *text, size_t length)
{
    enum axis a = 0;
    while (a < AXES && (strlen(axis_info(a)->name) != length || strncmp(axis_info(a)->name, text, length)))
        a++;
    return a;
}

static bool read_limit(const char *text, struct largest *l)
{
    const char *bytes = after(text, "memory:"), *seconds = after(text, "latency:");
    bool has_size =
        l->axis == AXIS_NODES || l->axis == AXIS_BATCH || l->axis == AXIS_LAYERS || l->axis == AXIS_HIDDEN;
    l->kind = seconds ? LARGEST_LATENCY : LARGEST_MEMORY;
    return has_size &&
           (strcmp(text, "memory") == 0 || (bytes && quantity_parse(bytes, QUANTITY_BYTES, &l->limit)) ||
            (seconds && quantity_parse(seconds, QUANTITY_SECONDS, &l->limit)));
}

static void read_variants(const char *name, enum axis axis, struct crossover *c)
{
    for (enum program_kind p = 0; p < MODEL_PROGRAMS; p++)
        if (after(name, "encoding=") && strcmp(c->values, program_name(p)) == 0) {
            c->kind = CROSSOVER_ENCODING;
            c->program = p;
        }
    if (after(name, "op=") && *c->values)
        c->kind = CROSSOVER_OPS;
    if (axis < AXES && *c->values) {
        c->kind = CROSSOVER_AXIS;
        c->variants = axis;
    }
}

bool find_read(const struct argument *a, struct message *error)
{
    struct options *o = a->options;
    size_t length = strcspn(a->value, "=");
    const char *values = a->value[length] ? a->value + length + 1 : "";
    enum axis axis = axis_named(a->value, length);
    o->largest = (struct largest){.axis = axis};
    o->crossover = (struct crossover){.values = values};
    if (after(values, "memory") || after(values, "latency")) {
        if (read_limit(values, &o->largest))
            return true;
    } else {
        read_variants(a->value, axis, &o->crossover);
    }
    return o->crossover.kind ||
           complain(
               error,
               "--find %.200s: nodes, batch, layers or hidden, then =memory, =memory:SIZE as "
               "=memory:4GiB, or =latency:TIME as =latency:100ms; or AXIS=A,B as attention=dense,sparse, "
               "in bench_kernels op=attention,sparse_attention, or encoding=step",
               a->value);
}

static bool check_memory_known(const struct options *o, struct message *error)
{
    bool free = o->largest.kind == LARGEST_MEMORY && o->largest.limit <= 0 && !o->device.backend->device;
    const char *axis = axis_info(o->largest.axis)->name;
    return !free || options_host_memory(o) < MACHINE_MEMORY_UNKNOWN ||
           complain(error,
                    "--find %s=memory: how much is free is not known here: %s=memory:4GiB or --mem-limit",
                    axis, axis);
}

/* Whether some graph has a size of its own along the axis of the search. */
static bool is_fixed(const struct options *o)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    bool nodes = o->largest.axis == AXIS_NODES, batch = o->largest.axis == AXIS_BATCH, fixed = false;
    for (int i = 0; i < graphs->count && o->largest.kind; i++) {
        const char *name = axis_text(graphs, graphs->values[i]);
        bool file = graph_is_file(name), shape = graph_shape_of(name) != NULL;
        fixed = fixed || (file && (nodes || batch)) || (shape && nodes);
    }
    return fixed;
}

/* What is searched for is known only later, and an older build may not know the flag. */
static bool check_others(const struct options *o, enum axis axis, struct message *error)
{
    bool largest = o->largest.kind != LARGEST_NONE;
    if (axis < AXES && o->given[axis])
        return complain(error, "--find: not with --%s", axis_info(axis)->name);
    const struct refusal refusals[] = {
        {is_fixed(o), "--find: not with graphs from files and shapes, whose size is fixed"},
        {o->output.resume, "--find: not with --resume"},
        {o->against != NULL, "--find: not with --against"},
        {o->shard.of > 0, "--find: not with --shard"},
        {!largest && o->output.dump != NULL, "--find: not with --dump"},
        {largest && o->action == ACTION_DRY_RUN, "--find: not with --dry-run"},
        {o->action == ACTION_LIST_TAPE, "--find: not with --list tape"},
        {o->device.all, "--find: not with --device cuda:all: one device"},
        {o->model_nodes > 0, "--find: needs --phase in this benchmark, which otherwise runs encodings only"},
        {o->largest.kind == LARGEST_LATENCY && o->device.meta,
         "--find: not with latency and --device meta, where nothing runs"},
    };
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}

bool find_choose(struct options *o, struct message *error)
{
    const struct crossover *c = &o->crossover;
    bool largest = o->largest.kind != LARGEST_NONE;
    enum axis axis = largest ? o->largest.axis : c->kind == CROSSOVER_AXIS ? c->variants : AXES;
    struct message why;
    if (!largest && !c->kind)
        return true;
    if ((largest && !check_memory_known(o, error)) || !check_others(o, axis, error))
        return false;
    if (largest)
        return axis_parse(axis, "1", &o->axes[axis], error);
    if (c->kind == CROSSOVER_OPS)
        return kernels_read(&(struct argument){.options = o, .value = c->values}, &why) ||
               complain(error, "--find op=%.200s: two different ops of --list ops, without --op", c->values);
    return c->kind != CROSSOVER_AXIS || axis_parse(axis, c->values, &o->axes[axis], &why) ||
           complain(error, "--find: %.400s", why.text);
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

bool find_check(struct options *o, struct message *error)
{
    struct crossover *c = &o->crossover;
    if (c->kind == CROSSOVER_NONE)
        return true;
    if (c->kind == CROSSOVER_OPS)
        keep_defaults(o);
    bool one_axis = find_axis(o), encodes = c->kind == CROSSOVER_ENCODING;
    int variants = crossover_variants(o), configs = encodes ? 1 : variants;
    struct config first = config_at(o, 0);
    const struct refusal refusals[] = {
        {!one_axis,
         "--find: needs one of --nodes, --degree, --batch and --layers with several values: the search is "
         "between the smallest and the largest"},
        {one_axis && (variants < 2 || variants > CROSSOVER_VARIANTS_MAX ||
                      config_count(o) != configs * o->axes[c->over].count),
         "--find: needs two variants, or up to six, and one value of every other axis"},
        {encodes && (first.parts.pe.kind == ENCODING_NONE || !o->programs[c->program]),
         "--find: encoding=PROGRAM needs an encoding (--pe) and that program (--phase)"},
    };
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}
