#include "bench/cli/flags.h"

#include <string.h>

#include "bench/base/quantity.h"

/* What follows `prefix`, which begins the text; null if it does not. */
static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static bool read_limit(const char *text, struct largest *l)
{
    const char *bytes = after(text, "memory:"), *seconds = after(text, "latency:");
    bool has_size =
        l->axis == AXIS_NODES || l->axis == AXIS_BATCH || l->axis == AXIS_LAYERS || l->axis == AXIS_HIDDEN;
    l->kind = seconds ? LARGEST_LATENCY : LARGEST_MEMORY;
    l->decimal = bytes && !strstr(bytes, "iB");
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

enum axis find_axis(const struct options *o)
{
    return o->largest.kind                       ? o->largest.axis
           : o->crossover.kind == CROSSOVER_AXIS ? o->crossover.variants
                                                 : AXES;
}

bool find_choose(struct options *o, struct message *error)
{
    const char *values = o->crossover.values;
    struct message why;
    if (o->largest.kind)
        return axis_parse(o->largest.axis, "1", &o->axes[o->largest.axis], error);
    if (o->crossover.kind == CROSSOVER_OPS)
        return kernels_read(&(struct argument){.options = o, .value = values}, &why) ||
               complain(error, "--find op=%.200s: two different ops of --list ops, without --op", values);
    return o->crossover.kind != CROSSOVER_AXIS ||
           axis_parse(find_axis(o), values, &o->axes[find_axis(o)], &why) ||
           complain(error, "--find: %.400s", why.text);
}

/* The only axis with several values that can be searched, besides that of the variants; else AXES. */
static enum axis axis_over(const struct options *o)
{
    static const enum axis possible[] = {AXIS_NODES, AXIS_DEGREE, AXIS_BATCH, AXIS_LAYERS};
    enum axis over = AXES;
    int found = 0;
    for (size_t i = 0; i < sizeof possible / sizeof *possible; i++)
        if (o->axes[possible[i]].count > 1 && possible[i] != find_axis(o)) {
            over = possible[i];
            found++;
        }
    return found == 1 ? over : AXES;
}

/* Of each form, the first kernel: its default. */
static void keep_defaults(struct options *o)
{
    int kept = 0;
    for (int i = 0; i < o->kernel_count; i++)
        if (kept == 0 || form_name(o->kernels[i].form) != form_name(o->kernels[kept - 1].form))
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

void find_over(struct options *o)
{
    if (o->crossover.kind == CROSSOVER_OPS)
        keep_defaults(o);
    o->crossover.over = axis_over(o);
}
