#include "bench/cli/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/interrupt.h"
#include "bench/machine/machine.h"
#include "kernels/rng.h"
#include "models/layers/op_program.h"

/* Sweeps beyond this are mistakes of the command line. */
enum { CONFIGS_MAX = 100000 };

static struct encoding_config encoding_at(const struct options *o, double value)
{
    struct encoding_config c;
    encoding_parse(axis_text(&o->axes[AXIS_PE], value), &c);
    return c;
}

/* How many solvers the encoding at an index is combined with: where there is nothing to solve, one. */
static int solvers_of(const struct options *o, int index)
{
    enum encoding_kind kind = encoding_at(o, o->axes[AXIS_PE].values[index]).kind;
    return kind == ENCODING_LAP || kind == ENCODING_LAP_PYG ? o->axes[AXIS_SOLVER].count : 1;
}

/* The values of two axes in one: encodings with their solvers. */
static int encoding_count(const struct options *o)
{
    int count = 0;
    for (int i = 0; i < o->axes[AXIS_PE].count; i++)
        count += solvers_of(o, i);
    return count;
}

/* The index-th of these. */
static void choose_encoding(const struct options *o, int index, double value[AXES])
{
    int i = 0;
    for (; index >= solvers_of(o, i); i++)
        index -= solvers_of(o, i);
    value[AXIS_PE] = o->axes[AXIS_PE].values[i];
    value[AXIS_SOLVER] = o->axes[AXIS_SOLVER].values[index];
}

int64_t config_count(const struct options *o)
{
    int64_t count = encoding_count(o);
    for (enum axis a = 0; a < AXES && count <= CONFIGS_MAX; a++)
        count *= a == AXIS_PE || a == AXIS_SOLVER ? 1 : o->axes[a].count;
    return o->kernels ? count * o->kernel_count : count;
}

/* Returns the index beyond the axes, which is the kernel's. */
static int64_t values_at(const struct options *o, int64_t index, double value[AXES])
{
    int64_t rest = index;
    for (int a = AXES - 1; a >= 0; a--) {
        int count = a == AXIS_SOLVER ? encoding_count(o) : a == AXIS_PE ? 1 : o->axes[a].count;
        if (a == AXIS_SOLVER)
            choose_encoding(o, (int)(rest % count), value);
        else if (a != AXIS_PE)
            value[a] = o->axes[a].values[rest % count];
        rest /= count;
    }
    if (o->largest.nodes) /* 1: of a row that is skipped */
        value[AXIS_NODES] = o->largest.nodes[index] > 0 ? (double)o->largest.nodes[index] : 1;
    return rest;
}

void config_values(const struct options *o, int64_t index, double value[AXES])
{
    values_at(o, index, value);
}

struct config config_at(const struct options *o, int64_t index)
{
    double value[AXES];
    int64_t kernel = values_at(o, index, value);
    struct encoding_config pe = encoding_at(o, value[AXIS_PE]);
    pe.solver = (enum eigensolver)value[AXIS_SOLVER];
    const struct model *model = &models[(int)value[AXIS_MODEL]];
    int attention = (int)value[AXIS_ATTENTION], mpnn = (int)value[AXIS_MPNN]; /* 0: the model's own */
    struct config c = {.model = model, .threads = machine_threads(value[AXIS_THREADS])};
    c.kernel = o->kernels ? o->kernels[kernel] : NULL;
    c.parts = (struct model_config){.layers = (int64_t)value[AXIS_LAYERS],
                                    .hidden = (int64_t)value[AXIS_HIDDEN],
                                    .heads = (int64_t)value[AXIS_HEADS],
                                    .ffn = (int64_t)value[AXIS_FFN],
                                    .act = (enum activation)(ACT_NONE + 1 + (int)value[AXIS_ACT]),
                                    .attention =
                                        attention ? (enum attention_kind)(attention - 1) : model->attention,
                                    .mpnn = mpnn ? (enum mpnn_kind)(mpnn - 1) : model->mpnn,
                                    .norm = (enum norm_kind)value[AXIS_NORM],
                                    .pool = (enum pool_kind)value[AXIS_POOL],
                                    .task = (enum task_kind)value[AXIS_TASK],
                                    .pe = pe};
    if (!c.parts.ffn)
        c.parts.ffn = 2 * c.parts.hidden;
    c.graph = (struct graph_config){.family = axis_text(&o->axes[AXIS_GRAPH], value[AXIS_GRAPH]),
                                    .nodes = (int64_t)value[AXIS_NODES],
                                    .degree = value[AXIS_DEGREE],
                                    .graphs = (int64_t)value[AXIS_BATCH],
                                    .seed = o->seed};
    return c;
}

bool config_runs(const struct options *o, const struct config *c, enum program_kind kind)
{
    bool first = c->parts.pe.solver == (enum eigensolver)o->axes[AXIS_SOLVER].values[0];
    return o->programs[kind] && (!o->model_nodes || (c->graph.nodes <= o->model_nodes && first));
}

/* A graph that is read has its own size. */
static bool check_file(const struct options *o, const struct config *c, struct message *error)
{
    static const enum axis fixed[] = {AXIS_NODES, AXIS_DEGREE, AXIS_BATCH};
    for (size_t i = 0; graph_is_file(c->graph.family) && i < sizeof fixed / sizeof *fixed; i++)
        if (o->given[fixed[i]])
            return complain(error, "--graph %.300s --%s: the file says what the graph is", c->graph.family,
                            axis_info(fixed[i])->name);
    return true;
}

/* Heads that the device's attention cannot have. */
static bool check_heads(const struct options *o, const struct config *c, struct message *error)
{
    int most = o->device.backend->head_most;
    int64_t head = c->parts.hidden / c->parts.heads;
    if (c->parts.attention != ATTENTION_DENSE || !most || head <= most)
        return true;
    return complain(
        error,
        "--device %s --hidden %lld --heads %lld: heads of %lld columns; dense attention there has "
        "up to %d (--attention unfused: any number)",
        o->device.given, (long long)c->parts.hidden, (long long)c->parts.heads, (long long)head, most);
}

/* A graph that cannot be read is a wrong command line. */
static bool check_readable(const struct options *o, struct message *error)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    for (int i = 0; i < graphs->count; i++) {
        struct graph_config c = {.family = axis_text(graphs, graphs->values[i]), .nodes = 1, .graphs = 1};
        char reason[MESSAGE_SIZE];
        struct batch b;
        if (!graph_is_file(c.family))
            continue;
        if (!batch_shape(&b, &c, reason, sizeof reason))
            return complain(error, "--graph %.200s: %.300s", c.family, reason);
        batch_free(&b);
    }
    return true;
}

/* A model that there cannot be: all of the axes that make it so. */
static bool say_refused(const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    char pe[80] = "";
    if (p->pe.kind)
        snprintf(pe, sizeof pe, " --pe %s:%" PRId64 ":%" PRId64, encoding_name((int)p->pe.kind), p->pe.k,
                 p->pe.width);
    return complain(error,
                    "--model %s --attention %s --mpnn %s --heads %" PRId64 " --hidden %" PRId64 "%s: %s",
                    c->model->name, attention_name((int)p->attention), mpnn_name((int)p->mpnn), p->heads,
                    p->hidden, pe, model_refuses(p));
}

bool config_check_all(const struct options *o, struct message *error)
{
    int64_t count = config_count(o);
    if (count > CONFIGS_MAX)
        return complain(error, "the axes make more than %d combinations", CONFIGS_MAX);
    for (int64_t i = 0; i < count; i++) {
        struct config c = config_at(o, i);
        if (model_refuses(&c.parts))
            return say_refused(&c, error);
        if (!check_heads(o, &c, error) || !check_file(o, &c, error))
            return false;
    }
    return check_readable(o, error);
}

static bool interrupted(const void *context)
{
    (void)context;
    return interrupt_signal() != 0;
}

struct recording config_record(const struct config *c, const struct options *o, const struct batch *b,
                               enum program_kind kind, const struct backend *backend, enum dtype dtype)
{
    struct tape_config t = {.backend = backend, .dtype = dtype, .threads = c->threads, .seed = o->seed};
    bool ours = backend == o->device.backend;
    t.context = ours ? o->device.context : NULL;
    for (enum op op = 0; op < OPS && ours; op++)
        t.variant[op] = o->variant[op];
    bool alone = kind == PROGRAM_KERNEL;
    if (alone)
        t.variant[c->kernel->op] = c->kernel->variant;
    struct recording r = alone ? op_program_record(c->kernel->op, &c->parts, b, t)
                               : program_record(kind, &c->parts, b, c->encoding, t);
    tape_cancel_when(r.tape, (struct cancel){interrupted, NULL});
    return r;
}

/* The bytes of a file, hashed; 0 where it cannot be read, which whoever reads the graph will say. */
static uint64_t file_hash(const char *path)
{
    FILE *in = fopen(path, "rb");
    uint64_t hash = 0;
    unsigned char bytes[1 << 16];
    for (size_t n; in && (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        for (size_t i = 0; i < n; i++)
            hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    if (in)
        fclose(in);
    return hash;
}

/* The graph of the work: how it is drawn, or what the file holds that it is read from. */
static void graph_work(const struct graph_config *g, char text[256])
{
    const char *colon = strchr(g->family, ':');
    if (graph_is_file(g->family))
        snprintf(text, 256, "%.*s %016" PRIx64, (int)(colon - g->family), g->family, file_hash(colon + 1));
    else
        snprintf(text, 256, "%s nodes %" PRId64 " degree %.17g graphs %" PRId64, g->family, g->nodes,
                 g->degree, g->graphs);
}

void config_work(const struct config *c, uint64_t seed, char hash[17])
{
    const struct model_config *p = &c->parts;
    enum attention_kind attention = p->attention == ATTENTION_UNFUSED ? ATTENTION_DENSE : p->attention;
    char text[1024], graph[256], more[80] = "";
    graph_work(&c->graph, graph);
    if (c->kernel)
        snprintf(more, sizeof more, " op %s", op_info(c->kernel->op)->name);
    else if (p->pe.kind)
        snprintf(more, sizeof more, " pe %s %" PRId64 " %" PRId64, encoding_name((int)p->pe.kind), p->pe.k,
                 p->pe.width);
    snprintf(text, sizeof text,
             "work 2 attention %s mpnn %s norm %s pool %s task %s layers %" PRId64 " hidden %" PRId64
             " heads %" PRId64 " ffn %" PRId64 " act %s graph %s seed %" PRIu64 " dtype f32%s",
             attention_name((int)attention), mpnn_name((int)p->mpnn), norm_name((int)p->norm),
             pool_name((int)p->pool), task_name((int)p->task), p->layers, p->hidden, p->heads, p->ffn,
             activation_name((int)p->act), graph, seed, more);
    snprintf(hash, 17, "%016" PRIx64, rng_key(0, text));
}
