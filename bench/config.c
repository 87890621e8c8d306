#include "bench/config.h"

#include <inttypes.h>

#include "bench/machine.h"
#include "kernels/rng.h"

/* Sweeps beyond this are mistakes of the command line. */
enum { CONFIGS_MAX = 100000 };

int64_t config_count(const struct options *o)
{
    int64_t count = 1;
    for (enum axis a = 0; a < AXES && count <= CONFIGS_MAX; a++)
        count *= o->axes[a].count;
    return count;
}

int config_threads(double value)
{
    return value > 0 ? (int)value : machine_cores();
}

struct config config_at(const struct options *o, int64_t index)
{
    double value[AXES];
    for (int a = AXES - 1; a >= 0; a--) {
        value[a] = o->axes[a].values[index % o->axes[a].count];
        index /= o->axes[a].count;
    }
    struct config c = {.model = models[(int)value[AXIS_MODEL]],
                       .threads = config_threads(value[AXIS_THREADS])};
    c.sizes = (struct model_config){.layers = (int64_t)value[AXIS_LAYERS],
                                    .hidden = (int64_t)value[AXIS_HIDDEN],
                                    .heads = (int64_t)value[AXIS_HEADS],
                                    .ffn = (int64_t)value[AXIS_FFN],
                                    .act = (enum activation)(ACT_NONE + 1 + (int)value[AXIS_ACT])};
    if (!c.sizes.ffn)
        c.sizes.ffn = 2 * c.sizes.hidden;
    c.graph = (struct graph_config){.family = "er",
                                    .nodes = (int64_t)value[AXIS_NODES],
                                    .degree = value[AXIS_DEGREE],
                                    .graphs = 1,
                                    .seed = o->seed};
    return c;
}

bool config_check_all(const struct options *o, struct message *error)
{
    int64_t count = config_count(o);
    if (count > CONFIGS_MAX)
        return complain(error, "the axes make more than %d combinations", CONFIGS_MAX);
    for (int64_t i = 0; i < count; i++) {
        struct config c = config_at(o, i);
        if (model_refuses(&c.sizes))
            return complain(error, "--heads %lld --hidden %lld: %s", (long long)c.sizes.heads,
                            (long long)c.sizes.hidden, model_refuses(&c.sizes));
    }
    return true;
}

struct recording config_record(const struct config *c, const struct options *o, const struct batch *b,
                               enum program_kind kind, const struct backend *backend, enum dtype dtype)
{
    struct tape_config t = {.backend = backend, .dtype = dtype, .threads = c->threads, .seed = o->seed};
    for (enum op op = 0; op < OPS && backend == o->backend; op++)
        t.variant[op] = o->variant[op];
    return record_program(kind, c->model, &c->sizes, b, t);
}

void config_work(const struct config *c, uint64_t seed, char hash[17])
{
    char text[512];
    snprintf(text, sizeof text,
             "work 1 model %s layers %" PRId64 " hidden %" PRId64 " heads %" PRId64 " ffn %" PRId64
             " act %s graph %s nodes %" PRId64 " degree %.17g graphs %" PRId64 " seed %" PRIu64 " dtype f32",
             c->model->name, c->sizes.layers, c->sizes.hidden, c->sizes.heads, c->sizes.ffn,
             activation_name((int)c->sizes.act), c->graph.family, c->graph.nodes, c->graph.degree,
             c->graph.graphs, seed);
    snprintf(hash, 17, "%016" PRIx64, rng_key(0, text));
}
