#include "bench/row/fields.h"

#include "analysis/record/row.h"

/* What is timed: a model's programs or a kernel. */
static void fields_kernel(struct row *row, const struct config *c)
{
    static const char *const of_models[] = {"model", "attention", "mpnn", "norm", "pool", "task"};
    if (c->kernel) {
        row_set_text(row, "op", op_info(c->kernel->op)->name);
        row_set_text(row, "variant", c->kernel->variant);
        for (size_t i = 0; i < sizeof of_models / sizeof *of_models; i++)
            row_set_null(row, of_models[i], "an op alone");
        return;
    }
    row_set_null(row, "op", "programs of a model");
    row_set_null(row, "variant", "programs of a model");
    row_set_text(row, "model", c->model->name);
    row_set_text(row, "attention", attention_name((int)c->parts.attention));
    row_set_text(row, "mpnn", mpnn_name((int)c->parts.mpnn));
    row_set_text(row, "norm", norm_name((int)c->parts.norm));
    row_set_text(row, "pool", pool_name((int)c->parts.pool));
    row_set_text(row, "task", task_name((int)c->parts.task));
}

static void fields_pe(struct row *row, const struct encoding_config *pe)
{
    char text[64];
    encoding_format(pe, text, sizeof text);
    row_set_text(row, "pe", text);
    if (pe->kind == ENCODING_LAP || pe->kind == ENCODING_LAP_PYG)
        row_set_text(row, "solver", eigensolver_name((int)pe->solver));
    else
        row_set_null(row, "solver", "nothing to solve");
    if (pe->kind == ENCODING_NONE)
        row_set_null(row, "encoding", "none asked for (--pe)");
}

void fields_config(struct row *row, const struct config *c, const struct options *o)
{
    char work[17];
    config_work(c, o->seed, work);
    row_set_text(row, "work", work);
    fields_kernel(row, c);
    row_set_text(row, "device", o->device.name);
    row_set_text(row, "dtype", dtype_name(F32));
    row_set_count(row, "nodes", c->graph.nodes);
    row_set_real(row, "degree", c->graph.degree);
    row_set_count(row, "batch", c->graph.graphs);
    row_set_count(row, "layers", c->parts.layers);
    row_set_count(row, "hidden", c->parts.hidden);
    row_set_count(row, "heads", c->parts.heads);
    row_set_count(row, "ffn", c->parts.ffn);
    row_set_text(row, "act", activation_name((int)c->parts.act));
    row_set_text(row, "graph.family", c->graph.family);
    row_set_count(row, "threads", c->threads);
    row_set_count(row, "seed", (int64_t)o->seed);
    row_set_count(row, "parameters", model_parameters(&c->parts));
    if (!c->kernel)
        return fields_pe(row, &c->parts.pe);
    row_set_null(row, "pe", "an op alone");
    row_set_null(row, "solver", "an op alone");
    row_set_null(row, "encoding", "an op alone");
}
