/* Reading the arguments, what one flag makes of another's default, and which do not go together. */
#include "bench/options.h"

#include <string.h>

#include "bench/dump.h"
#include "bench/flags.h"

static const struct flag *flag_named(const char *name, size_t length)
{
    const struct flag *f;
    for (int i = 0; (f = flag_at(i)) != NULL; i++)
        if (strlen(f->name) == length && strncmp(f->name, name, length) == 0)
            break;
    return f;
}

static enum axis axis_named(const char *name, size_t length)
{
    enum axis a = 0;
    while (a < AXES &&
           (strlen(axis_info(a)->name) != length || strncmp(axis_info(a)->name, name, length) != 0))
        a++;
    return a;
}

/* Reads one flag, whose value follows an equals sign or is the next argument; advances *i past what it took.
 */
static bool read_flag(int argc, char **argv, int *i, struct options *o, struct message *error)
{
    const char *text = argv[*i];
    if (strncmp(text, "--", 2) != 0)
        return complain(error, "%s: not a flag; see --help", text);
    const char *name = text + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct flag *flag = flag_named(name, length);
    enum axis axis = axis_named(name, length);
    if (!flag && axis == AXES)
        return complain(error, "--%.*s: no such flag; see --help", (int)length, name);
    if (flag && !flag->argument)
        return equals ? complain(error, "--%s: takes no value", flag->name) : flag_read(flag, o, NULL, error);
    const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    if (!value)
        return complain(error, "--%s: needs a value; see --help", name);
    if (flag)
        return flag_read(flag, o, value, error);
    o->given[axis] = true;
    return axis_parse(axis, value, &o->axes[axis], error);
}

/* The graphs of a batch are small unless their size is given. */
static bool default_nodes(struct options *o, struct message *error)
{
    bool batches = false;
    for (int i = 0; i < o->axes[AXIS_BATCH].count; i++)
        batches = batches || o->axes[AXIS_BATCH].values[i] > 1;
    return !batches || o->given[AXIS_NODES] || axis_parse(AXIS_NODES, "32", &o->axes[AXIS_NODES], error);
}

/* What is read has one size. */
static bool file_nodes(struct options *o, struct message *error)
{
    bool drawn = false;
    for (int i = 0; i < o->axes[AXIS_GRAPH].count; i++)
        drawn = drawn || !graph_is_file(axis_text(&o->axes[AXIS_GRAPH], o->axes[AXIS_GRAPH].values[i]));
    return drawn || o->given[AXIS_NODES] || axis_parse(AXIS_NODES, "1", &o->axes[AXIS_NODES], error);
}

static bool check_graph(const struct options *o, struct message *error)
{
    if (o->cuda_graph && !o->device.backend->device)
        return complain(error, "--cuda-graph: not with --device %s, only on a GPU", o->device.name);
    return !o->cuda_graph || !o->profile ||
           complain(error, "--profile: not with --cuda-graph, which has no entries to time");
}

/* Only what runs needs the device itself. */
static bool open_device(struct options *o, struct message *error)
{
    return o->action != ACTION_RUN || device_open(&o->device, error);
}

static bool check_variants(const struct options *o, struct message *error)
{
    for (enum op op = 0; op < OPS; op++)
        if (o->variant[op] && !backend_kernel(o->device.backend, op, F32, o->variant[op]))
            return complain(error, "--impl %s=%s: %s has no such variant; see --list-ops", op_info(op)->name,
                            o->variant[op], o->device.backend->name);
    return true;
}

bool options_parse(const struct bench *b, int argc, char **argv, struct options *o, struct message *error)
{
    *o = (struct options){.device = {.name = "cpu", .backend = backend_cpu()},
                          .warmup = -1,
                          .min_samples = 10,
                          .budget = 60,
                          .max_noise = 0.02,
                          .seed = 42,
                          .count = COUNT_OFF,
                          .roofline = true,
                          .check = true,
                          .check_budget = 5,
                          .programs = {true, true}};
    for (enum axis a = 0; a < AXES; a++)
        if (!axis_parse(a, a == b->axis ? b->values : axis_info(a)->standard, &o->axes[a], error))
            return false;
    for (int i = 1; i < argc; i++)
        if (!read_flag(argc, argv, &i, o, error))
            return false;
    return default_nodes(o, error) && file_nodes(o, error) && check_variants(o, error) &&
           check_graph(o, error) && dump_possible(o, error) && open_device(o, error);
}

void options_free(struct options *o)
{
    device_close(&o->device);
    for (enum axis a = 0; a < AXES; a++)
        axis_values_free(&o->axes[a]);
}
