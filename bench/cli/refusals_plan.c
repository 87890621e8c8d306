#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/tables/units.h"
#include "bench/base/affinity.h"
#include "bench/cli/command_line.h"
#include "bench/cli/flags.h"
#include "bench/cli/plan.h"
#include "bench/cli/presets.h"
#include "graphs/partition.h"
#include "kernels/arithmetic.h"
#include "kernels/ranks.h"

/* What mixes the rows of a batch without knowing which belong to nodes. */
static bool can_be_padded(const struct model_config *p)
{
    bool layers = p->attention <= ATTENTION_SPARSE && p->mpnn <= MPNN_GIN && p->attention_dropout == 0 &&
                  (p->norm == NORM_LAYER || p->norm == NORM_NONE);
    bool ends = p->pool < POOL_MAX && p->task == TASK_GRAPH && p->pe.kind == ENCODING_NONE;
    return layers && ends && !p->own;
}

/* The library of a solver that this build lacks although it is to run; null: none. */
static const char *library_of(const struct options *o, const struct config *c, enum eigensolver s)
{
    bool runs = o->action == ACTION_RUN && !o->device.meta;
    return runs && (s != SOLVER_AUTO || encoding_is_spectral(&c->parts.pe) || c->parts.pe.expander)
               ? eigensolver_missing_library(s)
               : NULL;
}

/* "--model gps --heads 3 --hidden 16", with an encoding and a network that are not the defaults. */
static void name_model(const struct config *c, struct message *to)
{
    const struct model_config *p = &c->parts;
    char pe[80] = "", mlp[128] = "", more[BIAS_TEXT];
    if (p->pe.kind)
        snprintf(pe, sizeof pe, " --pe %s:%" PRId64 ":%" PRId64, encoding_name((int)p->pe.kind), p->pe.k,
                 p->pe.width);
    if (p->mlp)
        snprintf(mlp, sizeof mlp, " --mlp %s --dropout %.10g", mlp_name((int)p->mlp), p->dropout);
    if (bias_format(&p->pe, more))
        snprintf(mlp + strlen(mlp), sizeof mlp - strlen(mlp), " --bias %s", more);
    if (expander_format(&p->pe, more))
        snprintf(mlp + strlen(mlp), sizeof mlp - strlen(mlp), " --expander %s", more);
    complain(to, "--model %s --attention %s --mpnn %s --heads %" PRId64 " --hidden %" PRId64 "%s%s: %s",
             c->model, attention_name((int)p->attention), mpnn_name((int)p->mpnn), p->heads, p->hidden, pe,
             mlp, model_refuses(p));
}

static bool check_model(const struct options *o, const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    bool searched = o->largest.kind && o->largest.axis == AXIS_LAYERS; /* from one layer on */
    int most = o->device.backend->head_most;
    int64_t head = p->hidden / p->heads;
    struct message model = {""}, heads, segments, branches;
    if (model_refuses(p))
        name_model(c, &model);
    complain(&heads,
             "--device %s --hidden %" PRId64 " --heads %" PRId64 ": heads of %" PRId64
             " columns; dense attention there supports up to %d (--attention unfused: any number)",
             o->device.given, p->hidden, p->heads, head, most);
    complain(&segments, "--checkpoint %s --layers %" PRId64 ": more segments than layers", p->checkpoint,
             p->layers);
    complain(&branches, "--model %s: takes no --attention and --mpnn: its line in the plug-in has them",
             c->model);
    const struct refusal refusals[] = {
        {*model.text, model.text},
        {p->own && (p->attention != p->own->attention || p->mpnn != p->own->mpnn), branches.text},
        {p->attention == ATTENTION_DENSE && most && head > most, heads.text},
        {c->graph.batching != BATCHING_RAGGED && !can_be_padded(p),
         "--batching padded: only with a model of --list models, --attention dense, sparse or none and "
         "--attention-dropout 0, --mpnn gin or none, --norm layer or none, --pool mean or sum, --task graph "
         "and --pe none"},
        {!searched && checkpoint_segments(p->checkpoint, p->layers) > p->layers, segments.text},
    };
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}

/* Whether an axis is given whose value makes training differ from inference, and nothing is trained. */
static bool trains_nothing(const struct options *o, enum axis a, bool differs)
{
    return !o->programs[PROGRAM_STEP] && o->given[a] && differs;
}

/* What distances, paths, bias and, in a step, its gradient take at least of drawn graphs: squares are least
 * if all have the mean size. A hop is an edge of the encoding, and a row of the model. */
static double bias_bytes(const struct options *o, const struct config *c)
{
    double nodes = (double)c->graph.nodes, pairs = (double)c->graph.graphs * nodes * nodes;
    size_t entry = dtype_size(precision_dtype(c->parts.precision));
    bool drawn = c->parts.pe.buckets && !graph_is_file(c->graph.family);
    return drawn ? pairs * (8 + 12 * (double)c->parts.pe.hops +
                            (double)((1 + o->programs[PROGRAM_STEP]) * c->parts.heads) * (double)entry)
                 : 0;
}

static bool check_bias(const struct options *o, const struct config *c, struct message *error)
{
    char need[UNITS_TEXT], have[UNITS_TEXT], bias[BIAS_TEXT];
    double bytes = bias_bytes(o, c), limit = bytes ? options_host_memory(o) : 0;
    if (o->action != ACTION_RUN || o->device.meta || bytes <= limit)
        return true;
    units_format(need, bytes, UNITS_BINARY, "B");
    units_format(have, limit, UNITS_BINARY, "B");
    bias_format(&c->parts.pe, bias);
    return complain(error, "--bias %s --nodes %" PRId64 " --batch %" PRId64 ": the pairs need %s, and %s %s",
                    bias, c->graph.nodes, c->graph.graphs, need,
                    o->mem_limit > 0 ? "--mem-limit is" : "free memory is", have);
}

/* Of drawn graphs, whose number of edges is known before. */
static bool check_expander(const struct config *c, struct message *error)
{
    const struct graph_config *g = &c->graph;
    char text[BIAS_TEXT];
    double nodes = (double)g->nodes * (double)g->graphs;
    int64_t edges = nodes * g->degree < 0x1p62 ? (int64_t)(nodes * g->degree) : INT64_MAX / 2;
    if (!expander_format(&c->parts.pe, text) || graph_is_file(g->family))
        return true;
    edges = expander_edges(&c->parts.pe, g->nodes * g->graphs, edges, g->graphs);
    return edges <= CSR_MAX_EDGES || complain(error,
                                              "--expander %s --nodes %" PRId64 ": %" PRId64
                                              " edges with those of the graph; at most %" PRId64,
                                              text, g->nodes, edges, CSR_MAX_EDGES);
}

static bool check_source(const struct options *o, const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    const char *family = c->graph.family, *library = library_of(o, c, SOLVER_AUTO),
               *own_library = library_of(o, c, p->pe.solver);
    bool file = graph_is_file(family), sized = graph_has_size(family),
         chosen = o->given[AXIS_GRAPH] || !c->preset, of_preset = !o->given[AXIS_PE] && c->preset;
    enum axis largest = o->largest.kind ? o->largest.axis : AXES;
    int sizes = o->given[AXIS_NODES] ? 1 : o->axes[AXIS_NODES].count;
    struct message several, pe, solver, degrees;
    char encoding[80];
    complain(&several, "--graph %.300s: needs a run of its own: the other graphs have %d sizes, this has one",
             family, sizes);
    encoding_format(&p->pe, encoding, sizeof encoding);
    complain(&pe, "--%s %s: this build has no %s; %srwse:K needs none", of_preset ? "preset" : "pe",
             of_preset ? preset_choice(c->preset) : encoding, library, of_preset ? "--pe " : "");
    complain(&solver, "--solver %s: this build has no %s; auto%s", eigensolver_name(p->pe.solver),
             own_library,
             eigensolver_missing_library(SOLVER_AUTO) ? " with --pe rwse:K needs none"
                                                      : " and iterative need none");
    complain(&degrees, "--degree %.10g: --model %s has rows for degrees below %d", c->graph.degree, c->model,
             p->features.degrees);
    const struct refusal refusals[] = {
        {p->features.degrees && c->graph.degree >= p->features.degrees && !file, degrees.text},
        {sized && chosen && sizes > 1, several.text},
        {chosen && ((sized && largest == AXIS_NODES) || (file && largest == AXIS_BATCH)),
         "--find: not with graphs from files and stand-ins, whose size is fixed"},
        {trains_nothing(o, AXIS_CHECKPOINT, strcmp(p->checkpoint, "none") != 0),
         "--checkpoint: only with a training step (--phase step)"},
        {trains_nothing(o, AXIS_DROPOUT, p->dropout > 0),
         "--dropout: only with a training step (--phase step)"},
        {trains_nothing(o, AXIS_ATTENTION_DROPOUT, p->attention_dropout > 0),
         "--attention-dropout: only with a training step (--phase step)"},
        {library, pe.text},
        {own_library, solver.text},
    };
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}

static bool check_ranks(const struct options *o, const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    bool dense = p->attention == ATTENTION_DENSE, divided = c->parallel != PARALLEL_DATA,
         halo = c->parallel == PARALLEL_HALO, weak = o->weak && divided,
         shape = graph_shape_of(c->graph.family) != NULL;
    const struct refusal refusals[] = {
        /* what is about this process alone */
        {o->device.backend->device, "a GPU"},
        {o->kernels, "single ops"},
        {o->largest.kind || o->crossover.kind, "--find"},
        {o->against, "--against"},
        {o->output.dump, "--dump"},
        {o->sampling.cold > 0, "--cold"},
        {o->count != COUNT_OFF, "--count"},
        /* what has no size for each rank */
        {weak && !halo, "--weak: work grows with the square of the nodes"},
        {weak && (shape || c->graph.nodes > CSR_MAX_NODES),
         "--weak: the graph has a size of its own, or too many nodes"},
        /* what a rank cannot compute from its own graphs alone, or cannot generate by itself */
        {p->mpnn == MPNN_GATEDGCN || p->features.normalised || p->edge_features.normalised,
         "batch norm of edges or features"},
        {p->dropout > 0 || p->attention_dropout > 0, "dropout"},
        {p->pe.kind != ENCODING_NONE, "--pe"},
        {p->pe.buckets > 0, "--bias"},
        {p->features.degrees || model_has_token(p), "a token or tables of degrees"},
        {p->pe.expander > 0, "--expander"},
        {graph_is_file(c->graph.family), "graphs from files"},
        {c->partition && !halo, "--partition metis (--parallel halo)"},
        {!divided && strstr(c->graph.family, ":giant"), "a giant component, which is drawn whole"},
        {c->graph.batching != BATCHING_RAGGED, "--batching padded"},
        /* what ranks that divide the nodes do not exchange */
        {divided && p->mpnn != MPNN_GIN && p->mpnn != MPNN_NONE, "message passing other than gin"},
        {divided && !dense && p->attention > ATTENTION_SPARSE, "this --attention"},
        {halo && dense, "dense attention (--parallel ulysses or ring)"},
        {divided && !halo && !dense, "a model without dense attention (--parallel halo)"},
        {c->parallel == PARALLEL_ULYSSES && p->heads < c->ranks, "fewer heads than ranks (--parallel ring)"},
        {divided && p->task == TASK_EDGE, "--task edge"},
    };
    int started = o->world ? o->world->count : 1;
    struct message other;
    if (c->ranks <= 1)
        return true;
    if (c->partition && !partition_possible())
        return complain(error, "--partition metis: this build has no METIS (make setup tests)");
    if (!complain_of(refusals, sizeof refusals / sizeof *refusals, &other))
        return complain(error, "--ranks %d%s%s: not with %.200s", c->ranks, divided ? " --parallel " : "",
                        divided ? parallel_name(c->parallel) : "", other.text);
    return o->action != ACTION_RUN || o->device.meta || c->ranks <= started ||
           complain(error, "--ranks %d: %d %s started; begin the command with mpirun -n %d", c->ranks,
                    started, started == 1 ? "rank was" : "ranks were", c->ranks);
}

/* A graph from a file has a size of its own, and so have the graphs of a shape, also of a preset's. */
static bool check_size(const struct options *o, const struct config *c, struct message *error)
{
    const char *graph = c->graph.family;
    bool file = graph_is_file(graph);
    const struct preset *p = o->given[AXIS_GRAPH] ? NULL : preset_at(c->preset);
    for (enum axis a = 0; graph_has_size(graph) && a < AXES; a++) {
        if (!o->given[a] || axis_info(a)->work != WORK_GRAPH || (!file && a == AXIS_BATCH))
            continue;
        if (p)
            return complain(
                error, "--preset %s --%s: the stand-in determines this axis, unless --graph names a family",
                p->name, axis_info(a)->name);
        return complain(error, "--graph %.300s --%s: the %s determines this axis", graph, axis_info(a)->name,
                        file ? "file" : "stand-in");
    }
    return true;
}

/* A row that runs says how many threads it has: as many must run, each where no other has to. */
static bool check_threads(const struct options *o, int threads, struct message *error)
{
    if (o->action != ACTION_RUN || o->device.meta)
        return true;
    struct team team = affinity_team(threads);
    if (team.threads != threads)
        return complain(
            error,
            "--threads %d: OpenMP runs %d (OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS): allow it more, or "
            "--threads %d",
            threads, team.threads, team.threads);
    return team.processors >= min_of(threads, o->cores) ||
           complain(error,
                    "--threads %d: OpenMP binds them to %d of %d processors (OMP_PROC_BIND): true or spread",
                    threads, team.processors, o->cores);
}

/* The values of an axis with which the configuration is possible on the device, separated by commas: names,
 * otherwise the default at most. */
static bool list_possible(const struct options *o, const struct config *c, enum axis a, char *text,
                          size_t size)
{
    const struct axis_info *axis = axis_info(a);
    struct axis_values v = {0};
    struct message ignored;
    size_t used = 0;
    text[0] = '\0';
    axis_parse(a, axis->standard, &v, &ignored);
    for (int i = 0; (axis->kind == AXIS_NAME ? axis->choice(i) != NULL : i == 0) && used < size; i++) {
        struct config other = *c;
        bool name = axis->kind == AXIS_NAME;
        config_set(&other, a, &v, name ? i : v.values[0]);
        config_complete(&other);
        if (!model_refuses(&other.parts) && !config_missing_op(o, &other))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     name ? axis->choice(i) : axis->standard);
    }
    axis_values_free(&v);
    return used > 0;
}

static bool refuse_missing_op(const struct options *o, const struct config *c, struct message *error)
{
    struct axis_value v;
    char number[32], possible[256];
    for (enum axis a = 0; a < AXES; a++) {
        const struct axis_info *axis = axis_info(a);
        bool of_model = axis->work == WORK_ALWAYS || axis->work == WORK_CHANGED || a == AXIS_MLP;
        if (!of_model || !list_possible(o, c, a, possible, sizeof possible))
            continue;
        config_axis(c, a, &v);
        snprintf(number, sizeof number, "%.10g", v.kind == AXIS_WHOLE ? (double)v.count : v.real);
        return complain(
            error, "--device %s --%s %s: that device has no kernel for %s; possible there: --%s %s",
            o->device.given, axis->name, v.text ? v.text : number, c->lacks, axis->name, possible);
    }
    return complain(error,
                    "--device %s: it has no kernel for %s, which this model needs; --device cpu has all",
                    o->device.given, c->lacks);
}

static bool config_is_possible(const struct options *o, const struct config *c, struct message *error)
{
    return (!c->lacks || refuse_missing_op(o, c, error)) && check_model(o, c, error) &&
           check_source(o, c, error) && check_bias(o, c, error) && check_expander(c, error) &&
           check_size(o, c, error) && check_ranks(o, c, error);
}

static bool check_whole(const struct options *o, struct message *error)
{
    const struct crossover *x = &o->crossover;
    bool crosses = x->kind != CROSSOVER_NONE, encodes = x->kind == CROSSOVER_ENCODING;
    int64_t variants = crosses ? crossover_variants(o) : 0, configs = encodes ? 1 : variants,
            over = crosses && x->over < AXES ? o->axes[x->over].count : 0;
    const struct refusal refusals[] = {
        {plan_combinations(o) > AXIS_VALUES_MAX, "the axes make more than 100000 combinations"},
        {o->output.dump && o->plan.count != 1,
         "--dump: needs one configuration, but the axes make several (give each one value)"},
        {crosses && x->over == AXES,
         "--find: needs one of --nodes, --degree, --batch and --layers with several values: the search is "
         "between the smallest and the largest"},
        {crosses &&
             (variants < 2 || variants > CROSSOVER_VARIANTS_MAX || plan_combinations(o) != configs * over),
         "--find: needs two variants, or up to six, and one value of every other axis"},
        {encodes && (!encoding_any(&o->plan.list->parts.pe) || !o->programs[x->program]),
         "--find: encoding=PROGRAM needs an encoding (--pe, --bias or --expander) and that program "
         "(--phase)"},
    };
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}

bool plan_is_possible(const struct options *o, struct message *error)
{
    bool skips = o->action != ACTION_LIST_TAPE && !o->crossover.kind;
    bool presets = o->axes[AXIS_PRESET].count > 1 && o->device.backend->device;
    int64_t skipped = 0;
    int checked = 0;
    char reason[SKIP_REASON];
    if (!check_whole(o, error))
        return false;
    for (int64_t i = 0; i < o->plan.count; i++) {
        const struct config *c = &o->plan.list[i];
        if (skips && config_is_skipped(o, c, reason))
            skipped++;
        else if (!config_is_possible(o, c, error) ||
                 (c->threads != checked && !check_threads(o, checked = c->threads, error)))
            return false;
    }
    if (skipped == o->plan.count && !presets)
        return config_is_possible(o, o->plan.list, error);
    return files_are_readable(o, error);
}
