/* Graphs from files, and the tables beside them (--data). */
#include "bench/cli/command_line.h"
#include "models/layers/features.h"

/* Tables belong to the nodes and edges of one file. */
bool tables_are_possible(const struct options *o, struct message *error)
{
    const struct graph_tables *t = &o->tables;
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    const char *kind = t->features ? "features" : t->edge_features ? "edge-features" : "labels";
    const char *path = t->features ? t->features : t->edge_features ? t->edge_features : t->labels;
    bool file = graphs->count == 1 && graph_is_file(axis_text(graphs, graphs->values[0]));
    return !path || (file && !o->bench->kernels) ||
           complain(error, "--data %s=%.300s: needs a graph from a file, --graph file:PATH, and no other",
                    kind, path);
}

/* A table that no model of the run takes is a mistake. */
static bool check_taken(const struct options *o, const struct batch_inputs *in, struct message *error)
{
    const struct graph_tables *t = &o->tables;
    bool features = !t->features || graph_table_none(t->features),
         edges = !t->edge_features || graph_table_none(t->edge_features),
         labels = !t->labels || graph_table_none(t->labels);
    for (int64_t i = 0; i < o->plan.count; i++) {
        struct model_config c = o->plan.list[i].parts;
        model_take_inputs(&c, in);
        features = features || takes_table(&c.features, &in->features);
        edges = edges || takes_edge_table(&c, in);
        labels = labels || takes_labels(&c, in) || takes_targets(&c, in);
    }
    if (!features)
        return complain(error, "--data features=%.300s: the model (--preset) has other features",
                        t->features);
    if (!edges)
        return complain(
            error,
            "--data edge-features=%.300s: the model (--mpnn, --preset) has no features of edges, or others",
            t->edge_features);
    return labels || complain(error, "--data labels=%.300s: the model (--task, --preset) has no such labels",
                              t->labels);
}

/* A graph file that cannot be read is a usage error; one that is too large for the memory makes rows of its
 * own. */
bool files_are_readable(const struct options *o, struct message *error)
{
    const struct axis_values *graphs = &o->axes[AXIS_GRAPH];
    for (int i = 0; i < graphs->count; i++) {
        struct graph_config c = {.family = axis_text(graphs, graphs->values[i]), .nodes = 1, .graphs = 1};
        char reason[MESSAGE_SIZE];
        struct batch b;
        c.limits.memory = (int64_t)options_host_memory(o);
        if (!graph_is_file(c.family))
            continue;
        if (!batch_shape(&b, &c, reason, sizeof reason) && b.peak <= c.limits.memory)
            return complain(error, "--graph %.200s: %.300s", c.family, reason);
        if (b.graphs > 0 && !batch_read_inputs(&b, &c, &o->tables, reason, sizeof reason))
            return complain(error, "--graph %.200s: %.300s", c.family, reason);
        bool taken = b.graphs == 0 || check_taken(o, &b.inputs, error);
        batch_free(&b);
        if (!taken)
            return false;
    }
    return true;
}
