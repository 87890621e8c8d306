#include "bench/cli/arguments.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cli/config.h"

/* A null-terminated list of arguments. */
struct arguments {
    char **list;
    int count;
};

__attribute__((format(printf, 2, 3))) static void add(struct arguments *a, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    a->list = realloc(a->list, ((size_t)a->count + 2) * sizeof *a->list);
    if (!a->list || vasprintf(&a->list[a->count], format, values) < 0)
        abort();
    a->list[++a->count] = NULL;
    va_end(values);
}

/* Whether the file of a graph determines this axis. */
static bool fixed_by_file(const struct options *o, const double value[AXES], enum axis axis)
{
    return graph_is_file(axis_text(&o->axes[AXIS_GRAPH], value[AXIS_GRAPH])) &&
           axis_info(axis)->work == WORK_GRAPH;
}

static void add_axes(struct arguments *a, const struct options *o, int64_t row)
{
    double value[AXES];
    config_values(o, row, value);
    for (enum axis i = 0; i < AXES; i++) {
        const struct axis_info *axis = axis_info(i);
        if (i == AXIS_THREADS || fixed_by_file(o, value, i))
            continue;
        if (axis->kind == AXIS_NAME)
            add(a, "--%s=%s", axis->name, axis->choice((int)value[i]));
        else if (axis->kind == AXIS_TEXT)
            add(a, "--%s=%s", axis->name, axis_text(&o->axes[i], value[i]));
        else
            add(a, "--%s=%.17g", axis->name, value[i]);
    }
}

char **arguments_of(const struct options *o, int64_t row, const char *program)
{
    static const char *const alone[] = {"--threads=1", "--warmup=0",    "--runs=1",
                                        "--no-check",  "--no-roofline", "--count=off"};
    const struct kernel *kernel = config_at(o, row).kernel;
    struct arguments a = {0};
    add_axes(&a, o, row);
    add(&a, "--device=%s", o->device.name);
    for (enum op op = 0; op < OPS && !kernel; op++)
        if (o->variant[op])
            add(&a, "--impl=%s=%s", op_info(op)->name, o->variant[op]);
    if (kernel) {
        add(&a, "--op=%s", op_info(kernel->op)->name);
        add(&a, "--impl=%s=%s", op_info(kernel->op)->name, kernel->variant);
    } else {
        add(&a, "--phase=%s", program);
    }
    add(&a, "--seed=%" PRIu64, o->seed);
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        add(&a, "%s", alone[i]);
    return a.list;
}

void arguments_free(char **arguments)
{
    for (char **word = arguments; *word; word++)
        free(*word);
    free(arguments);
}
