/* Configurations that are not possible, and runs of them that are not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/affinity.h"
#include "bench/cli/find.h"
#include "bench/cli/plan.h"
#include "bench/cli/presets.h"
#include "bench/cli/refusals.h"
#include "graphs/partition.h"
#include "kernels/arithmetic.h"
#include "kernels/ranks.h"

/* What is refused of a configuration. In the line "{heads}" is the value of an axis, "{device}" the device;
 * "[...]" is left out if the axis in it has its default. */
struct rule {
    bool applies;
    const char *line, *why; /* why: follows the line; null: nothing */
};

/* As in a flag that is given: encodings with their width. */
static void value_text(const struct options *o, const struct config *c, enum axis a, char text[MESSAGE_SIZE])
{
    const struct encoding_config *pe = &c->parts.pe;
    struct axis_value v;
    if (a == AXES) {
        snprintf(text, MESSAGE_SIZE, "%s", o->device.given);
        return;
    }
    config_axis(c, a, &v);
    if (a == AXIS_PE && pe->kind && pe->width)
        snprintf(text, MESSAGE_SIZE, "%s:%" PRId64 ":%" PRId64, encoding_name((int)pe->kind), pe->k,
                 pe->width);
    else if (v.text)
        snprintf(text, MESSAGE_SIZE, "%.300s", v.text);
    else if (v.kind == AXIS_WHOLE)
        snprintf(text, MESSAGE_SIZE, "%" PRId64, v.count);
    else
        snprintf(text, MESSAGE_SIZE, "%.10g", v.real);
}

static void add(struct message *m, const char *text, size_t length)
{
    size_t used = strlen(m->text);
    snprintf(m->text + used, sizeof m->text - used, "%.*s", (int)length, text);
}

/* Sets the message to the rule's; false. */
static bool say(const struct options *o, const struct config *c, const struct rule *rule,
                struct message *error)
{
    *error->text = '\0';
    for (const char *at = rule->line; *at;) {
        size_t plain = strcspn(at, "[]{");
        add(error, at, plain);
        at += plain;
        if (*at != '[' && *at != '{') {
            at += *at == ']';
            continue;
        }
        char value[MESSAGE_SIZE];
        const char *name = strchr(at, '{') + 1, *end = strchr(name, '}');
        enum axis a = axis_named(name, (size_t)(end - name));
        value_text(o, c, a, value);
        if (*at == '{')
            add(error, value, strlen(value));
        at = *at == '{' ? end + 1 : strcmp(value, axis_info(a)->standard) == 0 ? strchr(at, ']') : at + 1;
    }
    add(error, rule->why ? rule->why : "", MESSAGE_SIZE);
    return false;
}

/* The message of the first that applies, and false; true if there is none. */
static bool obeys(const struct options *o, const struct config *c, const struct rule *rules, size_t count,
                  struct message *error)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].applies)
            return say(o, c, &rules[i], error);
    return true;
}

/* What mixes the rows of a batch without knowing which belong to nodes. */
static bool can_be_padded(const struct options *o, const struct model_config *p)
{
    bool layers = p->attention <= ATTENTION_SPARSE && p->mpnn <= MPNN_GIN && p->attention_dropout == 0 &&
                  (p->norm == NORM_LAYER || p->norm == NORM_NONE);
    bool ends = p->pool != POOL_MAX && p->task == TASK_GRAPH && p->pe.kind == ENCODING_NONE;
    return layers && ends && !o->device.backend->device;
}

/* What an encoding needs that this build lacks; null: nothing. */
static const char *library_of(const struct options *o, const struct config *c, bool own)
{
    enum eigensolver s = own ? c->parts.pe.solver : SOLVER_AUTO;
    bool computed = o->action == ACTION_RUN && !o->device.meta;
    return computed && (own ? s != SOLVER_AUTO : encoding_is_spectral(&c->parts.pe))
               ? eigensolver_missing_library(s)
               : NULL;
}

static bool check_model(const struct options *o, const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    const char *refused = model_refuses(p);
    bool searched = o->largest.kind && o->largest.axis == AXIS_LAYERS; /* from one layer on */
    int most = o->device.backend->head_most;
    int64_t head = p->hidden / p->heads;
    char wide[160];
    snprintf(wide, sizeof wide,
             "heads of %" PRId64 " columns; dense attention there supports up to %d (--attention unfused: "
             "any number)",
             head, most);
    const struct rule rules[] = {
        {refused,
         "--model {model} --attention {attention} --mpnn {mpnn} --heads {heads} --hidden {hidden}"
         "[ --pe {pe}][ --mlp {mlp} --dropout {dropout}]: ",
         refused},
        {p->attention == ATTENTION_DENSE && most && head > most,
         "--device {device} --hidden {hidden} --heads {heads}: ", wide},
        {c->graph.batching != BATCHING_RAGGED && !can_be_padded(o, p),
         "--batching padded: only on the host, with --attention dense, sparse or none and "
         "--attention-dropout 0, --mpnn gin or none, --norm layer or none, --pool mean or sum, --task graph "
         "and --pe none",
         NULL},
        {!searched && checkpoint_segments(p->checkpoint, p->layers) > p->layers,
         "--checkpoint {checkpoint} --layers {layers}: more segments than layers", NULL},
    };
    return obeys(o, c, rules, sizeof rules / sizeof *rules, error);
}

/* Whether training differs from inference by the value of an axis that is given. */
static bool trains(const struct options *o, enum axis a, double value)
{
    return !o->programs[PROGRAM_STEP] && o->given[a] && value > 0;
}

/* What programs, graphs and solvers a configuration needs. */
static bool check_source(const struct options *o, const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    bool file = graph_is_file(c->graph.family), sized = graph_has_size(c->graph.family),
         chosen = o->given[AXIS_GRAPH] || !c->preset, of_preset = !o->given[AXIS_PE] && c->preset;
    enum axis largest = o->largest.kind ? o->largest.axis : AXES;
    int sizes = o->given[AXIS_NODES] ? 1 : o->axes[AXIS_NODES].count;
    const char *library = library_of(o, c, false), *own_library = library_of(o, c, true);
    char several[120], pe[120], solver[120];
    snprintf(several, sizeof several, "needs a run of its own: the other graphs have %d sizes, this has one",
             sizes);
    snprintf(pe, sizeof pe, "this build has no %s; %srwse:K needs none", library ? library : "",
             of_preset ? "--pe " : "");
    snprintf(solver, sizeof solver, "this build has no %s; auto%s", own_library ? own_library : "",
             eigensolver_missing_library(SOLVER_AUTO) ? " with --pe rwse:K needs none"
                                                      : " and iterative need none");
    const struct rule rules[] = {
        {sized && chosen && sizes > 1, "--graph {graph}: ", several},
        {chosen && ((sized && largest == AXIS_NODES) || (file && largest == AXIS_BATCH)),
         "--find: not with graphs from files and shapes, whose size is fixed", NULL},
        {trains(o, AXIS_CHECKPOINT, strcmp(p->checkpoint, "none") != 0),
         "--checkpoint: only with a training step (--phase step)", NULL},
        {trains(o, AXIS_DROPOUT, p->dropout), "--dropout: only with a training step (--phase step)", NULL},
        {trains(o, AXIS_ATTENTION_DROPOUT, p->attention_dropout),
         "--attention-dropout: only with a training step (--phase step)", NULL},
        {library && of_preset, "--preset {preset}: ", pe},
        {library && !of_preset, "--pe {pe}: ", pe},
        {own_library, "--solver {solver}: ", solver},
    };
    return obeys(o, c, rules, sizeof rules / sizeof *rules, error);
}

#define RANKS "--ranks {ranks}[ --parallel {parallel}]: not with "

/* What several ranks cannot run together. */
static bool check_ranks(const struct options *o, const struct config *c, struct message *error)
{
    const struct model_config *p = &c->parts;
    bool dense = p->attention == ATTENTION_DENSE, divided = c->parallel != PARALLEL_DATA,
         halo = c->parallel == PARALLEL_HALO, weak = o->weak && divided,
         shape = graph_shape_of(c->graph.family) != NULL;
    int started = o->world ? o->world->count : 1;
    char begin[120];
    snprintf(begin, sizeof begin, "%d %s started; begin the command with mpirun -n %d", started,
             started == 1 ? "rank was" : "ranks were", c->ranks);
    const struct rule rules[] = {
        {c->partition && !partition_possible(), "--partition metis: this build has no METIS (make setup)",
         NULL},
        /* what is about this process alone */
        {o->device.backend->device, RANKS "a GPU", NULL},
        {o->kernels, RANKS "single ops", NULL},
        {o->largest.kind || o->crossover.kind, RANKS "--find", NULL},
        {o->against, RANKS "--against", NULL},
        {o->output.dump, RANKS "--dump", NULL},
        {o->sampling.cold > 0, RANKS "--cold", NULL},
        {o->count != COUNT_OFF, RANKS "--count", NULL},
        /* what has no size for each rank */
        {weak && !halo, RANKS "--weak: work grows with the square of the nodes", NULL},
        {weak && (shape || c->graph.nodes > CSR_MAX_NODES),
         RANKS "--weak: the graph has a size of its own, or too many nodes", NULL},
        /* what a rank cannot compute from its own graphs alone, or cannot generate by itself */
        {p->mpnn == MPNN_GATEDGCN || p->features.normalised || p->edge_features.normalised,
         RANKS "batch norm of edges or features", NULL},
        {p->dropout > 0 || p->attention_dropout > 0, RANKS "dropout", NULL},
        {p->pe.kind != ENCODING_NONE, RANKS "--pe", NULL},
        {graph_is_file(c->graph.family), RANKS "graphs from files", NULL},
        {c->partition && !halo, RANKS "--partition metis (--parallel halo)", NULL},
        {!divided && strstr(c->graph.family, ":giant"), RANKS "a giant component, which is drawn whole",
         NULL},
        {c->graph.batching != BATCHING_RAGGED, RANKS "--batching padded", NULL},
        /* what ranks that divide the nodes do not exchange */
        {divided && p->mpnn != MPNN_GIN && p->mpnn != MPNN_NONE, RANKS "message passing other than gin",
         NULL},
        {divided && !dense && p->attention > ATTENTION_SPARSE, RANKS "this --attention", NULL},
        {halo && dense, RANKS "dense attention (--parallel ulysses or ring)", NULL},
        {divided && !halo && !dense, RANKS "a model without dense attention (--parallel halo)", NULL},
        {c->parallel == PARALLEL_ULYSSES && p->heads < c->ranks,
         RANKS "fewer heads than ranks (--parallel ring)", NULL},
        {divided && p->task == TASK_EDGE, RANKS "--task edge", NULL},
        {o->action == ACTION_RUN && !o->device.meta && c->ranks > started, "--ranks {ranks}: ", begin},
    };
    return c->ranks <= 1 || obeys(o, c, rules, sizeof rules / sizeof *rules, error);
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
            return complain(error,
                            "--preset %s --%s: the shape determines this axis, unless --graph names a family",
                            p->name, axis_info(a)->name);
        return complain(error, "--graph %.300s --%s: the %s determines this axis", graph, axis_info(a)->name,
                        file ? "file" : "shape");
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
        if (!model_refuses(&other.parts) && config_lacks(o, &other) == OPS)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     name ? axis->choice(i) : axis->standard);
    }
    axis_values_free(&v);
    return used > 0;
}

static bool say_lacking(const struct options *o, const struct config *c, struct message *error)
{
    const char *op = op_info(c->lacks)->name;
    char value[MESSAGE_SIZE], possible[256];
    for (enum axis a = 0; a < AXES; a++) {
        const struct axis_info *axis = axis_info(a);
        bool of_model = axis->work == WORK_ALWAYS || axis->work == WORK_CHANGED || a == AXIS_MLP;
        if (!of_model || !list_possible(o, c, a, possible, sizeof possible))
            continue;
        value_text(o, c, a, value);
        return complain(error,
                        "--device %s --%s %.200s: that device has no kernel for %s; possible there: --%s %s",
                        o->device.given, axis->name, value, op, axis->name, possible);
    }
    return complain(error,
                    "--device %s: it has no kernel for %s, which this model needs; --device cpu has all",
                    o->device.given, op);
}

static bool is_possible(const struct options *o, const struct config *c, struct message *error)
{
    return (c->lacks == OPS || say_lacking(o, c, error)) && check_model(o, c, error) &&
           check_source(o, c, error) && check_size(o, c, error) && check_ranks(o, c, error);
}

/* The run as a whole. */
static bool check_run(const struct options *o, struct message *error)
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
        {encodes && (o->plan.list->parts.pe.kind == ENCODING_NONE || !o->programs[x->program]),
         "--find: encoding=PROGRAM needs an encoding (--pe) and that program (--phase)"},
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
    if (!check_run(o, error))
        return false;
    for (int64_t i = 0; i < o->plan.count; i++) {
        const struct config *c = &o->plan.list[i];
        if (skips && config_is_skipped(o, c, reason))
            skipped++;
        else if (!is_possible(o, c, error) ||
                 (c->threads != checked && !check_threads(o, checked = c->threads, error)))
            return false;
    }
    if (skipped == o->plan.count && !presets)
        return is_possible(o, o->plan.list, error);
    return files_are_readable(o, error);
}
