#include "bench/cli/together.h"

#include <string.h>

#include "graphs/name.h"
#include "graphs/partition.h"
#include "kernels/ranks.h"

/* What ranks that divide the nodes do not exchange; null: nothing. */
static const char *not_divided(const struct config *c)
{
    const struct model_config *p = &c->parts;
    bool dense = p->attention == ATTENTION_DENSE;
    return p->mpnn != MPNN_GIN && p->mpnn != MPNN_NONE ? "message passing other than gin"
           : !dense && p->attention > ATTENTION_SPARSE ? "this --attention"
           : c->parallel == PARALLEL_HALO && dense     ? "dense attention (--parallel ulysses or ring)"
           : c->parallel != PARALLEL_HALO && !dense    ? "a model without dense attention (--parallel halo)"
           : c->parallel == PARALLEL_ULYSSES && p->heads < c->ranks
               ? "fewer heads than ranks (--parallel ring)"
           : p->task == TASK_EDGE ? "--task edge"
                                  : NULL;
}

/* What a rank cannot compute from its own graphs alone, or cannot generate by itself; null: nothing. */
static const char *needs_others(const struct config *c)
{
    const struct model_config *p = &c->parts;
    bool divided = c->parallel != PARALLEL_DATA;
    bool batch_norm = p->mpnn == MPNN_GATEDGCN || p->features.normalised || p->edge_features.normalised;
    return batch_norm                                      ? "batch norm of edges or features"
           : p->dropout > 0 || p->attention_dropout > 0    ? "dropout"
           : p->pe.kind != ENCODING_NONE                   ? "--pe"
           : graph_is_file(c->graph.family)                ? "graphs from files"
           : c->partition && c->parallel != PARALLEL_HALO  ? "--partition metis (--parallel halo)"
           : !divided && strstr(c->graph.family, ":giant") ? "a giant component, which is drawn whole"
           : c->graph.batching != BATCHING_RAGGED          ? "--batching padded"
           : divided                                       ? not_divided(c)
                                                           : NULL;
}

/* What of the command line is about this process alone; null: nothing. */
static const char *is_alone(const struct options *o)
{
    return o->device.backend->device              ? "a GPU"
           : o->kernels                           ? "single ops"
           : o->largest.kind || o->crossover.kind ? "--find"
           : o->against                           ? "--against"
           : o->output.dump                       ? "--dump"
           : o->sampling.cold > 0                 ? "--cold"
           : o->count != COUNT_OFF                ? "--count"
                                                  : NULL;
}

/* What has no size for each rank; null: nothing. */
static const char *not_weak(const struct options *o, const struct config *c)
{
    bool shape = graph_shape_of(c->graph.family) != NULL;
    return !o->weak || c->parallel == PARALLEL_DATA ? NULL
           : c->parallel != PARALLEL_HALO           ? "--weak: work grows with the square of the nodes"
           : shape || c->graph.nodes > CSR_MAX_NODES
               ? "--weak: the graph has a size of its own, or too many nodes"
               : NULL;
}

static bool check_one(const struct options *o, const struct config *c, struct message *error)
{
    int started = o->world ? o->world->count : 1;
    if (c->ranks <= 1)
        return true;
    if (c->partition && !partition_possible())
        return complain(error, "--partition metis: this build has no METIS (make setup)");
    const char *other = is_alone(o);
    other = other ? other : not_weak(o, c);
    other = other ? other : needs_others(c);
    if (other)
        return complain(error, "--ranks %d%s%s: not with %s", c->ranks, c->parallel ? " --parallel " : "",
                        c->parallel ? parallel_name(c->parallel) : "", other);
    return o->action != ACTION_RUN || o->device.meta || c->ranks <= started ||
           complain(error, "--ranks %d: %d %s started; begin the command with mpirun -n %d", c->ranks,
                    started, started == 1 ? "rank was" : "ranks were", c->ranks);
}

const char *together_beyond(const struct config *c)
{
    return c->parallel == PARALLEL_ULYSSES && c->parts.heads < c->ranks ? "fewer heads than ranks" : NULL;
}

bool together_check(const struct options *o, struct message *error)
{
    bool possible = true, leaves_out = o->action != ACTION_LIST_TAPE;
    int64_t count = config_count(o), left_out = 0;
    for (int64_t i = 0; i < count && possible; i++) {
        struct config c = config_at(o, i);
        bool beyond = leaves_out && together_beyond(&c);
        possible = check_one(o, &c, error) || beyond;
        left_out += beyond;
    }
    return possible && left_out < count;
}
