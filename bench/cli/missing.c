#include "bench/cli/missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/cli/together.h"

static enum op missing_of(const struct options *o, const struct config *c)
{
    enum op missing = OPS;
    for (enum program_kind kind = 0; kind < MODEL_PROGRAMS && missing == OPS; kind++)
        if (config_runs(o, c, kind))
            missing = program_missing(kind, &c->parts, o->device.backend);
    return missing;
}

/* Whether the configuration is possible on the device with another value of an axis. */
static bool runs_with(const struct options *o, const struct config *c, enum axis a,
                      const struct axis_values *v, double value)
{
    struct config other = *c;
    config_set(&other, a, v, value);
    config_complete(&other);
    return !model_refuses(&other.parts) && missing_of(o, &other) == OPS;
}

/* The values of an axis with which it is possible, separated by commas: names, otherwise the default at most.
 */
static bool list_possible(const struct options *o, const struct config *c, enum axis a, char *text,
                          size_t size)
{
    const struct axis_info *axis = axis_info(a);
    struct axis_values v = {0};
    struct message ignored;
    size_t used = 0;
    text[0] = '\0';
    if (axis->kind == AXIS_NAME) {
        for (int i = 0; axis->choice(i) && used < size; i++)
            if (runs_with(o, c, a, &v, i))
                used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", axis->choice(i));
    } else if (axis_parse(a, axis->standard, &v, &ignored) && runs_with(o, c, a, &v, v.values[0])) {
        used = (size_t)snprintf(text, size, "%s", axis->standard);
    }
    axis_values_free(&v);
    return used > 0;
}

static void say_value(const struct config *c, enum axis a, char *text, size_t size)
{
    struct axis_value v;
    config_axis(c, a, &v);
    if (v.text)
        snprintf(text, size, "%s", v.text);
    else if (v.kind == AXIS_WHOLE)
        snprintf(text, size, "%" PRId64, v.count);
    else
        snprintf(text, size, "%.10g", v.real);
}

static bool say_missing(const struct options *o, const struct config *c, enum op missing,
                        struct message *error)
{
    char value[128], possible[256];
    for (enum axis a = 0; a < AXES; a++) {
        const struct axis_info *axis = axis_info(a);
        bool of_model = axis->work == WORK_ALWAYS || axis->work == WORK_CHANGED || a == AXIS_MLP;
        if (!of_model || !list_possible(o, c, a, possible, sizeof possible))
            continue;
        say_value(c, a, value, sizeof value);
        return complain(error,
                        "--device %s --%s %s: that device has no kernel for %s; possible there: --%s %s",
                        o->device.given, axis->name, value, op_info(missing)->name, axis->name, possible);
    }
    return complain(error,
                    "--device %s: it has no kernel for %s, which this model needs; --device cpu has all",
                    o->device.given, op_info(missing)->name);
}

/* The op for which the device has no kernel; OPS: none. */
static enum op missing_in(const struct options *o, const struct config *c)
{
    bool whole = o->device.backend->device && !o->kernels; /* the host has the reference */
    return whole && !model_refuses(&c->parts) ? missing_of(o, c) : OPS;
}

bool missing_is_skipped(const struct options *o, const struct config *c, char reason[MISSING_REASON])
{
    const char *beyond = together_beyond(c);
    enum op missing = missing_in(o, c);
    if (beyond)
        snprintf(reason, MISSING_REASON, "%s", beyond);
    else if (missing < OPS)
        snprintf(reason, MISSING_REASON, "--device %s has no kernel for %s", o->device.given,
                 op_info(missing)->name);
    return beyond || missing < OPS;
}

bool missing_check(const struct options *o, struct message *error)
{
    bool leaves_out = o->action != ACTION_LIST_TAPE && !o->crossover.kind;
    bool presets = o->axes[AXIS_PRESET].count > 1;
    int64_t count = o->device.backend->device ? config_count(o) : 0, left_out = 0;
    for (int64_t i = 0; i < count && count <= AXIS_VALUES_MAX; i++) {
        struct config c = config_at(o, i);
        enum op missing = missing_in(o, &c);
        if (leaves_out && (missing == OPS || presets))
            return true;
        if (missing < OPS && left_out++ == 0)
            say_missing(o, &c, missing, error);
    }
    return left_out == 0;
}
