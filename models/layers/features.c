#include "models/layers/features.h"

#include "models/tape/tape_internal.h"

static int64_t numbers_of(const struct feature_config *c, int64_t standard)
{
    return c->numbers ? c->numbers : standard;
}

bool takes_table(const struct feature_config *c, const struct batch_table *table)
{
    if (!table || table->cols == 0)
        return false;
    return table->types > 0 ? c->tables == 1 && c->types[0] == table->types
                            : !c->tables && c->numbers == table->cols;
}

bool takes_edge_table(const struct model_config *c, const struct batch_inputs *in)
{
    struct feature_config edges = model_edge_features(c);
    return (model_has_edge_state(c) || c->pe.hops) && takes_table(&edges, &in->edge_features);
}

bool takes_labels(const struct model_config *c, const struct batch_inputs *in)
{
    return in->classes > 0 && c->task == TASK_NODE && model_loss(c) == LOSS_CROSS_ENTROPY &&
           model_outputs(c) == in->classes;
}

bool takes_targets(const struct model_config *c, const struct batch_inputs *in)
{
    enum loss_kind loss = model_loss(c);
    return in->targets.cols > 0 && c->task == TASK_GRAPH && (loss == LOSS_SQUARES || loss == LOSS_ABSOLUTE) &&
           model_outputs(c) == in->targets.cols;
}

static void take_columns(struct feature_config *c, const struct batch_table *table)
{
    if (c->tables || c->numbers)
        return;
    c->numbers = table->types > 0 ? 0 : table->cols;
    c->tables = table->types > 0;
    c->types[0] = (int)table->types;
}

void model_take_inputs(struct model_config *c, const struct batch_inputs *in)
{
    const int64_t outputs[TASK_KINDS] = {[TASK_GRAPH] = in->targets.cols, [TASK_NODE] = in->classes};
    take_columns(&c->features, &in->features);
    take_columns(&c->edge_features, &in->edge_features);
    if (!c->head.outputs)
        c->head.outputs = outputs[c->task];
}

/* The types as indices; of a shape null. */
static const int64_t *given_types(struct tape *t, int64_t rows, const struct batch_table *table)
{
    int64_t *type = table->value ? arena_alloc(t->metadata, (size_t)rows * sizeof *type) : NULL;
    for (int64_t i = 0; i < rows && type; i++)
        type[i] = (int64_t)table->value[i];
    return type;
}

const int64_t *host_types(struct tape *t, const char *name, const struct feature_config *c,
                          struct row_range rows, const struct batch_table *table)
{
    return takes_table(c, table) ? given_types(t, rows.count, table)
                                 : drawn_types(t, name, rows, c->types, c->tables);
}

struct mat raw_features(struct tape *t, const char *name, const struct feature_config *c,
                        struct row_range rows, int64_t standard, const struct batch_table *table)
{
    if (takes_table(c, table) && table->types > 0)
        return input_copy(t, name, I64, rows.count, 1, given_types(t, rows.count, table));
    if (takes_table(c, table))
        return input_reals(t, name, rows.count, table->cols, table->value);
    return c->tables ? input_types(t, name, rows, c->types, c->tables)
                     : input_uniform(t, name, rows, numbers_of(c, standard));
}

/* All tables, stacked. Rows are about as large as those of a linear layer, whatever their number. */
static struct mat declare_table(struct tape *t, const struct feature_config *c, int64_t width)
{
    return param(t, "weight", feature_types(c), width, c->tables);
}

static void types_to(struct tape *t, struct mat y, struct mat types, const struct feature_config *c)
{
    struct mat table = declare_table(t, c, y.cols);
    op(t, embedding, .y = y, .table = table, .index = types);
}

struct mat degree_rows(struct tape *t, const char *name, const struct batch *b, int degrees, int64_t width)
{
    int64_t nodes = b->adj.nodes, *row = NULL;
    if (b->adj.row_ptr)
        row = arena_alloc(t->metadata, (size_t)(2 * nodes) * sizeof *row);
    for (int64_t i = 0; i < nodes && row; i++) {
        row[2 * i] = b->adj.row_ptr[i + 1] - b->adj.row_ptr[i];
        row[2 * i + 1] = degrees + b->out.row_ptr[i + 1] - b->out.row_ptr[i];
        if (row[2 * i] >= degrees || row[2 * i + 1] >= 2 * degrees)
            tape_contract("node %lld has a degree of %d or more", (long long)i, degrees);
    }
    span_enter(t, name);
    struct mat table = param(t, "weight", 2 * degrees, width, 2);
    struct mat y = op(t, embedding, .table = table, .index = input_copy(t, name, I64, nodes, 2, row))->y;
    span_leave(t);
    return y;
}

/* As pre_mp of GraphGym: the bias would not survive the batch norm. */
static void normalised_to(struct tape *t, struct mat y, struct mat raw)
{
    struct mat w = param(t, "weight", y.cols, raw.cols, raw.cols);
    struct mat h = batch_norm(t, "norm", op(t, linear, .x = raw, .w = w)->y);
    l2_norm_to(t, y, op(t, activate, .x = h, .act = ACT_RELU)->y);
}

void embed_to(struct tape *t, const char *name, struct mat y, struct mat raw, const struct feature_config *c)
{
    if (!c->tables && !c->normalised) {
        linear_to(t, name, y, raw, ACT_NONE);
        return;
    }
    span_enter(t, name);
    if (c->normalised)
        normalised_to(t, y, raw);
    else
        types_to(t, y, raw, c);
    span_leave(t);
}

void embed_unused(struct tape *t, const char *name, const struct feature_config *c, int64_t width,
                  int64_t standard)
{
    if (!c->tables) {
        linear_unused(t, name, numbers_of(c, standard), width);
        return;
    }
    span_enter(t, name);
    declare_table(t, c, width);
    span_leave(t);
}
